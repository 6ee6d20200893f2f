import type { CellChoice, PreferenceCategory, PreferenceCell, Preferences } from '../wire.js';
import type { PreferenceChanges } from './types.js';

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

/** The preferences as Postern will answer after a change. Postern refuses changes of critical categories. */
export function withChanges(
  preferences: Preferences,
  {
    time_zone: zone = preferences.time_zone,
    quiet_hours: quietHours = preferences.quiet_hours,
    channels,
    categories = {},
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
    channels: replaced(preferences.channels, channels, (_value, choice) => choice ?? 'on'),
    categories: Object.fromEntries(changed),
  };
}
