import {
  createTopics,
  isPosternError,
  type OwnTopic,
  type Postern,
  type PreferenceChanges,
  type Preferences,
} from '@postern/client';
import { element, replaceContent } from '../base/dom.js';
import { smallButton } from '../base/small-button.js';
import { fill } from '../base/texts.js';
import type { PreferencesTexts } from './texts.js';

export interface TopicsOptions {
  readonly postern: Postern;
  readonly words: PreferencesTexts;
  readonly container: HTMLElement;
  readonly signal: AbortSignal;
  readonly change: (changes: PreferenceChanges) => void;
  /** Called after the user has joined or left a topic. */
  readonly onSubscription: (topic: Subscription) => void;
  /** Called for the error of a request. */
  readonly onError: (error: unknown) => void;
}
export interface Subscription {
  readonly key: string;
  readonly is_subscribed: boolean;
}
interface Row {
  readonly node: HTMLElement;
  readonly show: (preferences: Preferences) => void;
}

/** How many topics are read at once. */
const limit = 50;

/**
 * The section of the topics that the user can join or leave. Without topics, it stays empty.
 * @returns a function that updates the switches
 */
export function createTopicsSection(options: TopicsOptions): (preferences: Preferences) => void {
  const { postern, words, container, signal } = options;
  const list = element('ul', { class: 'lines', part: 'list' });
  const foot = element('div', { class: 'foot' });
  const rows: Row[] = [];
  let preferences: Preferences | undefined;

  async function readPage(cursor?: string): Promise<void> {
    try {
      const { data, page } = await createTopics(postern)
        .list({ limit, signal })
        .page(cursor === undefined ? undefined : { cursor });
      const added = data.map((topic) => topicRow(topic, options));
      rows.push(...added);
      list.append(...added.map(({ node }) => node));
      const next = page.next_cursor;
      replaceContent(foot, next !== null && smallButton(words.topics_more, () => void readPage(next)));
      if (preferences !== undefined) for (const { show } of added) show(preferences);
      // The button that was pressed is gone.
      if (cursor !== undefined) added[0]?.node.querySelector('button')?.focus();
    } catch (error) {
      if (signal.aborted || !isPosternError(error)) return;
      options.onError(error);
      const retry = smallButton(words.try_again, () => void readPage(cursor));
      const issue = element('p', { class: 'issue', part: 'issue', role: 'alert' }, words.topics_not_loaded, ' ', retry);
      replaceContent(foot, issue);
    }
    list.hidden = rows.length === 0;
    const isEmpty = list.hidden && foot.childElementCount === 0;
    const heading = element('h2', { id: 'topics', part: 'heading' }, words.topics);
    if (isEmpty) replaceContent(container);
    else if (list.parentNode === null)
      replaceContent(
        container,
        element('section', { part: 'section', 'aria-labelledby': 'topics' }, heading, list, foot),
      );
  }
  void readPage();
  return (next) => {
    preferences = next;
    for (const { show } of rows) show(next);
  };
}

function topicRow(topic: OwnTopic, { postern, words, change, onSubscription, onError, signal }: TopicsOptions): Row {
  const { key, title, is_open: isOpen } = topic;
  let isIn = topic.is_subscribed;
  let isBusy = false;
  let preferences: Preferences | undefined;
  const name = element('span', { class: 'name', part: 'name', id: `topic-${key}` }, element('bdi', {}, title));
  const note = element('span', { class: 'value muted', part: 'value' });
  const problem = element('span', { class: 'value bad', part: 'issue', role: 'alert' });
  const box = element('input', {
    type: 'checkbox',
    role: 'switch',
    class: 'switch',
    part: 'switch',
    'data-key': `topic ${key}`,
    'aria-labelledby': `topic-${key} topic-push-${key}`,
  });
  const push = element(
    'label',
    { class: 'topic-push', part: 'cell' },
    element('span', { class: 'muted', part: 'label', id: `topic-push-${key}` }, words.push),
    box,
  );
  const button = smallButton('', () => void toggle(), { id: `topic-button-${key}` });

  box.addEventListener('change', () => change({ topics: { [key]: { push: box.checked ? null : 'off' } } }));
  async function toggle(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    replaceContent(problem);
    try {
      const topics = createTopics(postern);
      await (isIn ? topics.leave(key) : topics.join(key));
      isIn = !isIn;
      onSubscription({ key, is_subscribed: isIn });
    } catch (error) {
      onError(error);
      if (!signal.aborted) replaceContent(problem, words.not_saved);
    }
    isBusy = false;
    show();
  }
  function show(): void {
    push.hidden = !isIn;
    box.checked = preferences?.topics[key]?.push !== 'off';
    box.disabled = preferences?.channels.push === 'off';
    const hint = isIn ? (isOpen ? null : words.topic_closed) : isOpen ? null : words.topic_left;
    replaceContent(note, hint);
    note.hidden = hint === null;
    button.hidden = !isIn && !isOpen;
    replaceContent(button, isIn ? words.topic_leave : words.topic_join);
    button.setAttribute('aria-label', fill(isIn ? words.topic_leave_one : words.topic_join_one, { title }));
  }
  show();
  const about = element('div', { class: 'description' }, name, note, problem);
  return {
    node: element('li', { class: 'line topic', part: 'row' }, about, push, button),
    show(next) {
      preferences = next;
      show();
    },
  };
}
