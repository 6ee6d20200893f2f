import { expect, test } from 'vitest';
import { chunkSize, maxChunk, nextDue } from '../../../src/notifications/publications/pace.js';

/** What a fan-out with these delays creates: the time of each chunk, and its size. */
function simulate(rate: number, delay: (chunk: number) => number, seconds: number): { at: number; created: number }[] {
  const chunks: { at: number; created: number }[] = [];
  let due = 0;
  while (due < seconds * 1000) {
    const at = due + delay(chunks.length);
    const created = chunkSize(rate, maxChunk);
    chunks.push({ at, created });
    due = nextDue({ due, now: at, created, rate });
  }
  return chunks;
}

/** The most and the fewest that any five seconds have. */
function extremes(chunks: readonly { at: number; created: number }[], until: number) {
  const within = (from: number) =>
    chunks.reduce((sum, { at, created }) => sum + (at >= from && at < from + 5000 ? created : 0), 0);
  const starts = chunks.flatMap(({ at }) => [at, at + 0.01]).filter((at) => at + 5000 < until);
  const sums = starts.map(within);
  return { most: Math.max(...sums), fewest: Math.min(...sums) };
}

const rates = [1, 2, 3, 7, 50, 999, 4001, 10_000];

test.each(rates)('at %i a second, any five seconds have 0.8 to 1.2 of it', (rate) => {
  for (const delay of [() => 0, (nth: number) => (nth % 2) * 15, (nth: number) => (nth * 7919) % 25]) {
    const { most, fewest } = extremes(simulate(rate, delay, 60), 55_000);
    expect(most / (5 * rate)).toBeLessThanOrEqual(1.2);
    expect(fewest / (5 * rate)).toBeGreaterThanOrEqual(0.8);
  }
});

test.each(rates)('at %i a second, time that was lost is not made up', (rate) => {
  // Some chunks come seconds late, as after a pause.
  const delay = (nth: number) => (nth % 10 === 5 ? 3000 : nth % 4 === 0 ? 200 : 0);
  expect(extremes(simulate(rate, delay, 120), 110_000).most / (5 * rate)).toBeLessThanOrEqual(1.2);
});

test('without a rate, a chunk has the size that the database takes in time, and the next one is due at once', () => {
  expect(chunkSize(null, 700)).toBe(700);
  expect(nextDue({ due: 5, now: 70, created: 700, rate: null })).toBe(70);
});
