import { describe, expect, test } from 'vitest';
import { createTokenBuckets } from '../../../src/limits/admission/token-buckets.js';

function create(size: number, windowMs: number, maxKeys?: number) {
  const clock = { ms: 0 };
  const buckets = createTokenBuckets({ size, windowMs }, { now: () => clock.ms, ...(maxKeys && { maxKeys }) });
  const takeMany = (key: string, times: number) =>
    Array.from({ length: times }, () => buckets.take(key)).filter(({ isEmpty }) => !isEmpty).length;
  return { clock, buckets, takeMany };
}

describe('a token bucket', () => {
  test('allows its size at once, then refills evenly, and says when', () => {
    const { clock, buckets, takeMany } = create(10, 1000);
    expect(buckets.take('a')).toEqual({ isEmpty: false, remaining: 9, fullIn: 1, nextIn: 1 });
    expect(takeMany('a', 20)).toBe(9);
    expect(buckets.take('a')).toEqual({ isEmpty: true, remaining: 0, fullIn: 1, nextIn: 1 });
    clock.ms += 100;
    expect(takeMany('a', 20)).toBe(1);
    clock.ms += 5000;
    expect(takeMany('a', 20)).toBe(10);
  });

  test('of a slow rate says how many seconds are left', () => {
    const { buckets, takeMany, clock } = create(2, 60_000);
    takeMany('a', 2);
    expect(buckets.take('a')).toMatchObject({ isEmpty: true, fullIn: 60, nextIn: 30 });
    clock.ms += 29_000;
    expect(buckets.take('a')).toMatchObject({ isEmpty: true, fullIn: 31, nextIn: 1 });
  });

  test('is not filled by requests that it refuses, and belongs to one key', () => {
    const { clock, takeMany } = create(5, 1000);
    expect(takeMany('a', 100)).toBe(5);
    clock.ms += 199;
    expect([takeMany('a', 100), takeMany('b', 100)]).toEqual([0, 5]);
  });

  test('that is in use stays while many other keys pass, and memory is bounded', () => {
    const { buckets, takeMany } = create(3, 86_400_000, 1000);
    takeMany('a', 3);
    for (let key = 0; key < 100_000; key += 1) {
      buckets.take(String(key));
      if (key % 100 === 0) expect(buckets.take('a').isEmpty).toBe(true);
    }
    // Its two maps hold 1000 keys at most: an early key was dropped, and begins full.
    expect(buckets.take('0').remaining).toBe(2);
  });
});
