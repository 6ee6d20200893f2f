import { availableParallelism, totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { availableCores, availableMemory, quotaOf } from '../../src/lib/machine.js';

test.each([
  ['max 100000\n', Number.POSITIVE_INFINITY],
  ['200000 100000\n', 2],
  ['150000 100000\n', 1.5],
  ['50000 100000', 0.5],
  ['', Number.POSITIVE_INFINITY],
])('a quota of %j', (text, cores) => {
  expect(quotaOf(text)).toBe(cores);
});

test('a quota leaves whole cores, one at least, and no more than there are', () => {
  expect([0.5, 1, 1.9].map(availableCores)).toEqual([1, 1, 1]);
  expect(availableCores(availableParallelism() + 0.5)).toBe(availableParallelism());
  expect(availableCores(Number.POSITIVE_INFINITY)).toBe(availableParallelism());
  expect(availableCores()).toBeLessThanOrEqual(availableParallelism());
});

test('no more memory is there than the machine has', () => {
  expect(availableMemory()).toBeGreaterThan(0);
  expect(availableMemory()).toBeLessThanOrEqual(totalmem());
});
