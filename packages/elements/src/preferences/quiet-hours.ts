import type { Preferences } from '@postern/client';
import { element } from '../base/dom.js';
import { type Page, section, switchOf } from './controls.js';

type QuietHours = NonNullable<Preferences['quiet_hours']>;
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const usual: QuietHours = { from: '22:00', until: '07:00' };

/** A time that is typed digit by digit is saved when the user pauses. */
const pauseMs = 800;

/**
 * The times between which quiet hours are, and the days on which they begin.
 *
 * @returns the rows, and a function that brings them up to date
 */
function createQuietHours({ words, language, change }: Page): {
  readonly rows: readonly HTMLElement[];
  readonly show: (preferences: Preferences) => void;
} {
  let current: QuietHours | null = null;
  const problem = element('p', { class: 'issue', part: 'issue', role: 'alert' });
  const set = (next: Partial<QuietHours>) => change({ quiet_hours: { ...(current ?? usual), ...next } });

  function time(part: 'from' | 'until') {
    const input = element('input', { type: 'time', part: 'input', 'data-key': `quiet ${part}` });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const save = () => {
      clearTimeout(timer);
      timer = undefined;
      const { value } = input;
      if (current === null || value === '' || value === current[part]) return;
      const isEmpty = value === current[part === 'from' ? 'until' : 'from'];
      problem.textContent = isEmpty ? words.quiet_same : '';
      if (!isEmpty) set({ [part]: value });
    };
    input.addEventListener('change', () => {
      clearTimeout(timer);
      timer = setTimeout(save, pauseMs);
    });
    input.addEventListener('blur', save);
    const label = element(
      'label',
      { class: 'time', part: 'cell' },
      element('span', { class: 'muted', part: 'label' }, words[`quiet_${part}`]),
      input,
    );
    return {
      label,
      show(hours: QuietHours) {
        if (timer === undefined && input.value !== hours[part]) input.value = hours[part];
      },
    };
  }
  const times = [time('from'), time('until')];

  const boxes = days.map((day, index) => {
    // 1 January 2024 is a Monday.
    const name = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(
      Date.UTC(2024, 0, index + 1),
    );
    const box = element('input', { type: 'checkbox', part: 'checkbox', 'data-key': `quiet ${day}` });
    box.addEventListener('change', () => {
      const chosen = days.filter((_each, place) => boxes[place]?.box.checked);
      const { from, until } = current ?? usual;
      change({ quiet_hours: { from, until, ...(chosen.length < days.length && { days: chosen }) } });
    });
    return { day, box, label: element('label', { class: 'day', part: 'cell' }, box, element('bdi', {}, name)) };
  });

  const timeRow = element('div', { class: 'line times', part: 'row' }, ...times.map(({ label }) => label), problem);
  const dayRow = element(
    'div',
    { class: 'line days', part: 'row', role: 'group', 'aria-labelledby': 'quiet-days' },
    element('span', { class: 'muted', part: 'label', id: 'quiet-days' }, words.quiet_days),
    ...boxes.map(({ label }) => label),
  );
  return {
    rows: [timeRow, dayRow],
    show({ quiet_hours: hours }) {
      current = hours;
      timeRow.hidden = dayRow.hidden = hours === null;
      if (hours === null) return;
      if (hours.from !== hours.until) problem.textContent = '';
      for (const { show } of times) show(hours);
      for (const { day, box } of boxes) {
        box.checked = hours.days?.includes(day) ?? true;
        // Quiet hours that never begin are none.
        box.disabled = box.checked && hours.days?.length === 1;
      }
    },
  };
}

/** Turns quiet hours on and off, and chooses them. */
export function quietSection(page: Page): HTMLElement {
  const { words, change, onChange } = page;
  const { rows, show } = createQuietHours(page);
  onChange(show);
  const box = switchOf(
    page,
    'quiet',
    'quiet_hours',
    ({ quiet_hours: hours }) => hours !== null,
    (isOn) => change({ quiet_hours: isOn ? usual : null }),
  );
  const hint = element('span', { class: 'value muted', part: 'value', id: 'hint-quiet' }, words.quiet_hint);
  box.setAttribute('aria-describedby', hint.id);
  const first = element('div', { class: 'line', part: 'row' }, element('div', { class: 'description' }, hint), box);
  return section(page, 'quiet_hours', element('div', { class: 'lines', part: 'list' }, first, ...rows));
}
