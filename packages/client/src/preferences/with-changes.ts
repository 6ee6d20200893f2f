import type { PreferenceCategory, PreferenceCell, Preferences } from '../wire.js';
import type { PreferenceChanges, PreferenceChannel, PreferenceChoices } from './types.js';

/** Replaces the values of the channels that the choices name. */
function replaced<Value>(
  values: Readonly<Record<PreferenceChannel, Value>>,
  choices: PreferenceChoices = {},
  next: (value: Value, choice: 'on' | 'off' | null) => Value,
): Readonly<Record<PreferenceChannel, Value>> {
  const all = { ...values };
  for (const channel of Object.keys(values) as PreferenceChannel[]) {
    const choice = choices[channel];
    if (choice !== undefined) all[channel] = next(values[channel], choice);
  }
  return all;
}

const changedCell = (cell: PreferenceCell, choice: 'on' | 'off' | null): PreferenceCell => ({
  ...cell,
  value: choice ?? cell.default,
  is_chosen: choice !== null,
});

/** The preferences as Postern will answer after a change. Postern refuses changes of critical categories. */
export function withChanges(
  preferences: Preferences,
  { time_zone: zone = preferences.time_zone, channels, categories = {} }: PreferenceChanges,
): Preferences {
  const changed = Object.entries(preferences.categories).map(([name, category]): [string, PreferenceCategory] => [
    name,
    category.is_locked ? category : { ...category, cells: replaced(category.cells, categories[name], changedCell) },
  ]);
  return {
    ...preferences,
    time_zone: zone,
    channels: replaced(preferences.channels, channels, (_value, choice) => choice ?? 'on'),
    categories: Object.fromEntries(changed),
  };
}
