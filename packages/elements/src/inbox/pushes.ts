import type { Inbox, InboxItem, Mute } from '@postern/client';
import { element, replaceContent } from '../base/dom.js';
import { mono } from '../base/issue-style.js';
import { smallButton } from '../base/small-button.js';
import { switchStyle } from '../base/switch-style.js';
import { withLater } from '../base/texts.js';
import { english, type PushTexts } from './push-texts.js';
import type { RowTexts } from './texts.js';

/** The style of this view, which is loaded with it. */
export const style = `
.head .icon.first { margin-inline: -8px 0; }
.head .icon.first:dir(rtl) svg { transform: scaleX(-1); }
.pushes { padding: 14px var(--_space) 12px; display: grid; gap: 10px; overflow-y: auto; }
.pushes li { display: flex; align-items: center; justify-content: space-between; gap: 12px; min-height: 44px; }
.pushes li + li { border-top: 1px solid var(--_line); }
.pushes label { flex: 1; padding-block: 6px; cursor: pointer; }
.pushes label::first-letter { text-transform: uppercase; }
.pushes code { font-family: ${mono}; font-size: 0.8667em; }
.pushes h3 { margin-block-start: 4px; font-size: 0.9333em; }
.error { color: var(--_danger); }
${switchStyle}`;

export interface PushOptions {
  readonly inbox: Inbox;
  readonly words: RowTexts;
  readonly items: readonly InboxItem[];
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
}

/** The filter that this view creates to mute one type. */
const typeFilter = /^notification_type:eq:([\w-]+)$/;

/**
 * Lets the user choose which types of notifications are pushed to the devices: a *mute* of a type stops its pushes. Also lists
 * the mutes with other filters, which the user can remove but not create here.
 */
export function showPushSettings(view: HTMLElement, { inbox, items, signal, report, words: shown }: PushOptions): void {
  const words: RowTexts & PushTexts = withLater(english, shown);
  const errorText = element('p', { class: 'error small', part: 'issue', role: 'alert' });
  const options = { signal };
  const attempt = async (request: () => Promise<unknown>) => {
    errorText.textContent = '';
    try {
      await request();
    } catch (error) {
      if (signal.aborted) return;
      report(error);
      replaceContent(errorText, words.push_failed);
    }
  };

  async function load(): Promise<void> {
    try {
      const [mutes, types] = await Promise.all([inbox.mutes.list(options), typesOf(inbox, items, words, signal)]);
      if (!signal.aborted) show(mutes, types);
    } catch (error) {
      if (signal.aborted) return;
      report(error);
      const retry = () => {
        replaceContent(view, element('p', { class: 'muted small', part: 'hint', role: 'status' }, words.loading));
        view.focus();
        void load();
      };
      const text = element('span', { part: 'issue' }, words.push_not_loaded);
      replaceContent(view, element('p', { role: 'alert' }, text, ' ', smallButton(words.try_again, retry)));
    }
  }

  function show(mutes: readonly Mute[], allTypes: readonly string[]): void {
    const muted = new Map(
      mutes.flatMap((mute) => {
        const type = typeFilter.exec(mute.filter)?.[1];
        return type === undefined ? [] : [[type, mute] as const];
      }),
    );
    // Notices about the security of the account are always pushed.
    const pushed = allTypes.filter((type) => type !== 'security');
    const types = [...new Set<string>([...pushed, ...muted.keys()])].sort();
    const others = mutes.filter(({ filter }) => !typeFilter.test(filter));
    replaceContent(
      view,
      element('p', { class: 'muted small', part: 'hint' }, types.length === 0 ? words.push_none : words.push_hint),
      types.length > 0 && element('ul', {}, ...types.map((type) => typeRow(type, muted.get(type)))),
      others.length > 0 && element('h3', { part: 'heading' }, words.push_other),
      others.length > 0 && element('ul', {}, ...others.map(otherRow)),
      errorText,
    );
  }

  function typeRow(type: string, mute: Mute | undefined): HTMLElement {
    let current = mute;
    const id = `type-${type}`;
    const box = element('input', { type: 'checkbox', role: 'switch', class: 'switch', part: 'switch', id });
    box.checked = mute === undefined;
    box.addEventListener('change', () => {
      const isOn = box.checked;
      void attempt(async () => {
        box.disabled = true;
        try {
          if (!isOn) current ??= await inbox.mutes.add(`notification_type:eq:${type}`, options);
          else if (current !== undefined) {
            await inbox.mutes.remove(current.id, options);
            current = undefined;
          }
        } finally {
          box.disabled = false;
          box.checked = current === undefined;
          box.focus();
        }
      });
    });
    return element(
      'li',
      { part: 'row' },
      element('label', { part: 'label', for: id }, words[`type_${type}`] ?? type.replaceAll('_', ' ')),
      box,
    );
  }

  function otherRow(mute: Mute): HTMLElement {
    const label = `${words.push_on_again}: ${mute.filter}`;
    const switchOn = () =>
      attempt(async () => {
        await inbox.mutes.remove(mute.id, options);
        row.remove();
        view.focus();
      });
    const button = smallButton(words.push_on_again, switchOn, { 'aria-label': label });
    const row = element('li', { part: 'row' }, element('code', { part: 'filter' }, mute.filter), button);
    return row;
  }

  void load();
}

/** All types that the user has received. Each request asks for a notification of a type that is not known yet. */
async function typesOf(
  inbox: Inbox,
  items: readonly InboxItem[],
  words: RowTexts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const types = new Set<string>(Object.keys(words).flatMap((key) => /^type_(.+)/.exec(key)?.[1] ?? []));
  for (const { notification_type } of items) types.add(notification_type);
  for (;;) {
    const filter = types.size === 0 ? undefined : `notification_type:neq:${[...types].slice(0, 100).join(':')}`;
    const { data } = await inbox.list({ limit: 1, filter, signal }).page();
    const type = data[0]?.notification_type;
    if (type === undefined || types.has(type)) return [...types];
    types.add(type);
  }
}
