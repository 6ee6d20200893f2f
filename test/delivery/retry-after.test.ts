import { describe, expect, it } from 'vitest';
import { retryAfterSeconds } from '../../src/delivery/retry-after.js';

describe('Retry-After', () => {
  const now = () => Date.parse('2026-11-21T10:00:00Z');
  it.each([
    ['120', 120],
    ['0', 0],
    ['Sat, 21 Nov 2026 10:01:30 GMT', 90],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['999999999', 86_400],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    [undefined, undefined],
  ])('%s is %s seconds', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });
});
