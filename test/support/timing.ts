import { beforeAll, expect } from 'vitest';
import { createPasswordHasher } from '../../src/authentication/secrets/passwords.js';

/**
 * Requests that fail or succeed for different reasons, interleaved, so that whatever else the machine does hits all of
 * them alike. The bound of the long form is the product's: over 300 samples, medians and tenth percentiles within 10 %
 * or 5 ms of each other. The short form still sees a hash that is missing, which is what an oracle would be made of: its
 * bound is a little under one.
 */
const isLong = process.env.FAULTS === 'long';
const samples = isLong ? 300 : 40;
const rounds = isLong ? 1 : 8;
/** Beside other tests only the quickest of the samples still shows what work was done. */
const quantiles = isLong ? [0.1, 0.5] : [0];

interface Tolerance {
  readonly part: number;
  readonly milliseconds: number;
}

/** Of the short form: a little under what verifying such a hash takes here and now. */
async function nearlyOne(stored: string | undefined): Promise<number> {
  const hasher = createPasswordHasher();
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const start = performance.now();
    await hasher.verify(stored, '');
    times.push(performance.now() - start);
  }
  return 0.9 * Math.min(...times);
}

/** Compares what requests take. Call it where the tests are described. */
export function createTiming() {
  let tolerance: Tolerance = { part: 0.1, milliseconds: 5 };
  /** Has the short form see a missing hash of this kind; without one, of today's. */
  const boundBy = async (stored?: string) => {
    if (!isLong) tolerance = { part: 0.1, milliseconds: await nearlyOne(stored) };
  };
  beforeAll(() => boundBy());
  return {
    boundBy,
    expectAlike: (kinds: Readonly<Record<string, () => Promise<unknown>>>) => expectAlike(kinds, tolerance),
  };
}

type Times = ReadonlyMap<string, number[]>;

/**
 * Sends the requests interleaved and compares what they took. Of the short form only the quickest sample of each counts,
 * and that gets nearer to the work that was done with every further one, however busy the machine is: so it goes on for a
 * while as long as they differ. What differs by a hash differs the more plainly.
 */
async function expectAlike(
  kinds: Readonly<Record<string, () => Promise<unknown>>>,
  tolerance: Tolerance,
): Promise<void> {
  const times: Times = new Map(Object.keys(kinds).map((kind) => [kind, []]));
  // The first of each prepares statements and opens connections.
  for (const request of Object.values(kinds)) for (let warm = 0; warm < 10; warm += 1) await request();
  for (let round = 0; round < rounds; round += 1) {
    for (let sample = 0; sample < samples; sample += 1) {
      for (const [kind, request] of shuffled(Object.entries(kinds))) {
        const start = performance.now();
        await request();
        times.get(kind)?.push(performance.now() - start);
      }
    }
    if (differences(times, tolerance).length === 0) break;
  }
  expect(differences(times, tolerance)).toEqual([]);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

/** Which kinds took longer than the quickest one by more than is tolerated. */
function differences(times: Times, tolerance: Tolerance): string[] {
  return quantiles.flatMap((part) => {
    const figures = [...times].map(([kind, values]) => ({ kind, time: quantile(values, part) }));
    const least = Math.min(...figures.map(({ time }) => time));
    const most = least + Math.max(tolerance.milliseconds, least * tolerance.part);
    return figures
      .filter(({ time }) => time > most)
      .map(({ kind }) => `${kind}, quantile ${part}: ${JSON.stringify(figures)}`);
  });
}
