import { once } from 'node:events';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { hash } from '@node-rs/argon2';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createHashThreads, type HashThreads } from '../../../src/authentication/secrets/hash-threads.js';

/** The threads that were begun, with the hashes that each was sent; and why the next ones cannot begin. */
const { begun, refusal } = vi.hoisted(() => ({
  begun: [] as (Worker & { sent: number })[],
  refusal: { error: undefined as Error | undefined },
}));
vi.mock('node:worker_threads', async (original) => {
  const threads = await original<typeof import('node:worker_threads')>();
  class Noticed extends threads.Worker {
    sent = 0;
    constructor(source: string, options: WorkerOptions) {
      if (refusal.error !== undefined) throw refusal.error;
      super(source, options);
      begun.push(this);
    }
    override postMessage(message: unknown) {
      this.sent += 1;
      super.postMessage(message);
    }
  }
  return { ...threads, Worker: Noticed };
});

const parameters = { algorithm: 2, memoryCost: 1024, timeCost: 2, parallelism: 1 } as const;
let stored: string;
beforeAll(async () => {
  stored = await hash('right', parameters);
});
afterEach(async () => {
  refusal.error = undefined;
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await Promise.all(begun.splice(0).map((worker) => worker.terminate()));
});

const passwords = Array.from({ length: 12 }, (_, nth) => (nth % 3 === 0 ? 'right' : `wrong ${nth}`));
const verdicts = passwords.map((password) => password === 'right');
const together = (threads: HashThreads) => Promise.all(passwords.map((password) => threads.verify(stored, password)));

/** Has so many threads begin, which happens one by one while hashes come together. */
async function warm(threads: HashThreads, count: number): Promise<void> {
  const until = performance.now() + 20_000;
  while (begun.length < count || begun.some(({ sent }) => sent === 0)) {
    expect(await together(threads)).toEqual(verdicts);
    expect(performance.now()).toBeLessThan(until);
  }
}

test('hashes that come together are made and verified by as many threads as there may be', async () => {
  const threads = createHashThreads({ count: 2 });
  await warm(threads, 2);
  const before = begun.map(({ sent }) => sent);
  expect(await together(threads)).toEqual(verdicts);
  expect(begun).toHaveLength(2);
  // Two seats each, which are all taken; the others have gone to the pool.
  expect(begun.map(({ sent }, nth) => sent - (before[nth] ?? 0))).toEqual([2, 2]);
  const made = await Promise.all(['a', 'b', 'c'].map((password) => threads.hash(password, parameters)));
  expect(new Set(made).size).toBe(3);
  for (const text of made) expect(text).toMatch(/^\$argon2id\$v=19\$m=1024,t=2,p=1\$/);
  const checks = made.flatMap((text) => ['a', 'b', 'c'].map((password) => threads.verify(text, password)));
  expect(await Promise.all(checks)).toEqual([true, false, false, false, true, false, false, false, true]);
});

test('a hash that cannot be read fails alone', async () => {
  const threads = createHashThreads({ count: 1 });
  await warm(threads, 1);
  const results = await Promise.allSettled([stored, 'no hash'].map((text) => threads.verify(text, 'right')));
  expect(results).toMatchObject([{ value: true }, { reason: expect.any(Error) }]);
  expect(await threads.verify(stored, 'right')).toBe(true);
});

test('hashes of a thread that is lost are made in the pool', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 1, onLost });
  await warm(threads, 1);
  const [worker] = begun;
  const before = worker?.sent ?? 0;
  const open = together(threads);
  expect(worker?.sent).toBe(before + 2);
  await worker?.terminate();
  expect(await open).toEqual(verdicts);
  // For some time there is no other.
  expect(await together(threads)).toEqual(verdicts);
  expect(begun).toHaveLength(1);
  expect(onLost).toHaveBeenCalledOnce();
});

test('a thread that gets ready does not end the pause after another was lost', async () => {
  const threads = createHashThreads({ count: 2 });
  for (let open = together(threads); begun.length < 2; open = together(threads)) await open;
  const [first, second] = begun;
  await first?.terminate();
  while (second?.sent === 0) await together(threads);
  expect(await together(threads)).toEqual(verdicts);
  expect(begun).toHaveLength(2);
});

test('a thread does not end while it hashes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const threads = createHashThreads({ count: 1 });
  await warm(threads, 1);
  const open = [threads.verify(stored, 'right'), threads.verify(stored, 'wrong')];
  vi.advanceTimersByTime(10_000);
  expect(await Promise.all(open)).toEqual([true, false]);
});

test('a thread that fails is lost, and nothing else', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 1, onLost, pauseFor: 100 });
  await warm(threads, 1);
  const open = together(threads);
  const failure = new Error('out of memory');
  begun[0]?.emit('error', failure);
  expect(await open).toEqual(verdicts);
  expect(onLost.mock.calls).toEqual([[failure]]);
  // After a while there is another.
  await warm(threads, 2);
});

test('where no thread can begin, the pool makes all hashes, and few more are tried', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 4, onLost });
  refusal.error = new Error('EAGAIN');
  for (let round = 0; round < 3; round += 1) expect(await together(threads)).toEqual(verdicts);
  expect(onLost.mock.calls).toEqual([[refusal.error]]);
});

test('where a thread ends before it is ready, the pool makes all hashes', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 4, onLost });
  const open = together(threads);
  await begun[0]?.terminate();
  expect(await open).toEqual(verdicts);
  expect(await together(threads)).toEqual(verdicts);
  expect(onLost).toHaveBeenCalledOnce();
  expect(begun).toHaveLength(1);
});

test('no thread is left when there is nothing to do for a while, and that is no loss', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 2, idleFor: 20, onLost });
  const first = together(threads);
  const [worker] = begun;
  await Promise.all([first, worker && once(worker, 'exit')]);
  expect(await together(threads)).toEqual(verdicts);
  expect(begun.length).toBeGreaterThan(1);
  expect(onLost).not.toHaveBeenCalled();
});

test('a thread keeps the process from ending while it hashes, and only then', async () => {
  const held = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const threads = createHashThreads({ count: 1 });
  const before = held();
  await warm(threads, 1);
  expect(held()).toBe(before);
  const open = [threads.verify(stored, 'right'), threads.verify(stored, 'right')];
  expect(held()).toBe(before + 1);
  await Promise.all(open);
  expect(held()).toBe(before);
});

test('a thread begins as well beside a hash that only the pool can make, whichever comes first', async () => {
  const argon2 = (threads: HashThreads) => threads.verify(stored, 'right');
  const other = (threads: HashThreads) => threads.inPool(() => hash('other', parameters));
  for (const pair of [
    [argon2, other],
    [other, argon2],
    [argon2, argon2],
  ]) {
    const threads = createHashThreads({ count: 1 });
    const already = begun.length;
    await Promise.all(pair.map((make) => make(threads)));
    expect(begun).toHaveLength(already + 1);
  }
});

test('what is loaded into the process first is not loaded into its threads', async () => {
  vi.stubEnv('NODE_OPTIONS', '--require /nothing/here.cjs');
  const onLost = vi.fn();
  await warm(createHashThreads({ count: 1, onLost }), 1);
  expect(onLost).not.toHaveBeenCalled();
});

test('no more hashes than run at a time need no thread, neither a new one nor one that is idle', async () => {
  const threads = createHashThreads({ count: 2 });
  const pair = () => Promise.all([threads.verify(stored, 'right'), threads.hash('right', parameters)]);
  await pair();
  expect(begun).toEqual([]);
  await warm(threads, 2);
  const before = begun.map(({ sent }) => sent);
  expect(await pair()).toEqual([true, expect.stringMatching(/^\$argon2id\$/)]);
  expect(begun.map(({ sent }) => sent)).toEqual(before);
});
