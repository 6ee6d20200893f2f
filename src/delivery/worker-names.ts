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

/** Milliseconds. */
export interface NameTimes {
  /** Between two searches for jobs of killed processes. */
  readonly searchMs: number;
  /**
   * How long the server keeps the session of a process that sends nothing, and so its locks. Longer than a search takes, even
   * if one search fails.
   */
  readonly sessionMs: number;
}

/** The jobs of a machine that has vanished are free after the sum of both. */
const defaultTimes: NameTimes = { searchMs: 8000, sessionMs: 20_000 };

/**
 * Milliseconds for which the names of ended workers are remembered. A statement of such a worker may still be on its way to
 * the server, and lock a job after the first search.
 */
const endedNamesMs = 60_000;

const lockName = (name: string) => compose(sql`select pg_advisory_lock_shared(hashtextextended(${bound(name)}, 0))`);
const unlockName = (name: string) =>
  compose(sql`select pg_advisory_unlock_shared(hashtextextended(${bound(name)}, 0))`);

/**
 * Frees the jobs of ended workers of this process, and of processes that were killed. It tests each name of others by trying
 * its lock, until the end of the transaction. A database session can always take a lock that it holds already, so the search
 * skips its own names. Names of ended workers need no test: the server may keep an abandoned session that has their locks.
 */
const freeJobs = (ownNames: readonly string[], endedNames: readonly string[]) =>
  compose(
    sql`
      with locked as materialized (
        select distinct locked_by as name from graphile_worker.jobs where locked_by <> all (${bound(ownNames)}::text[])),
      dead as materialized (
        select name from locked
        where case when name = any (${bound(endedNames)}::text[]) then true
              else pg_try_advisory_xact_lock(hashtextextended(name, 0)) end)
      select graphile_worker.force_unlock_workers(array_agg(name)) from dead having count(*) > 0`,
  );

/**
 * Frees jobs of killed processes, at once and every few seconds. If the connection that holds the locks is replaced, locks the
 * names again. The searches also keep the session: the server ends it if the process sends nothing, as when its machine
 * has vanished.
 */
export async function keepWorkerNames(
  target: DatabaseTarget,
  log: { warn(fields: object, message: string): void },
  times: NameTimes = defaultTimes,
): Promise<WorkerNames> {
  const names = new Set<string>();
  /** The names of ended workers, with the time of their end. */
  const endedNames = new Map<string, number>();
  let ending = false;
  let { client, ended } = await connect(target, times);
  let last: Promise<unknown> = Promise.resolve();
  /** Runs queries one after the other, since they share one connection. */
  const query = ({ text, values }: Statement): Promise<unknown> => {
    const result = last.then(() => client.query(text, [...values]));
    last = result.catch(() => undefined);
    return result;
  };
  const freeJobsOfDeadProcesses = async () => {
    const startedAt = performance.now();
    await query(freeJobs([...names], [...endedNames.keys()]));
    for (const [name, endedAt] of endedNames) if (startedAt - endedAt > endedNamesMs) endedNames.delete(name);
  };
  // A connection that does not answer counts as broken.
  const disconnect = () => client.end().catch(() => undefined);
  await freeJobsOfDeadProcesses();

  const reconnecting = (async () => {
    for (let failures = 0; ; failures += 1) {
      await ended;
      if (ending) return;
      await wait(Math.min(5000, 100 * 2 ** failures), undefined, { ref: false });
      try {
        ({ client, ended } = await connect(target, times));
        for (const name of names) await query(lockName(name));
        await freeJobsOfDeadProcesses();
        failures = 0;
        if (ending) await disconnect();
      } catch (error) {
        log.warn(
          { err: error, outage: 'database' },
          "the connection that holds the locks of the queue's worker names is down",
        );
        void disconnect();
      }
    }
  })();
  const timer = setInterval(() => void freeJobsOfDeadProcesses().catch(disconnect), times.searchMs).unref();

  return {
    lock(name) {
      names.add(name);
      query(lockName(name)).catch(disconnect);
    },
    unlock(name) {
      names.delete(name);
      endedNames.set(name, performance.now());
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

async function connect(
  target: DatabaseTarget,
  { sessionMs }: NameTimes,
): Promise<{ client: pg.Client; ended: Promise<void> }> {
  let closing = Promise.resolve();
  const client = await openClient(target, {
    application_name: 'postern queue names',
    connectionTimeoutMillis: 3000,
    query_timeout: 5500,
    keepAlive: true,
    settings: { idle_session_timeout: `${sessionMs}ms` },
    prepare: (opening) => {
      closing = new Promise((resolve) => opening.once('end', () => resolve()));
    },
  });
  return { client, ended: closing };
}
