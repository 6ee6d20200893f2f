import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { hash } from '@node-rs/argon2';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHashThreads } from '../../../src/authentication/secrets/hash-threads.js';

const parameters = { algorithm: 2, memoryCost: 1024, timeCost: 2, parallelism: 1 } as const;
let stored: string;
beforeAll(async () => {
  stored = await hash('right', parameters);
});

/** Those that are begun in a test: each is told of in the next turn. */
let begun: Worker[] = [];
const notice = (worker: Worker) => void begun.push(worker);
beforeEach(() => {
  begun = [];
  process.on('worker', notice);
});
afterEach(() => void process.off('worker', notice));

describe('hashes that come together', () => {
  test('are made and verified by as many threads as there may be, each its own', async () => {
    const threads = createHashThreads({ count: 2, idleFor: 0 });
    const passwords = Array.from({ length: 40 }, (_, nth) => (nth % 3 === 0 ? 'right' : `wrong ${nth}`));
    const verdicts = await Promise.all(passwords.map((password) => threads.verify(stored, password)));
    expect(verdicts).toEqual(passwords.map((password) => password === 'right'));
    expect(begun).toHaveLength(2);
    const made = await Promise.all(['a', 'b', 'c'].map((password) => threads.hash(password, parameters)));
    expect(new Set(made).size).toBe(3);
    const checks = made.flatMap((text) => ['a', 'b', 'c'].map((password) => threads.verify(text, password)));
    expect(await Promise.all(checks)).toEqual([true, false, false, false, true, false, false, false, true]);
  });

  test('fail alone where one cannot be read', async () => {
    const threads = createHashThreads({ count: 1, idleFor: 0 });
    const results = await Promise.allSettled(
      [stored, 'no hash', stored, 'no hash'].map((text) => threads.verify(text, 'right')),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect(results[3]).toMatchObject({ reason: expect.any(Error) });
  });

  test('fail with their thread, and the next have another', async () => {
    const threads = createHashThreads({ count: 1 });
    const open = Promise.allSettled([1, 2, 3].map(() => threads.verify(stored, 'right')));
    await turn();
    await begun[0]?.terminate();
    expect((await open).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await Promise.all([1, 2, 3].map(() => threads.verify(stored, 'right')))).toEqual([true, true, true]);
    expect(begun).toHaveLength(2);
    await begun[1]?.terminate();
  });

  test('leave no thread behind when there is nothing to do for a while', async () => {
    const threads = createHashThreads({ count: 2, idleFor: 20 });
    const work = Promise.all([1, 2, 3].map(() => threads.verify(stored, 'right')));
    await turn();
    const ends = begun.map((worker) => once(worker, 'exit'));
    expect(ends).toHaveLength(2);
    await work;
    await Promise.all(ends);
    expect(await Promise.all([1, 2].map(() => threads.verify(stored, 'wrong')))).toEqual([false, false]);
    expect(begun).toHaveLength(3);
    await begun[2]?.terminate();
  });
});

test('a hash that comes alone needs no thread', async () => {
  const threads = createHashThreads({ count: 2 });
  expect(await threads.verify(stored, 'right')).toBe(true);
  expect(await threads.verify(await threads.hash('right', parameters), 'right')).toBe(true);
  expect(begun).toEqual([]);
});
