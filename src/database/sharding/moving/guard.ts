import type pg from 'pg';
import { userTables, workTables } from './tables.js';

const guarded = [...userTables, ...workTables];

/** Milliseconds that a statement of the mover may hold up the writers that come after it. */
const lockTimeout = 200;

/** The class of the advisory locks of buckets, as in the function `guard_moving_user`. */
export const lockClass = 7_203_415;

/** The first error of a statement that waited for a lock, or was chosen to end a deadlock. */
export const isLockFailure = (error: unknown) => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');

/**
 * Runs work in a transaction that waits only shortly for locks, and repeats it until it gets them.
 * @param pause called before each repetition
 */
async function withShortLocks<T>(client: pg.Client, pause: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await inTransaction(client, async () => {
        await client.query(`set local lock_timeout = ${lockTimeout}`);
        return work();
      });
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
    await pause();
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

/**
 * Creates the triggers that note the changes of moving users, and refuse them once a bucket is stopped. Each waits for the
 * transactions that have changed its table, so it knows of every later change.
 */
export async function installGuard(client: pg.Client, pause: () => Promise<unknown>): Promise<void> {
  for (const { name, column } of guarded) {
    await withShortLocks(client, pause, () =>
      client.query(
        `create or replace trigger guard_moving_user after insert or update or delete on ${name}
         for each row execute function guard_moving_user('${column}')`,
      ),
    );
  }
}

/** Drops the triggers, if no bucket moves on this server. */
export async function removeGuard(client: pg.Client, pause: () => Promise<unknown>): Promise<void> {
  const { rows } = await client.query('select from shard_moving limit 1');
  if (rows.length > 0) return;
  for (const { name } of guarded) {
    await withShortLocks(client, pause, () => client.query(`drop trigger if exists guard_moving_user on ${name}`));
  }
  await client.query('delete from shard_changes');
}
