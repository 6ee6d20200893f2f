import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/app/base/log.js';
import type { WorkerEnd, WorkerProcess } from '../../../src/cli/workers/member.js';
import type { Environment } from '../../../src/cli/workers/messages.js';
import { startPool } from '../../../src/cli/workers/pool.js';

/** A worker without a process. The test says when it listens and when it ends. */
interface FakeWorker extends WorkerProcess {
  readonly environment: Environment;
  /** How the pool has asked it to end. */
  asked: 'stop' | 'retire' | undefined;
  listens(): void;
  /** It ends, on its own or because it was asked to. */
  ends(end?: Partial<WorkerEnd>): void;
  isRunning: boolean;
}

/** Longer than a worker must run to be replaced without a pause. */
const longLife = 60_000;
const url = 'http://127.0.0.1:8080';
const crash = { exitStatus: 'SIGKILL' };

function createDeferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((given) => {
    resolve = given;
  });
  return { promise, resolve };
}

function createFakes() {
  const workers: FakeWorker[] = [];
  function startWorker(environment: Environment): FakeWorker {
    const ready = createDeferred<string | undefined>();
    const ended = createDeferred<WorkerEnd>();
    const number = workers.length + 1;
    let wasReady = false;
    const worker: FakeWorker = {
      ...{ environment, worker: number, pid: 1000 + number, ready: ready.promise, ended: ended.promise },
      asked: undefined,
      isRunning: true,
      listens() {
        wasReady = true;
        ready.resolve(url);
      },
      ends(end = {}) {
        worker.isRunning = false;
        ready.resolve(undefined);
        const endRequested = worker.asked !== undefined;
        ended.resolve({
          ...{ wasReady, endRequested, lifetimeMs: longLife, reason: undefined, exitStatus: 'exit code 0' },
          ...end,
        });
      },
      async end(mode) {
        worker.asked = mode;
        const { exitStatus } = await ended.promise;
        return exitStatus !== 'SIGKILL';
      },
      readMetrics: async () => [
        { name: 'requests', help: '', type: 'counter', aggregator: 'sum', values: [{ labels: {}, value: number }] },
      ],
    };
    workers.push(worker);
    return worker;
  }
  return { workers, startWorker, running: () => workers.filter((worker) => worker.isRunning) };
}

/** A pool of two fake workers. `logged` are the messages of its log. */
function startTestPool() {
  const fakes = createFakes();
  const logged: string[] = [];
  /** How often an ended worker was about to be replaced. */
  let replacements = 0;
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line).msg) });
  const pool = startPool({
    ...{ size: 2, environment: { release: 'first' }, log, startWorker: fakes.startWorker },
    async waitUntilWorkerCanStart() {
      replacements += 1;
    },
  });
  /** Waits until the pool has started this number of workers since its own start. @returns the newest one */
  const started = async (count: number) => {
    await expect.poll(() => fakes.workers.length).toBe(count);
    return fakes.workers[count - 1] as FakeWorker;
  };
  const [one, two] = fakes.workers as [FakeWorker, FakeWorker];
  return { ...fakes, pool, logged, started, one, two, replacements: () => replacements };
}

/** A pool whose two workers listen. */
async function startReadyPool() {
  const test = startTestPool();
  test.one.listens();
  test.two.listens();
  expect(await test.pool.ready).toBe(url);
  return test;
}

const stateOf = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => 'resolved'), Promise.resolve('pending')]);

test('a pool is ready when all of its workers listen', async () => {
  const { pool, one, two } = startTestPool();
  one.listens();
  await one.ready;
  expect(await stateOf(pool.ready)).toBe('pending');
  two.listens();
  expect(await pool.ready).toBe(url);
});

describe('a worker that ends', () => {
  test('is replaced, and so is another one that ends at the same time', async () => {
    const { one, two, started, running, logged, workers } = await startReadyPool();
    one.ends(crash);
    await started(3);
    expect(two.asked).toBeUndefined();
    two.ends(crash);
    workers[2]?.ends(crash);
    await started(5);
    expect(running()).toHaveLength(2);
    expect(logged.filter((line) => line === 'a worker has ended unexpectedly')).toHaveLength(3);
  });

  test('with a reason before the pool was ready ends the pool at once', async () => {
    const { pool, one, workers } = startTestPool();
    one.ends({ reason: 'The port is in use.' });
    await expect(pool.failed).rejects.toThrow('The port is in use.');
    expect(workers).toHaveLength(2);
  });

  test('with a reason later is replaced, because the reason may be temporary', async () => {
    const { pool, one, started } = await startReadyPool();
    one.ends(crash);
    (await started(3)).ends({ reason: 'The database does not answer.' });
    (await started(4)).listens();
    expect(await stateOf(pool.failed)).toBe('pending');
  });

  test.each(['all workers', 'only new workers'])(
    'ends the pool with one message if %s end before they listen',
    async (which) => {
      const { pool, one, two, started, workers } = await startReadyPool();
      const last = { exitStatus: 'SIGSEGV' };
      one.ends(crash);
      if (which === 'all workers') two.ends(crash);
      // The first two had listened. Their successors end without having done so.
      const first = which === 'all workers' ? 4 : 3;
      await started(first);
      for (let ended = 1; ended < 5; ended += 1) {
        workers[ended + 1]?.ends(crash);
        await started(first + ended);
      }
      expect(await stateOf(pool.failed)).toBe('pending');
      workers[6]?.ends(last);
      await expect(pool.failed).rejects.toThrow(
        '5 workers in a row have ended before they were ready. The last one: SIGSEGV',
      );
      expect(workers).toHaveLength(first + 4);
    },
  );

  test('after one that listened counts as the first failure', async () => {
    const { pool, one, two, started, workers } = await startReadyPool();
    one.ends(crash);
    for (let ended = 1; ended < 5; ended += 1) (await started(2 + ended)).ends(crash);
    (await started(7)).listens();
    two.ends(crash);
    (await started(8)).ends(crash);
    await started(9);
    expect(await stateOf(pool.failed)).toBe('pending');
    expect(workers).toHaveLength(9);
  });
});

describe('a stop', () => {
  test('asks all workers to end, also one that starts, and starts no other one', async () => {
    const { pool, one, two, started, workers } = await startReadyPool();
    one.ends(crash);
    const starting = await started(3);
    const stopped = pool.stop();
    expect([two.asked, starting.asked]).toEqual(['stop', 'stop']);
    two.ends(crash);
    starting.ends();
    await expect(stopped).rejects.toThrow('Postern did not stop in time.');
    expect(workers).toHaveLength(3);
  });

  test('resolves when all workers have ended in time', async () => {
    const { pool, one, two } = await startReadyPool();
    const stopped = pool.stop();
    one.ends();
    expect(await stateOf(stopped)).toBe('pending');
    two.ends();
    await stopped;
  });
});

describe('a rolling restart', () => {
  test('retires each worker after its successor listens, which has the new environment', async () => {
    const { pool, one, two, started, logged, running } = await startReadyPool();
    const done = pool.restart({ release: 'second' });
    const third = await started(3);
    expect([one.asked, two.asked]).toEqual([undefined, undefined]);
    await pool.restart({ release: 'third' });
    third.listens();
    await expect.poll(() => one.asked).toBe('retire');
    one.ends();
    const fourth = await started(4);
    expect(two.asked).toBeUndefined();
    fourth.listens();
    await expect.poll(() => two.asked).toBe('retire');
    two.ends();
    await done;
    expect(running()).toEqual([third, fourth]);
    expect(running().map(({ environment }) => environment)).toEqual([{ release: 'second' }, { release: 'second' }]);
    expect(logged.filter((line) => line.startsWith('a rolling restart was ignored'))).toHaveLength(1);
    expect(logged.filter((line) => line === 'the rolling restart is done')).toHaveLength(1);
  });

  test('ends with as many workers as before if one dies meanwhile', async () => {
    const { pool, one, two, started, running, workers, replacements } = await startReadyPool();
    const done = pool.restart({ release: 'second' });
    const third = await started(3);
    // It still counts as a third worker, so it is not replaced now.
    two.ends(crash);
    await expect.poll(replacements).toBe(1);
    await new Promise(setImmediate);
    expect(workers).toHaveLength(3);
    third.listens();
    await expect.poll(() => one.asked).toBe('retire');
    const fourth = await started(4);
    one.ends();
    fourth.listens();
    await done;
    expect(running()).toEqual([third, fourth]);
  });

  test('is aborted if a successor does not listen', async () => {
    const { pool, one, two, started, logged } = await startReadyPool();
    const done = pool.restart({ release: 'second' });
    (await started(3)).ends({ reason: 'The database does not answer.' });
    await done;
    expect([one.asked, two.asked]).toEqual([undefined, undefined]);
    expect(logged).toContain('the rolling restart was aborted: a new worker did not become ready');
  });
});

test('the counts of a worker that has ended stay in the sums', async () => {
  const { pool, one, two, started } = await startReadyPool();
  const sum = async () => {
    const families = (await pool.readMetrics()).flat();
    return families.flatMap(({ values }) => values as { value: number }[]).reduce((all, { value }) => all + value, 0);
  };
  expect(await sum()).toBe(1 + 2);
  one.ends(crash);
  await started(3);
  expect(await sum()).toBe(1 + 2 + 3);
  two.ends(crash);
  await started(4);
  expect(await sum()).toBe(1 + 2 + 3 + 4);
});
