import type { Preferences } from '@postern/client';
import { element, replaceContent } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { optionOf, type Page, section } from './controls.js';

/** Chooses the zone of times, such as those of quiet hours. */
export function zoneSection(page: Page, preferences: Preferences): HTMLElement {
  const { words, language, change, onChange } = page;
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
  onChange(({ time_zone: zone }) => {
    // Another device may have chosen a zone that this browser does not list.
    if (zone !== null && ![...select.options].some(({ value }) => value === zone)) select.append(optionOf(zone, zone));
    none.hidden = zone !== null;
    select.value = zone ?? '';
    replaceContent(hint, zone !== null && fill(words.time_there, { time: timeIn(zone, language) }));
  });
  return section(
    page,
    'time_zone',
    element(
      'div',
      { class: 'lines', part: 'list' },
      element('div', { class: 'line zone', part: 'row' }, element('div', { class: 'description' }, hint), select),
    ),
  );
}

/** The time of day in a zone. A zone that this browser does not know has none. */
function timeIn(timeZone: string, language: string): string {
  try {
    return new Intl.DateTimeFormat(language, { timeZone, timeStyle: 'short' }).format(new Date());
  } catch {
    return '–';
  }
}
