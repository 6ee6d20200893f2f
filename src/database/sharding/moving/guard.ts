import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { MoveError, type MoveTimes } from './move-options.js';
import { jobTable, userTables, workTables } from './tables.js';

/** The class of the advisory locks of buckets, as in the function `guard_moving_user`. */
export const lockClass = 7_203_415;

/** How long a statement of the mover waits for a lock, in milliseconds. Later writers wait behind it. */
export const lockTimeout = 200;

/** Whether a statement failed because of a lock: it waited too long (55P03), or PostgreSQL ended it to end a deadlock (40P01). */
export const isLockFailure = (error: unknown) => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');

/**
 * Runs work in a transaction that waits only a short time for locks, and repeats it until it gets them. The pauses
 * become longer, because writers wait behind each attempt.
 * @param target the name of the locked rows for the error, for example `the table users`
 * @throws MoveError
 */
export async function withShortLocks<T>(
  client: pg.Client,
  { patience, pause }: MoveTimes,
  target: string,
  work: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + patience;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(client, async () => {
        await client.query(`set local lock_timeout = ${lockTimeout}`);
        return work();
      });
    } catch (error) {
      if (!isLockFailure(error)) throw error;
      if (performance.now() > end) throw new MoveError(`A transaction on ${target} does not end.`);
    }
    await wait(pause * Math.min(attempt, 10));
  }
}

export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Each table with its trigger. */
const guarded = [
  ...[...userTables, ...workTables].map(({ name, column }) => ({
    name,
    when: 'insert or update or delete',
    call: `guard_moving_user('${column}')`,
  })),
  { name: jobTable, when: 'insert or update of payload', call: 'guard_moving_job()' },
];

/**
 * Creates the triggers that note the changes of moving users. After a bucket is stopped, the triggers refuse further
 * changes of its users. Creating a trigger waits for the transactions that have already changed its table, so the
 * trigger sees every later change.
 */
export async function installGuard(client: pg.Client, times: MoveTimes): Promise<void> {
  for (const { name, when, call } of guarded) {
    await withShortLocks(client, times, `the table ${name}`, () =>
      client.query(
        `create or replace trigger guard_moving_user after ${when} on ${name} for each row execute function ${call}`,
      ),
    );
  }
}

/** Drops the triggers, if no bucket moves on this server. */
export async function removeGuard(client: pg.Client, times: MoveTimes): Promise<void> {
  const { rows } = await client.query('select from shard_moving limit 1');
  if (rows.length > 0) return;
  const { rows: tables } = await client.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger where tgname = 'guard_moving_user'`,
  );
  for (const { name } of tables) {
    await withShortLocks(client, times, `the table ${name}`, () =>
      client.query(`drop trigger if exists guard_moving_user on ${name}`),
    );
  }
  await client.query('delete from shard_changes');
}
