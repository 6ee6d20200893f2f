import type {
  PreferenceCell,
  PreferenceCells,
  PreferenceChanges,
  PreferenceChannel,
  Preferences,
} from '@postern/client';
import { type Child, element, icon, replaceContent } from '../base/dom.js';
import { fill, isFallback, withoutMarks } from '../base/texts.js';
import { webAddress } from '../base/web-address.js';
import { createQuietHours, quietHoursOf } from './quiet-hours.js';
import type { PreferencesTexts } from './texts.js';

const lockPath = 'M5.5 9h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1zM7 9V6.5a3 3 0 0 1 6 0V9';
const warningPath = 'M10 3 18 17H2zM10 8v4M10 14.5v.1';

export interface TableOptions {
  readonly words: PreferencesTexts;
  readonly language: string;
  readonly accountUrl: string | null;
  readonly content: HTMLElement;
  readonly change: (changes: PreferenceChanges) => void;
}

type Category = Preferences['categories'][string];
/** The inbox and the channels, as the columns of the categories. */
type CellName = keyof PreferenceCells;
/** Brings a part of the page up to date. */
type Update = (preferences: Preferences) => void;

const channelsOf = ({ channels }: Preferences) => Object.keys(channels) as PreferenceChannel[];
const cellsOf = (preferences: Preferences): CellName[] => ['inbox', ...channelsOf(preferences)];

/** The title of a category, or its name as words. */
const titleOf = (name: string, title: string) =>
  title === name ? name.charAt(0).toUpperCase() + name.slice(1).replace(/[_.-]+/g, ' ') : title;

/** The choices of a cell. It has the summary only if the service offers one. */
const valuesOf = ({ value, default: initial }: PreferenceCell, hasDigest: boolean): readonly string[] => [
  ...new Set<string>(['on', 'off', initial, value, ...(hasDigest ? ['digest'] : [])]),
];
const hasDigest = (column: string, category: Category) => column === 'email' && category.has_digest;

/** The values for which the page needs new nodes. Other values only change the nodes. */
const shapeOf = ({ channels, addresses, categories }: Preferences): string =>
  JSON.stringify([
    Object.keys(channels),
    addresses,
    Object.entries(categories).map(([name, category]) => [
      ...[name, category.title, category.description, category.is_locked],
      Object.entries(category.cells).map(([column, cell]) =>
        category.is_locked ? cell.value : valuesOf(cell, hasDigest(column, category)).length > 2,
      ),
    ]),
  ]);

/** An option can contain only text. So if the text is English in another page, the option itself has the `lang`. */
const optionOf = (value: string, text: string) =>
  element('option', { value, ...(isFallback(text) && { lang: 'en', dir: 'ltr' }) }, withoutMarks(text));

/** The sections of the page. Its nodes stay while only values change, so that nobody loses the focus. */
export function createTable({ words, language, accountUrl, content, change }: TableOptions) {
  let updates: Update[] = [];
  let shape = '';

  const section = (name: 'channels' | 'categories' | 'quiet_hours' | 'time_zone', ...children: Child[]) =>
    element(
      'section',
      { part: 'section', 'aria-labelledby': name },
      element('h2', { id: name, part: 'heading' }, words[name]),
      ...children,
    );

  function switchOf(
    key: string,
    labels: string,
    read: (preferences: Preferences) => boolean,
    set: (isOn: boolean) => void,
  ) {
    const box = element('input', {
      ...{ type: 'checkbox', role: 'switch', class: 'switch', part: 'switch' },
      ...{ 'data-key': key, 'aria-labelledby': labels },
    });
    box.addEventListener('change', () => set(box.checked));
    updates.push((preferences) => {
      box.checked = read(preferences);
    });
    return box;
  }

  /** Why nothing arrives at an address, and what to do. */
  function addressText(channel: PreferenceChannel, { addresses }: Preferences): string | null {
    if (channel === 'push') return null;
    const state = addresses[channel];
    return state === 'ok' ? null : words[`${channel}_${state ?? 'none'}`];
  }
  function channelRow(channel: PreferenceChannel, preferences: Preferences): HTMLElement {
    const trouble = addressText(channel, preferences);
    const href = webAddress(accountUrl);
    const link = trouble !== null && href !== null && element('a', { href, part: 'link' }, words.open_account);
    const text = element('span', {}, trouble ?? words[`${channel}_hint`], link && ' ', link);
    // A missing phone number is no reason for a warning.
    const isWarning = trouble !== null && channel !== 'push' && preferences.addresses[channel] !== undefined;
    const usual = isWarning ? element('span', { class: 'warning', part: 'warning' }, icon(warningPath), text) : text;
    const off = element('span', {}, words.channel_off);
    const value = element('span', { class: 'value muted', part: 'value', id: `hint-${channel}` }, usual, off);
    // The nodes stay, because the link may have the focus.
    updates.push(({ channels }) => {
      usual.hidden = channels[channel] === 'off';
      off.hidden = !usual.hidden;
    });
    const box = switchOf(
      channel,
      `channel-${channel}`,
      ({ channels }) => channels[channel] === 'on',
      (isOn) => change({ channels: { [channel]: isOn ? 'on' : 'off' } }),
    );
    box.setAttribute('aria-describedby', value.id);
    box.id = `switch-${channel}`;
    const name = element(
      'label',
      { class: 'name', part: 'name', id: `channel-${channel}`, for: box.id },
      words[channel],
    );
    return element('li', { class: 'line', part: 'row' }, element('div', { class: 'description' }, name, value), box);
  }

  /** A cell that nobody can change. */
  function lockedCell(column: CellName, isOn: boolean): HTMLElement {
    const text = `${words[column]}: ${isOn ? words.always_on : words.always_off}`;
    return element(
      'span',
      { class: 'cell fixed', part: 'cell', title: isOn ? words.always_on : words.always_off },
      element('span', { class: 'label', part: 'label', 'aria-hidden': 'true' }, words[column]),
      isOn ? icon(lockPath) : element('span', { class: 'muted', part: 'value', 'aria-hidden': 'true' }, '–'),
      element('span', { class: 'sr-only' }, text),
    );
  }
  function choiceCell(name: string, column: CellName, category: Category): HTMLElement {
    const key = `${name} ${column}`;
    const labels = `title-${name} label-${name}-${column}`;
    const read = ({ categories }: Preferences) => categories[name]?.cells[column].value as string | undefined;
    const choose = (value: string) =>
      change({ categories: { [name]: { [column]: value as PreferenceCell['value'] } } });
    const values = valuesOf(category.cells[column], hasDigest(column, category));
    let control: HTMLInputElement | HTMLSelectElement;
    if (values.length === 2)
      control = switchOf(
        key,
        labels,
        (all) => read(all) === 'on',
        (isOn) => choose(isOn ? 'on' : 'off'),
      );
    else {
      const select = element(
        'select',
        { part: 'select', 'data-key': key, 'aria-labelledby': labels },
        ...values.map((value) => optionOf(value, (words as Readonly<Record<string, string>>)[value] ?? value)),
      );
      select.addEventListener('change', () => choose(select.value));
      updates.push((all) => {
        select.value = read(all) ?? 'on';
      });
      control = select;
    }
    if (column !== 'inbox')
      updates.push(({ channels }) => {
        control.disabled = channels[column] === 'off';
      });
    const label = element('span', { class: 'label', part: 'label', id: `label-${name}-${column}` }, words[column]);
    return element('label', { class: 'cell', part: 'cell' }, label, control);
  }
  function categoryRow(name: string, category: Category, columns: readonly CellName[]): HTMLElement {
    const { title, description, is_locked: isLocked, cells } = category;
    const note = element('span', { class: 'value muted', part: 'value' }, isLocked ? words.locked : words.inbox_off);
    updates.push(({ categories }) => {
      note.hidden = !isLocked && categories[name]?.cells.inbox.value !== 'off';
    });
    const about = description === title || description === name ? null : element('bdi', {}, description);
    return element(
      'li',
      { class: 'line category', part: 'row' },
      element(
        'div',
        { class: 'description' },
        element('span', { class: 'name', part: 'name', id: `title-${name}` }, element('bdi', {}, titleOf(name, title))),
        about && element('span', { class: 'value muted', part: 'value' }, about),
        note,
      ),
      element(
        'div',
        { class: 'cells', part: 'cells' },
        ...columns.map((column) =>
          isLocked ? lockedCell(column, cells[column].value === 'on') : choiceCell(name, column, category),
        ),
      ),
    );
  }
  function categorySection(preferences: Preferences): HTMLElement {
    const columns = cellsOf(preferences);
    const all = Object.entries(preferences.categories);
    if (all.length === 0) return section('categories', element('p', { class: 'muted', part: 'hint' }, words.empty));
    return section(
      'categories',
      element(
        'div',
        { class: 'lines', part: 'list' },
        element(
          'div',
          { class: 'head', part: 'head', 'aria-hidden': 'true' },
          ...columns.map((column) => element('span', { part: 'label' }, words[column])),
        ),
        element('ul', {}, ...all.map(([name, category]) => categoryRow(name, category, columns))),
      ),
    );
  }

  function quietSection(): HTMLElement {
    const { rows, show } = createQuietHours(words, language, change);
    updates.push(show);
    const box = switchOf(
      'quiet',
      'quiet_hours',
      ({ quiet_hours: hours }) => hours !== null,
      (isOn) => change({ quiet_hours: quietHoursOf(isOn) }),
    );
    const hint = element('span', { class: 'value muted', part: 'value', id: 'hint-quiet' }, words.quiet_hint);
    box.setAttribute('aria-describedby', hint.id);
    const first = element('div', { class: 'line', part: 'row' }, element('div', { class: 'description' }, hint), box);
    return section('quiet_hours', element('div', { class: 'lines', part: 'list' }, first, ...rows));
  }

  function zoneSection(preferences: Preferences): HTMLElement {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const zones = new Set(Intl.supportedValuesOf?.('timeZone') ?? []);
    if (preferences.time_zone !== null) zones.add(preferences.time_zone);
    zones.delete(own);
    const none = optionOf('', words.time_zone_none);
    const select = element(
      'select',
      { part: 'select', 'data-key': 'time-zone', 'aria-labelledby': 'time_zone', 'aria-describedby': 'hint-zone' },
      none,
      optionOf(own, fill(words.this_device, { zone: own.replaceAll('_', ' ') })),
      ...[...zones].sort().map((zone) => optionOf(zone, zone.replaceAll('_', ' '))),
    );
    select.addEventListener('change', () => change({ time_zone: select.value || null }));
    const hint = element('span', { class: 'value muted', part: 'value', id: 'hint-zone' });
    updates.push(({ time_zone: zone }) => {
      // Another device may have chosen a zone that this browser does not list.
      if (zone !== null && ![...select.options].some(({ value }) => value === zone))
        select.append(optionOf(zone, zone));
      none.hidden = zone !== null;
      select.value = zone ?? '';
      replaceContent(hint, zone !== null && fill(words.time_there, { time: timeIn(zone, language) }));
    });
    return section(
      'time_zone',
      element(
        'div',
        { class: 'lines', part: 'list' },
        element('div', { class: 'line zone', part: 'row' }, element('div', { class: 'description' }, hint), select),
      ),
    );
  }

  return {
    show(preferences: Preferences): void {
      const next = shapeOf(preferences);
      if (next !== shape) {
        shape = next;
        updates = [];
        const root = content.getRootNode() as ShadowRoot;
        const key = (root.activeElement as HTMLElement | null)?.dataset.key;
        replaceContent(
          content,
          section(
            'channels',
            element(
              'ul',
              { class: 'lines', part: 'list' },
              ...channelsOf(preferences).map((channel) => channelRow(channel, preferences)),
            ),
          ),
          categorySection(preferences),
          quietSection(),
          zoneSection(preferences),
        );
        if (key !== undefined) content.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
      }
      for (const update of updates) update(preferences);
    },
  };
}

/** The time of day in a zone, or a dash if this browser does not know the zone. */
function timeIn(timeZone: string, language: string): string {
  try {
    return new Intl.DateTimeFormat(language, { timeZone, timeStyle: 'short' }).format(new Date());
  } catch {
    return '–';
  }
}
