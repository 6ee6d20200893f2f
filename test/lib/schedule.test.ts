import { describe, expect, it } from 'vitest';
import { parseSchedule } from '../../src/lib/schedule.js';

const next = (text: string, from: string) => {
  const time = parseSchedule(text)?.next(Date.parse(from));
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
};

describe('a schedule', () => {
  it.each([
    ['6h', '2026-03-01T10:20:00Z', '2026-03-01T16:20'],
    ['30 3 * * *', '2026-03-01T03:29:00Z', '2026-03-01T03:30'],
    ['30 3 * * *', '2026-03-01T03:30:00Z', '2026-03-02T03:30'],
    ['*/15 * * * *', '2026-12-31T23:50:00Z', '2027-01-01T00:00'],
    ['0 8-18/5 * * 1-5', '2026-03-06T18:00:00Z', '2026-03-09T08:00'],
    ['0 0 29 2 *', '2026-03-01T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 * * 7', '2026-03-02T00:00:00Z', '2026-03-08T00:00'],
    ['0 0 13 * 5', '2026-03-01T00:00:00Z', '2026-03-06T00:00'],
    ['5,10 1 * * *', '2026-03-01T01:05:00Z', '2026-03-01T01:10'],
  ])('%s after %s is due at %s', (text, from, expected) => {
    expect(next(text, from)).toBe(expected);
  });

  it.each([
    '',
    'daily',
    '1m',
    '60 * * * *',
    '* * * *',
    '* * * * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '0 0 31 2 *',
    '1,,2 * * * *',
  ])('%j is refused', (text) => {
    expect(parseSchedule(text)).toBeUndefined();
  });
});
