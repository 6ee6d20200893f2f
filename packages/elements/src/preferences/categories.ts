import type { PreferenceCell, PreferenceCells, Preferences } from '@postern/client';
import { element, icon } from '../base/dom.js';
import { channelsOf } from './channels.js';
import { optionOf, type Page, section, switchOf } from './controls.js';

const lockPath = 'M5.5 9h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1zM7 9V6.5a3 3 0 0 1 6 0V9';

type Category = Preferences['categories'][string];
/** The inbox and the channels, as the columns of the categories. */
type CellName = keyof PreferenceCells;

const cellsOf = (preferences: Preferences): CellName[] => ['inbox', ...channelsOf(preferences)];

/** A name that nobody has given a title, as words. */
const titleOf = (name: string, title: string) =>
  title === name ? name.charAt(0).toUpperCase() + name.slice(1).replace(/[_.-]+/g, ' ') : title;

/** What a cell offers: a summary only where the service has one. */
export function valuesOf(column: string, { value, default: initial }: PreferenceCell, category: Category): string[] {
  const digest = column === 'email' && category.has_digest ? ['digest'] : [];
  return [...new Set<string>(['on', 'off', initial, value, ...digest])];
}

/** A cell that nobody can change. */
function lockedCell({ words }: Page, column: CellName, isOn: boolean): HTMLElement {
  const text = `${words[column]}: ${isOn ? words.always_on : words.always_off}`;
  return element(
    'span',
    { class: 'cell fixed', part: 'cell', title: isOn ? words.always_on : words.always_off },
    element('span', { class: 'label', part: 'label', 'aria-hidden': 'true' }, words[column]),
    isOn ? icon(lockPath) : element('span', { class: 'muted', part: 'value', 'aria-hidden': 'true' }, '–'),
    element('span', { class: 'sr-only' }, text),
  );
}

function choiceCell(page: Page, name: string, column: CellName, category: Category): HTMLElement {
  const { words, onChange } = page;
  const key = `${name} ${column}`;
  const labels = `title-${name} label-${name}-${column}`;
  const read = ({ categories }: Preferences) => categories[name]?.cells[column].value as string | undefined;
  const choose = (value: string) =>
    page.change({ categories: { [name]: { [column]: value as PreferenceCell['value'] } } });
  const values = valuesOf(column, category.cells[column], category);
  let control: HTMLInputElement | HTMLSelectElement;
  if (values.length === 2)
    control = switchOf(
      page,
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
    onChange((all) => {
      select.value = read(all) ?? 'on';
    });
    control = select;
  }
  if (column !== 'inbox')
    onChange(({ channels }) => {
      control.disabled = channels[column] === 'off';
    });
  const label = element('span', { class: 'label', part: 'label', id: `label-${name}-${column}` }, words[column]);
  return element('label', { class: 'cell', part: 'cell' }, label, control);
}

function categoryRow(page: Page, name: string, category: Category, columns: readonly CellName[]): HTMLElement {
  const { words } = page;
  const { title, description, is_locked: isLocked, cells } = category;
  const note = element('span', { class: 'value muted', part: 'value' }, isLocked ? words.locked : words.inbox_off);
  page.onChange(({ categories }) => {
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
        isLocked ? lockedCell(page, column, cells[column].value === 'on') : choiceCell(page, name, column, category),
      ),
    ),
  );
}
/** Chooses, for each category, where its notifications arrive. */
export function categorySection(page: Page, preferences: Preferences): HTMLElement {
  const { words } = page;
  const columns = cellsOf(preferences);
  const all = Object.entries(preferences.categories);
  if (all.length === 0) return section(page, 'categories', element('p', { class: 'muted', part: 'hint' }, words.empty));
  return section(
    page,
    'categories',
    element(
      'div',
      { class: 'lines', part: 'list' },
      element(
        'div',
        { class: 'head', part: 'head', 'aria-hidden': 'true' },
        ...columns.map((column) => element('span', { part: 'label' }, words[column])),
      ),
      element('ul', {}, ...all.map(([name, category]) => categoryRow(page, name, category, columns))),
    ),
  );
}
