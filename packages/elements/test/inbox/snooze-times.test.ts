import { afterEach, expect, test } from 'vitest';
import { snoozeTimes } from '../../src/inbox/snooze-times.js';

const zone = process.env.TZ;
afterEach(() => {
  process.env.TZ = zone ?? 'UTC';
});
const textOf = (time: Date) => time.toLocaleString('sv-SE').slice(0, 16);

test.each<[zone: string, now: string, later: string | null, tomorrow: string, nextWeek: string | null]>([
  // A Wednesday in Madrid.
  ['Europe/Madrid', '2026-11-25T09:20:00Z', '2026-11-25 14:00', '2026-11-26 09:00', '2026-11-30 09:00'],
  ['Europe/Madrid', '2026-11-25T09:00:00Z', '2026-11-25 13:00', '2026-11-26 09:00', '2026-11-30 09:00'],
  // The last evening before the clocks change in New York: tomorrow is 9 o'clock there.
  ['America/New_York', '2026-11-01T00:30:00Z', null, '2026-11-01 09:00', '2026-11-02 09:00'],
  // Late in the evening, nothing is later today; on a Sunday, next Monday is tomorrow.
  ['Asia/Kolkata', '2026-11-29T17:00:00Z', null, '2026-11-30 09:00', null],
  // The first day of the week: next Monday is in a week.
  ['Pacific/Auckland', '2026-11-29T20:00:00Z', '2026-11-30 12:00', '2026-12-01 09:00', '2026-12-07 09:00'],
])('in %s at %s, the times of a snooze are those of the zone of the user', (zone, now, later, tomorrow, nextWeek) => {
  process.env.TZ = zone;
  const times = Object.fromEntries(snoozeTimes(new Date(now)).map(({ name, time }) => [name, textOf(time)]));
  expect(times.tomorrow).toBe(tomorrow);
  expect(times.next_week ?? null).toBe(nextWeek);
  expect(times.later_today ?? null).toBe(later);
});
