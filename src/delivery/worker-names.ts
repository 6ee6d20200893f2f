import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { connectionFields, type DatabaseTarget } from '../database/database.js';

/**
 * The names under which this process has locked jobs. A killed process's jobs would stay locked for four hours: so each
 * name is held as an advisory lock on one connection of its process, and every process sets the jobs free whose name
 * nobody holds.
 */
export interface WorkerNames {
  hold(name: string): void;
  /** Its jobs are set free at once. */
  drop(name: string): void;
  end(): Promise<void>;
}

/** Milliseconds between two looks for jobs of the dead. */
const pause = 30_000;

const holdName = 'select pg_advisory_lock_shared(hashtextextended($1, 0))';
const dropName = 'select pg_advisory_unlock_shared(hashtextextended($1, 0))';
/** A session's own locks do not keep it from locking once more: its own names are left out. */
const freeJobs = `
  with locked as materialized (
    select distinct locked_by as name from graphile_worker.jobs where locked_by <> all ($1::text[])),
  dead as materialized (
    select name from locked where pg_try_advisory_xact_lock(hashtextextended(name, 0)))
  select graphile_worker.force_unlock_workers(array_agg(name)) from dead having count(*) > 0`;

/** Sets the jobs of the dead free, now and from time to time; takes the names again on another connection when one breaks. */
export async function keepWorkerNames(
  target: DatabaseTarget,
  log: { warn(fields: object, message: string): void },
): Promise<WorkerNames> {
  const names = new Set<string>();
  let ending = false;
  let { client, ended } = await connect(target);
  let last: Promise<unknown> = Promise.resolve();
  /** One query after the other: a connection answers one at a time. */
  const ask = (text: string, values: readonly unknown[]): Promise<unknown> => {
    const own = last.then(() => client.query(text, [...values]));
    last = own.catch(() => undefined);
    return own;
  };
  const freeDead = () => ask(freeJobs, [[...names]]);
  // A connection that gives no answer is as good as gone.
  const giveUp = () => client.end().catch(() => undefined);
  await freeDead();

  const keep = (async () => {
    for (let failures = 0; ; failures += 1) {
      await ended;
      if (ending) return;
      await wait(Math.min(5000, 100 * 2 ** failures), undefined, { ref: false });
      try {
        ({ client, ended } = await connect(target));
        for (const name of names) await ask(holdName, [name]);
        await freeDead();
        failures = 0;
        if (ending) await giveUp();
      } catch (error) {
        log.warn({ err: error }, "the queue's connection for names is down");
        void giveUp();
      }
    }
  })();
  const timer = setInterval(() => void freeDead().catch(giveUp), pause).unref();

  return {
    hold(name) {
      names.add(name);
      ask(holdName, [name]).catch(giveUp);
    },
    drop(name) {
      names.delete(name);
      ask(dropName, [name]).then(freeDead).catch(giveUp);
    },
    async end() {
      ending = true;
      clearInterval(timer);
      await giveUp();
      await keep;
    },
  };
}

async function connect(target: DatabaseTarget): Promise<{ client: pg.Client; ended: Promise<void> }> {
  const client = new pg.Client({
    ...connectionFields(target),
    application_name: 'postern queue names',
    connectionTimeoutMillis: 3000,
    query_timeout: 5500,
    keepAlive: true,
  });
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  // Unheard it would end the process. What matters is the end that follows.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return { client, ended };
}
