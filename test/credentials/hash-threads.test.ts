import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { hash } from '@node-rs/argon2';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createHashThreads, type HashThreads } from '../../src/credentials/hash-threads.js';

/** The threads that were started, each with the number of hashes sent to it. `startError`: the error when the next one starts. */
const { started, startError } = vi.hoisted(() => {
  // Test files share their modules, and this one needs modules with another Worker.
  vi.resetModules();
  return {
    started: [] as (Worker & { sent: number })[],
    startError: { error: undefined as Error | undefined },
  };
});
afterAll(() => void vi.resetModules());
vi.mock('node:worker_threads', async (original) => {
  const threads = await original<typeof import('node:worker_threads')>();
  class CountingWorker extends threads.Worker {
    sent = 0;
    constructor(source: string, options: WorkerOptions) {
      if (startError.error !== undefined) throw startError.error;
      super(source, options);
      started.push(this);
    }
    override postMessage(message: unknown) {
      this.sent += 1;
      super.postMessage(message);
    }
  }
  return { ...threads, Worker: CountingWorker };
});

const parameters = { algorithm: 2, memoryCost: 1024, timeCost: 2, parallelism: 1 } as const;
let stored: string;
beforeAll(async () => {
  stored = await hash('right', parameters);
});
afterEach(async () => {
  startError.error = undefined;
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await Promise.all(started.splice(0).map((worker) => worker.terminate()));
});

const passwords = Array.from({ length: 12 }, (_, nth) => (nth % 3 === 0 ? 'right' : `wrong ${nth}`));
const verdicts = passwords.map((password) => password === 'right');
const verifyAll = (threads: HashThreads) => Promise.all(passwords.map((password) => threads.verify(stored, password)));

/** Starts this many threads. They start one by one while many hashes are requested. */
async function startThreads(threads: HashThreads, count: number): Promise<void> {
  const until = performance.now() + 120_000;
  while (started.length < count || started.some(({ sent }) => sent === 0)) {
    expect(await verifyAll(threads)).toEqual(verdicts);
    expect(performance.now()).toBeLessThan(until);
  }
}

test('many hashes at once use up to the maximum number of threads', async () => {
  const threads = createHashThreads({ count: 2 });
  await startThreads(threads, 2);
  const before = started.map(({ sent }) => sent);
  expect(await verifyAll(threads)).toEqual(verdicts);
  expect(started).toHaveLength(2);
  // Two hashes for each thread. The others ran in the pool.
  expect(started.map(({ sent }, nth) => sent - (before[nth] ?? 0))).toEqual([2, 2]);
  const hashes = await Promise.all(['a', 'b', 'c'].map((password) => threads.hash(password, parameters)));
  expect(new Set(hashes).size).toBe(3);
  for (const text of hashes) expect(text).toMatch(/^\$argon2id\$v=19\$m=1024,t=2,p=1\$/);
  const checks = hashes.flatMap((text) => ['a', 'b', 'c'].map((password) => threads.verify(text, password)));
  expect(await Promise.all(checks)).toEqual([true, false, false, false, true, false, false, false, true]);
});

test('an unreadable hash does not affect other hashes', async () => {
  const threads = createHashThreads({ count: 1 });
  await startThreads(threads, 1);
  const results = await Promise.allSettled([stored, 'no hash'].map((text) => threads.verify(text, 'right')));
  expect(results).toMatchObject([{ value: true }, { reason: expect.any(Error) }]);
  expect(await threads.verify(stored, 'right')).toBe(true);
});

// On other systems, the priority would be that of the whole process.
test.runIf(process.platform === 'linux')('a thread has a lower priority than the rest of the process', async () => {
  const own = getPriority();
  const threadIds = () => readdirSync('/proc/self/task');
  // Tests of other files in this process may have threads, too.
  const before = new Set(threadIds());
  await startThreads(createHashThreads({ count: 2 }), 2);
  const priorities = threadIds().flatMap((id) => (before.has(id) ? [] : getPriority(Number(id)) - own));
  expect(priorities.filter((priority) => priority > 0)).toEqual([10, 10]);
});

test('hashes of a lost thread run in the pool', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 1, onLost });
  await startThreads(threads, 1);
  const [worker] = started;
  const before = worker?.sent ?? 0;
  const open = verifyAll(threads);
  expect(worker?.sent).toBe(before + 2);
  await worker?.terminate();
  expect(await open).toEqual(verdicts);
  // No new thread starts before the restart delay is over.
  expect(await verifyAll(threads)).toEqual(verdicts);
  expect(started).toHaveLength(1);
  expect(onLost).toHaveBeenCalledOnce();
});

test('no thread starts after another was lost, even if a starting one becomes ready', async () => {
  const threads = createHashThreads({ count: 2 });
  for (let open = verifyAll(threads); started.length < 2; open = verifyAll(threads)) await open;
  const [first, second] = started;
  await first?.terminate();
  while (second?.sent === 0) await verifyAll(threads);
  expect(await verifyAll(threads)).toEqual(verdicts);
  expect(started).toHaveLength(2);
});

test('a thread does not end while it hashes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const threads = createHashThreads({ count: 1 });
  await startThreads(threads, 1);
  const open = [threads.verify(stored, 'right'), threads.verify(stored, 'wrong')];
  vi.advanceTimersByTime(10_000);
  expect(await Promise.all(open)).toEqual([true, false]);
});

test('a failing thread is lost, and its hashes still complete', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 1, onLost, restartDelayMs: 100 });
  await startThreads(threads, 1);
  const open = verifyAll(threads);
  const failure = new Error('out of memory');
  started[0]?.emit('error', failure);
  expect(await open).toEqual(verdicts);
  expect(onLost.mock.calls).toEqual([[failure]]);
  // Another one starts after a while.
  await startThreads(threads, 2);
});

test('if no thread can start, all hashes run in the pool, and no second start is attempted', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 4, onLost });
  startError.error = new Error('EAGAIN');
  for (let round = 0; round < 3; round += 1) expect(await verifyAll(threads)).toEqual(verdicts);
  expect(onLost.mock.calls).toEqual([[startError.error]]);
});

test('if a thread ends before it is ready, all hashes run in the pool', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 4, onLost });
  const open = verifyAll(threads);
  await started[0]?.terminate();
  expect(await open).toEqual(verdicts);
  expect(await verifyAll(threads)).toEqual(verdicts);
  expect(onLost).toHaveBeenCalledOnce();
  expect(started).toHaveLength(1);
});

test('idle threads end after a while, and this is not reported as a loss', async () => {
  const onLost = vi.fn();
  const threads = createHashThreads({ count: 2, idleTimeoutMs: 20, onLost });
  const first = verifyAll(threads);
  const [worker] = started;
  await Promise.all([first, worker && once(worker, 'exit')]);
  expect(await verifyAll(threads)).toEqual(verdicts);
  expect(started.length).toBeGreaterThan(1);
  expect(onLost).not.toHaveBeenCalled();
});

test('a thread keeps the process alive only while it hashes', async () => {
  const countPorts = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const threads = createHashThreads({ count: 1 });
  const before = countPorts();
  await startThreads(threads, 1);
  expect(countPorts()).toBe(before);
  const open = [threads.verify(stored, 'right'), threads.verify(stored, 'right')];
  expect(countPorts()).toBe(before + 1);
  await Promise.all(open);
  expect(countPorts()).toBe(before);
});

test('a thread starts also while the pool computes an imported hash, whichever was requested first', async () => {
  const argon2 = (threads: HashThreads) => threads.verify(stored, 'right');
  const other = (threads: HashThreads) => threads.runInPool(() => hash('other', parameters));
  for (const pair of [
    [argon2, other],
    [other, argon2],
    [argon2, argon2],
  ]) {
    const threads = createHashThreads({ count: 1 });
    const startedBefore = started.length;
    await Promise.all(pair.map((requestHash) => requestHash(threads)));
    expect(started).toHaveLength(startedBefore + 1);
  }
});

test('preloaded modules of the process are not loaded into threads', async () => {
  vi.stubEnv('NODE_OPTIONS', '--require /nothing/here.cjs');
  const onLost = vi.fn();
  await startThreads(createHashThreads({ count: 1, onLost }), 1);
  expect(onLost).not.toHaveBeenCalled();
});

test('hashes use threads only if more hashes are requested than run at a time', async () => {
  const threads = createHashThreads({ count: 2 });
  const pair = () => Promise.all([threads.verify(stored, 'right'), threads.hash('right', parameters)]);
  await pair();
  expect(started).toEqual([]);
  await startThreads(threads, 2);
  const before = started.map(({ sent }) => sent);
  expect(await pair()).toEqual([true, expect.stringMatching(/^\$argon2id\$/)]);
  expect(started.map(({ sent }) => sent)).toEqual(before);
});
