import { beforeAll, expect } from 'vitest';
import { createPasswordHasher } from '../../src/credentials/passwords.js';

/**
 * Requests that fail or succeed for different reasons, interleaved, so that other load of the machine affects all of them
 * equally. The long form has the product's bound: over 300 samples, medians and tenth percentiles within 10 % or 5 ms of each
 * other. The short form still detects a missing hash, which would reveal whether a user exists: its bound is a little less
 * than the time of one.
 */
const isLong = process.env.FAULTS === 'long';
const samples = isLong ? 300 : 40;
const rounds = isLong ? 1 : 20;
/** While other tests run, only the fastest sample shows the work of the request. */
const quantiles = isLong ? [0.1, 0.5] : [0];

/** Settings of a service whose limits the many requests do not reach. It writes no log, which would take time. */
export const timingSettings = {
  LOGIN_LIMIT_PER_ADDRESS: '0',
  CODE_LIMIT_PER_ADDRESS: '0',
  GUESS_LIMIT: '1000000',
  GUESS_LIMIT_PERMANENT: '0',
  LOG_LEVEL: 'silent',
};

interface Tolerance {
  readonly part: number;
  readonly milliseconds: number;
}

/** The bound of the short form: a little less than the time to verify such a hash on this machine now. */
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

/** Compares the times of requests. Call it where tests are defined. */
export function createTiming() {
  let tolerance: Tolerance = { part: 0.1, milliseconds: 5 };
  /** The kind of hash that the short form detects. Default: the current one. */
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
 * Sends the requests interleaved and compares their times. In the short form only the fastest sample of each counts. With each
 * further sample it gets closer to the time of the work, however busy the machine is. So it continues for a while if the
 * times differ. A difference of a hash becomes clearer with more samples.
 */
async function expectAlike(
  kinds: Readonly<Record<string, () => Promise<unknown>>>,
  tolerance: Tolerance,
): Promise<void> {
  const times: Times = new Map(Object.keys(kinds).map((kind) => [kind, []]));
  // The first request of each kind prepares statements and opens connections.
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

/** The kinds that took longer than the fastest one by more than the tolerance. */
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
