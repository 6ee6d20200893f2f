import type {
  CellChoice,
  ChannelChoice,
  PreferenceCategory,
  PreferenceCell,
  PreferenceCells,
  Preferences,
  PreferenceTopic,
} from '../wire.js';
import type { PreferenceChanges, PreferenceChoices } from './types.js';

/** Replaces the values of the channels that the choices name. */
function replaced<Values extends object, Value extends Values[keyof Values], Choice>(
  values: Values,
  choices: { readonly [Name in keyof Values]?: Choice | null | undefined } = {},
  next: (value: Value, choice: Choice | null) => Value,
): Values {
  const all = { ...values };
  for (const name of Object.keys(values) as (keyof Values)[]) {
    const choice = choices[name];
    if (choice !== undefined) all[name] = next(values[name] as Value, choice);
  }
  return all;
}

const changedCell = (cell: PreferenceCell, choice: CellChoice | null): PreferenceCell => ({
  ...cell,
  value: choice ?? cell.default,
  is_chosen: choice !== null,
});

/** A topic without choices has no entry. */
function changedTopics(
  topics: Preferences['topics'],
  changes: Readonly<Record<string, PreferenceChoices<keyof PreferenceCells, CellChoice>>>,
): Preferences['topics'] {
  const all: Record<string, PreferenceTopic> = { ...topics };
  for (const [key, choices] of Object.entries(changes)) {
    const cells = Object.entries({ ...all[key], ...choices }).filter(([, choice]) => choice != null);
    if (cells.length > 0) all[key] = Object.fromEntries(cells);
    else delete all[key];
  }
  return all;
}

/** The preferences as Postern will answer after a change. Postern refuses changes of critical categories. */
export function withChanges(
  preferences: Preferences,
  {
    time_zone: zone = preferences.time_zone,
    quiet_hours: quietHours = preferences.quiet_hours,
    channels,
    categories = {},
    topics = {},
  }: PreferenceChanges,
): Preferences {
  const changed = Object.entries(preferences.categories).map(([name, category]): [string, PreferenceCategory] => [
    name,
    category.is_locked ? category : { ...category, cells: replaced(category.cells, categories[name], changedCell) },
  ]);
  return {
    ...preferences,
    time_zone: zone,
    quiet_hours: quietHours,
    channels: replaced(preferences.channels, channels, (_value, choice: ChannelChoice | null) => choice ?? 'on'),
    categories: Object.fromEntries(changed),
    topics: changedTopics(preferences.topics, topics),
  };
}
