import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { openClient } from '../database/connections/open-client.js';
import type { DatabaseTarget } from '../database/connections/target.js';
import { bound, compose, type Statement, sql } from '../database/sql.js';

/**
 * The names that lock the jobs of this process. graphile-worker keeps the jobs of a killed process locked for four hours.
 * So each process holds an advisory lock for each of its names, and every process frees the jobs whose name has no such
 * lock.
 */
export interface WorkerNames {
  lock(name: string): void;
  /** Frees the jobs of the name at once. */
  unlock(name: string): void;
  end(): Promise<void>;
}

/** Milliseconds between two searches for jobs of killed processes. */
const searchIntervalMs = 30_000;

const lockName = (name: string) => compose(sql`select pg_advisory_lock_shared(hashtextextended(${bound(name)}, 0))`);
const unlockName = (name: string) =>
  compose(sql`select pg_advisory_unlock_shared(hashtextextended(${bound(name)}, 0))`);

/**
 * Frees the jobs of processes that were killed. It tests each name by trying its lock, until the end of the transaction.
 * A database session can always take a lock that it holds already, so the search skips its own names.
 */
const freeJobs = (ownNames: readonly string[]) =>
  compose(
    sql`
      with locked as materialized (
        select distinct locked_by as name from graphile_worker.jobs where locked_by <> all (${bound(ownNames)}::text[])),
      dead as materialized (
        select name from locked where pg_try_advisory_xact_lock(hashtextextended(name, 0)))
      select graphile_worker.force_unlock_workers(array_agg(name)) from dead having count(*) > 0`,
  );

/**
 * Frees jobs of killed processes, at once and every 30 s. If the connection that holds the locks is replaced, locks the
 * names again.
 */
export async function keepWorkerNames(
  target: DatabaseTarget,
  log: { warn(fields: object, message: string): void },
): Promise<WorkerNames> {
  const names = new Set<string>();
  let ending = false;
  let { client, ended } = await connect(target);
  let last: Promise<unknown> = Promise.resolve();
  /** Runs queries one after the other, since they share one connection. */
  const query = ({ text, values }: Statement): Promise<unknown> => {
    const result = last.then(() => client.query(text, [...values]));
    last = result.catch(() => undefined);
    return result;
  };
  const freeJobsOfDeadProcesses = () => query(freeJobs([...names]));
  // A connection that does not answer counts as broken.
  const disconnect = () => client.end().catch(() => undefined);
  await freeJobsOfDeadProcesses();

  const reconnecting = (async () => {
    for (let failures = 0; ; failures += 1) {
      await ended;
      if (ending) return;
      await wait(Math.min(5000, 100 * 2 ** failures), undefined, { ref: false });
      try {
        ({ client, ended } = await connect(target));
        for (const name of names) await query(lockName(name));
        await freeJobsOfDeadProcesses();
        failures = 0;
        if (ending) await disconnect();
      } catch (error) {
        log.warn({ err: error }, "the connection that holds the locks of the queue's worker names is down");
        void disconnect();
      }
    }
  })();
  const timer = setInterval(() => void freeJobsOfDeadProcesses().catch(disconnect), searchIntervalMs).unref();

  return {
    lock(name) {
      names.add(name);
      query(lockName(name)).catch(disconnect);
    },
    unlock(name) {
      names.delete(name);
      query(unlockName(name)).then(freeJobsOfDeadProcesses).catch(disconnect);
    },
    async end() {
      ending = true;
      clearInterval(timer);
      await disconnect();
      await reconnecting;
    },
  };
}

async function connect(target: DatabaseTarget): Promise<{ client: pg.Client; ended: Promise<void> }> {
  let closing = Promise.resolve();
  const client = await openClient(target, {
    application_name: 'postern queue names',
    connectionTimeoutMillis: 3000,
    query_timeout: 5500,
    keepAlive: true,
    prepare: (opening) => {
      closing = new Promise((resolve) => opening.once('end', () => resolve()));
    },
  });
  return { client, ended: closing };
}
