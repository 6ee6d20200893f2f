import { expect, test } from 'vitest';
import { timeAgo } from '../../src/base/time.js';

const now = Date.parse('2026-05-20T12:00:00Z');
test.each([
  ['2026-05-20T12:03:00Z', 'now'],
  ['2026-05-20T11:59:30Z', 'now'],
  ['2026-05-20T11:55:00Z', '5 min. ago'],
  ['2026-05-20T09:00:00Z', '3 hr. ago'],
  ['2026-05-19T11:00:00Z', 'yesterday'],
  ['2026-05-16T12:00:00Z', '4 days ago'],
  ['2026-05-10T12:00:00Z', 'May 10'],
  ['2025-05-10T12:00:00Z', 'May 10, 2025'],
])('%s is shown as "%s", also by a clock that is behind', (time, shown) => {
  expect(timeAgo(time, 'en', now)).toBe(shown);
});
