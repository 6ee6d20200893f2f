import { expect } from 'vitest';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { startTestApp, type TestApp } from './app.js';
import { fastHashes, realHashes } from './fast-hashes.js';
import { queriesOf } from './queries.js';

/**
 * Requests that fail or succeed for different reasons must take the same time. The short form compares their work: the hashes
 * and the statements. The long form measures, with the product's bound: over 300 interleaved samples, medians and tenth
 * percentiles within 10 % or 5 ms of each other.
 */
export const isLong = process.env.FAULTS === 'long';
const samples = 300;
const quantiles = [0.1, 0.5];

/** Settings of a service whose limits the many requests do not reach. It writes no log, which would take time. */
const manyRequests = {
  LOGIN_LIMIT_PER_ADDRESS: '0',
  CODE_LIMIT_PER_ADDRESS: '0',
  GUESS_LIMIT: '1000000',
  GUESS_LIMIT_PERMANENT: '0',
  LOG_LEVEL: 'silent',
};

type Request = () => Promise<unknown>;
type Hash = 'hash' | 'verify' | 'verify another scheme';

export interface ComparedApp extends TestApp {
  /**
   * Sends the requests, and compares their work or their times.
   * @param hashes the hashes of each request
   */
  expectAlike(kinds: Readonly<Record<string, Request>>, hashes: readonly Hash[]): Promise<void>;
}

/** A service whose hashes and statements are compared. Close it in `afterAll`. */
export async function startComparedApp(env: Readonly<Record<string, string>> = {}): Promise<ComparedApp> {
  const done: Hash[] = [];
  const note = <T>(hash: Hash, result: T): T => {
    done.push(hash);
    return result;
  };
  const recorded: HashThreads = {
    hash: (...call) => note('hash', fastHashes.hash(...call)),
    verify: (...call) => note('verify', fastHashes.verify(...call)),
    runInPool: (compute) => note('verify another scheme', fastHashes.runInPool(compute)),
  };
  const postern = await startTestApp({ ...manyRequests, ...env }, isLong ? realHashes : { hashThreads: recorded });

  /** The hashes and statements of a request, after one that prepares what later ones reuse. */
  async function workOf(request: Request) {
    await request();
    done.length = 0;
    const statements = await queriesOf(request);
    return { hashes: done.toSorted(), statements: statements.map(({ name, text }) => name ?? text) };
  }

  return {
    ...postern,
    async expectAlike(kinds, hashes) {
      if (isLong) return expectSameTimes(kinds);
      const works = [];
      for (const [kind, request] of Object.entries(kinds)) works.push({ kind, ...(await workOf(request)) });
      const [first] = works;
      expect(first?.statements.length).toBeGreaterThan(0);
      for (const work of works) expect(work).toEqual({ kind: work.kind, hashes, statements: first?.statements });
    },
  };
}

async function expectSameTimes(kinds: Readonly<Record<string, Request>>): Promise<void> {
  const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]));
  // The first request of each kind prepares statements and opens connections.
  for (const request of Object.values(kinds)) for (let warm = 0; warm < 10; warm += 1) await request();
  for (let sample = 0; sample < samples; sample += 1) {
    // Interleaved, so that other load of the machine affects all kinds equally.
    for (const [kind, request] of shuffled(Object.entries(kinds))) {
      const start = performance.now();
      await request();
      times.get(kind)?.push(performance.now() - start);
    }
  }
  for (const part of quantiles) {
    const figures = [...times].map(([kind, values]) => ({ kind, time: quantile(values, part) }));
    const least = Math.min(...figures.map(({ time }) => time));
    const most = least + Math.max(5, least * 0.1);
    expect(figures.filter(({ time }) => time > most).map((slow) => ({ part, slow, figures }))).toEqual([]);
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
