import { expect } from 'vitest';
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
/** Milliseconds after which no further round begins. */
const longest = 300_000;
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

type Work = () => Promise<unknown>;

type Times = ReadonlyMap<string, number[]>;
/** The work of one hash, measured among the requests. */
const reference = 'one hash';

/**
 * Sends the requests interleaved and compares their times. In the short form only the fastest sample of each counts. With each
 * further sample it gets closer to the time of the work, however busy the machine is. So it continues for a while if the
 * times differ. A difference of a hash becomes clearer with more samples.
 * @param stored a hash of the kind that the short form detects; by default of the current one
 */
export async function expectAlike(kinds: Readonly<Record<string, Work>>, stored?: string): Promise<void> {
  const hasher = createPasswordHasher();
  const hash = () => hasher.verify(stored, '');
  const works = { ...kinds, ...(isLong ? {} : { [reference]: hash }) };
  const times: Times = new Map(Object.keys(works).map((kind) => [kind, []]));
  // The first request of each kind prepares statements and opens connections.
  for (const work of Object.values(works)) for (let warm = 0; warm < 10; warm += 1) await work();
  const until = performance.now() + longest;
  for (let round = 0; round < rounds && performance.now() < until; round += 1) {
    for (let sample = 0; sample < samples; sample += 1) {
      for (const [kind, work] of shuffled(Object.entries(works))) {
        const start = performance.now();
        await work();
        times.get(kind)?.push(performance.now() - start);
      }
    }
    if (differences(times).length === 0) break;
  }
  expect(differences(times)).toEqual([]);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

/** The kinds that took longer than the fastest one by more than the bound: 10 %, or a little less than a hash if that is more. */
function differences(times: Times): string[] {
  const hash = times.get(reference);
  const milliseconds = hash === undefined ? 5 : 0.9 * quantile(hash, 0);
  return quantiles.flatMap((part) => {
    const figures = [...times].flatMap(([kind, values]) =>
      kind === reference ? [] : [{ kind, time: quantile(values, part) }],
    );
    const least = Math.min(...figures.map(({ time }) => time));
    const most = least + Math.max(milliseconds, least * 0.1);
    return figures
      .filter(({ time }) => time > most)
      .map(({ kind }) => `${kind}, quantile ${part}: more than ${milliseconds} ms: ${JSON.stringify(figures)}`);
  });
}
