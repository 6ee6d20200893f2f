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
    if (differences(times, () => true).length === 0) return;
  }
  // On an overloaded machine not even the fastest samples are clear. Then only a difference of all samples counts.
  expect(differences(times, isLong ? () => true : areClearlyLonger)).toEqual([]);
}

/** The rank test of Mann and Whitney: five standard deviations do not happen by chance. */
function areClearlyLonger(some: readonly number[], others: readonly number[]): boolean {
  const sorted = [...some.map((time) => ({ time, one: 1 })), ...others.map((time) => ({ time, one: 0 }))].sort(
    (a, b) => a.time - b.time,
  );
  const ranks = sorted.reduce((sum, { one }, place) => sum + one * (place + 1), 0);
  const [n, m] = [some.length, others.length];
  const expected = (n * (n + m + 1)) / 2;
  return ranks - expected > 5 * Math.sqrt((n * m * (n + m + 1)) / 12);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

/**
 * The kinds that took longer than the fastest one by more than the bound: 10 %, or a little less than a hash if that is more.
 * @param isClear whether the samples of a kind are clear enough to say that they are longer than those of the fastest kind
 */
function differences(times: Times, isClear: (some: readonly number[], others: readonly number[]) => boolean): string[] {
  const hash = times.get(reference);
  const milliseconds = hash === undefined ? 5 : 0.9 * quantile(hash, 0);
  return quantiles.flatMap((part) => {
    const figures = [...times].flatMap(([kind, values]) =>
      kind === reference ? [] : [{ kind, time: quantile(values, part) }],
    );
    const [fastest] = figures.toSorted((a, b) => a.time - b.time);
    const { time: least, kind: fastestKind } = fastest ?? expect.unreachable('there is a kind');
    const most = least + Math.max(milliseconds, least * 0.1);
    return figures
      .filter(({ kind, time }) => time > most && isClear(times.get(kind) ?? [], times.get(fastestKind) ?? []))
      .map(({ kind }) => `${kind}, quantile ${part}: more than ${milliseconds} ms: ${JSON.stringify(figures)}`);
  });
}
