import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Queue, startQueue } from '../../src/delivery/queue.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startFaultyProxy } from '../support/fault-injection/proxy.js';
import { testSql } from '../support/sql.js';

let own: TestDatabase;
let queue: Queue | undefined;
beforeAll(async () => {
  own = await createTestDatabase();
});
afterAll(async () => {
  await queue?.stop();
  await own.drop();
});

test('a group of jobs whose tasks cannot be read at the start takes jobs after the tasks can be read', async () => {
  const { database, target } = own;
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_fields: object, message: string) => void warnings.push(message) };
  const done: unknown[] = [];
  const tasks = { 'test.job': async (payload: unknown) => void done.push(payload) };

  await database.query(testSql('alter table graphile_worker._private_tasks rename to _private_tasks_away'));
  queue = await startQueue({ target, log, groups: [{ tasks, concurrency: 2 }], connections: 2 });
  await eventually('a look-up that failed', async () => warnings.find((line) => line.includes('cannot fetch jobs')));
  await database.query(testSql('alter table graphile_worker._private_tasks_away rename to _private_tasks'));

  await database.query(testSql(`select graphile_worker.add_job('test.job', '{"is":"done"}')`));
  await eventually('the job', async () => done[0]);
  expect(done).toEqual([{ is: 'done' }]);
});

test('a job runs even if the answer that gave it to a worker was lost', async () => {
  const { database, target } = own;
  const { host, port } = target;
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  const done: unknown[] = [];
  const started = await startQueue({
    target: { ...target, host: '127.0.0.1', port: proxy.port },
    log: { info: () => undefined, warn: () => undefined },
    groups: [{ tasks: { 'test.answer': async (payload: unknown) => void done.push(payload) }, concurrency: 1 }],
    connections: 1,
  });
  onTestFinished(() => started.stop());
  await database.query(testSql(`select graphile_worker.add_job('test.answer', '{"nth":1}')`));
  await eventually('the first job', async () => done[0]);

  const lost = proxy.loseAnswer('"nth":2');
  await database.query(testSql(`select graphile_worker.add_job('test.answer', '{"nth":2}')`));
  await lost;
  expect(done).toEqual([{ nth: 1 }]);
  await eventually('the second job', async () => done[1]);
  expect(done).toEqual([{ nth: 1 }, { nth: 2 }]);
});

test('jobs run again although several ended at different times while the database was away', async () => {
  const { database, target } = own;
  const { host, port } = target;
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  const ends = new Map<number, () => void>();
  let runs = 0;
  const run = ({ nth }: { nth: number }) => {
    runs += 1;
    return new Promise<void>((resolve) => ends.set(nth, resolve));
  };
  const lost: string[] = [];
  const log = { info: () => undefined, warn: (_fields: object, message: string) => void lost.push(message) };
  const started = await startQueue({
    target: { ...target, host: '127.0.0.1', port: proxy.port },
    log,
    groups: [{ tasks: { 'test.away': (job) => run(job as { nth: number }) }, concurrency: 4 }],
    connections: 4,
  });
  onTestFinished(() => started.stop());
  await database.query(
    testSql(
      `select graphile_worker.add_job('test.away', json_build_object('nth', nth)) from generate_series(1, 4) nth`,
    ),
  );
  await eventually('all jobs', async () => (ends.size === 4 ? true : undefined));

  proxy.down();
  const failures = () => lost.filter((message) => message.startsWith('Failed to complete jobs')).length;
  for (const [count, end] of [...ends.values()].entries()) {
    end();
    await expect.poll(failures).toBe(count + 1);
  }
  await proxy.up();
  await eventually('the repetition of the jobs', async () => (runs >= 8 ? true : undefined));
  for (const end of ends.values()) end();
  await eventually('their end', async () => {
    const left = await database.query(testSql(`select from graphile_worker.jobs where task_identifier = 'test.away'`));
    return left.length === 0 || undefined;
  });
});

test('a job of a task that no running instance knows waits unchanged for an instance of a newer release', async () => {
  const { database, target } = own;
  const log = { info: () => undefined, warn: () => undefined };
  const done: string[] = [];
  const start = (name: string) => {
    const group = { tasks: { [name]: async () => void done.push(name) }, concurrency: 1 };
    return startQueue({ target, log, groups: [group], connections: 1 });
  };
  const older = await start('test.known');
  onTestFinished(() => older.stop());
  await database.query(
    testSql("select graphile_worker.add_job(name) from unnest(array['test.unknown', 'test.known']) as name"),
  );
  await eventually('the known job', async () => done[0]);
  const unknown = testSql(
    `select attempts, locked_by, last_error from graphile_worker.jobs where task_identifier = 'test.unknown'`,
  );
  expect(await database.query(unknown)).toEqual([{ attempts: 0, locked_by: null, last_error: null }]);

  const newer = await start('test.unknown');
  onTestFinished(() => newer.stop());
  await eventually('the other job', async () => done[1]);
  expect(done).toEqual(['test.known', 'test.unknown']);
});

test('a worker without a connection for a moment goes on: nothing was sent that could have locked a job', async () => {
  const { database } = own;
  const done: unknown[] = [];
  const logged: string[] = [];
  /** Whether workers get no connection. No connection that exists breaks, so no look-up that runs can have locked a job. */
  let isAway = false;
  const failures: unknown[] = [];
  const { connect } = pg.Pool.prototype;
  const spy = vi.spyOn(pg.Pool.prototype, 'connect').mockImplementation(function (this: pg.Pool, ...args: unknown[]) {
    // Workers get a promise, the listener gives a callback.
    if (!isAway || args.length > 0) return Reflect.apply(connect, this, args) as never;
    const failure = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    failures.push(failure);
    return Promise.reject(failure) as never;
  });
  onTestFinished(() => spy.mockRestore());
  await startThroughProxy(async (job) => void done.push(job), 'test.moment', logged);
  await database.query(testSql(`select graphile_worker.add_job('test.moment', '{"nth":1}')`));
  await eventually('the first job', async () => done[0]);
  // Its end needs a connection too.
  await eventually('the end of the first job', async () => {
    const [job] = await database.query(testSql('select from graphile_worker._private_jobs'));
    return job === undefined || undefined;
  });
  isAway = true;
  await eventually('a look-up without a connection', async () => failures[0]);
  isAway = false;
  await database.query(testSql(`select graphile_worker.add_job('test.moment', '{"nth":2}')`));
  await eventually('the second job', async () => done[1]);
  expect(logged.filter((message) => message.startsWith('the queue'))).toEqual([]);
});

/** A queue that reaches the database through a proxy. */
async function startThroughProxy(task: (payload: unknown) => Promise<void>, name: string, logged: string[] = []) {
  const { target } = own;
  const { host, port } = target;
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  const started = await startQueue({
    target: { ...target, host: '127.0.0.1', port: proxy.port },
    log: { info: () => undefined, warn: (_fields, message) => void logged.push(message) },
    groups: [{ tasks: { [name]: task }, concurrency: 1 }],
    connections: 1,
    nameTimes: { searchMs: 200, sessionMs: 1000 },
  });
  onTestFinished(() => started.stop());
  return proxy;
}

test('a job runs again after its connection has vanished without an end, although the server keeps the session', async () => {
  const { database } = own;
  const ends: (() => void)[] = [];
  const proxy = await startThroughProxy(() => new Promise((resolve) => void ends.push(resolve)), 'test.vanished');
  await database.query(testSql("select graphile_worker.add_job('test.vanished')"));
  const end = await eventually('the job', async () => ends[0]);

  proxy.strand();
  end();
  const endAgain = await eventually('the job again', async () => ends[1]);
  endAgain();
  await eventually('its end', async () => {
    const left = await database.query(
      testSql(`select from graphile_worker.jobs where task_identifier = 'test.vanished'`),
    );
    return left.length === 0 || undefined;
  });
});

test('another instance takes the jobs of an instance whose machine has vanished', async () => {
  const { database, target } = own;
  const lost: unknown[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const proxy = await startThroughProxy(async (job) => {
    lost.push(job);
    await ended;
  }, 'test.machine');
  onTestFinished(async () => {
    // Otherwise the stop of the queue waits for the job and for its connections.
    end();
    await proxy.close();
  });
  await database.query(testSql(`select graphile_worker.add_job('test.machine', '{"is":"taken"}')`));
  await eventually('the job', async () => lost[0]);

  proxy.hang();
  const done: unknown[] = [];
  const healthy = await startQueue({
    target,
    log: { info: () => undefined, warn: () => undefined },
    groups: [{ tasks: { 'test.machine': async (job) => void done.push(job) }, concurrency: 1 }],
    connections: 1,
    nameTimes: { searchMs: 200, sessionMs: 1000 },
  });
  onTestFinished(() => healthy.stop());
  await eventually('the job on the other instance', async () => done[0]);
  expect(done).toEqual([{ is: 'taken' }]);
});

test('a queue that stops while the connection of its listener breaks does not end the process', async () => {
  const rejected = vi.fn();
  process.on('unhandledRejection', rejected);
  onTestFinished(() => void process.off('unhandledRejection', rejected));
  const { query } = pg.Client.prototype;
  let breakListener: (() => void) | undefined;
  const ends: unknown[] = [];
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
    const text = String(args[0]);
    if (text.startsWith('LISTEN')) {
      return new Promise((_, reject) => {
        breakListener = () => reject(new Error('the connection broke'));
      }) as never;
    }
    const result: unknown = Reflect.apply(query, this, args);
    if (text.startsWith('UNLISTEN')) ends.push(result);
    return result as never;
  });
  onTestFinished(() => spy.mockRestore());
  const log = { info: () => undefined, warn: () => undefined };
  const groups = [{ tasks: { 'test.none': async () => undefined }, concurrency: 1 }];
  const started = await startQueue({ target: own.target, log, groups, connections: 1 });
  const breakNow = await eventually('the listener', async () => breakListener);

  const stopped = started.stop();
  await expect.poll(() => ends).toHaveLength(1);
  await Promise.allSettled(ends);
  breakNow();
  await expect.poll(() => ends).toHaveLength(2);
  await Promise.allSettled(ends);
  await stopped;
  expect(rejected).not.toHaveBeenCalled();
});

test('a clock that is set by years does not keep the queue busy', async () => {
  const { database, target } = own;
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  // Each look at the clock finds it 400 days ahead, and then 400 days behind.
  const now = Date.now.bind(Date);
  const Real = Date;
  let looks = 0;
  const shifted = () => now() + (looks++ % 2 === 0 ? 1 : -1) * 400 * 86_400_000;
  vi.stubGlobal(
    'Date',
    class extends Real {
      constructor(...values: [] | [number]) {
        super(values.length === 0 ? shifted() : values[0]);
      }
      static override now = shifted;
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  const done: unknown[] = [];
  const started = await startQueue({
    target,
    log: { info: () => undefined, warn: () => undefined },
    groups: [{ tasks: { 'test.clock': async (payload) => void done.push(payload) }, concurrency: 1 }],
    connections: 1,
  });
  onTestFinished(() => started.stop());
  for (let count = 1; count <= 5; count += 1) {
    await database.query(testSql(`select graphile_worker.add_job('test.clock', '{}')`));
    await expect.poll(() => done).toHaveLength(count);
  }
  expect(warnings).not.toContain('TimeoutOverflowWarning');
});

test('a queue that has stopped keeps no memory of its tasks', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  // Not in the function below, whose variables it would keep.
  const log = { info: () => undefined, warn: () => undefined };
  async function startAndStop(): Promise<WeakRef<object>> {
    const kept = { of: 'the service' };
    const tasks = { 'test.kept': async () => void kept.of };
    const done = await startQueue({
      ...{ target: own.target, log },
      groups: [{ tasks, concurrency: 1 }],
      connections: 1,
    });
    await done.stop();
    return new WeakRef(kept);
  }
  const kept = await startAndStop();
  await eventually('the memory to be free', async () => {
    // The library has a timer of five seconds, and each collection takes longer than other looks.
    await pause(500);
    collectGarbage();
    return kept.deref() === undefined ? true : undefined;
  });
});
