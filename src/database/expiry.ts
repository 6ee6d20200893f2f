import { type Database, type Queryable, sql } from './database.js';

/**
 * Rows that have outlived their use, by table: what tells them. They are removed in small steps so that nobody waits
 * for a large delete, and found by an index, so that a step with nothing to do costs nothing.
 */
const expired: readonly { readonly table: string; readonly key: string; readonly when: string }[] = [
  {
    table: 'guess_budgets',
    key: 'user_id, bucket',
    when: `not permanent and updated_at < db_now() - interval '30 days'`,
  },
  { table: 'request_limits', key: 'key', when: 'refilled_at < db_now()' },
  { table: 'message_limits', key: 'key', when: `updated_at < db_now() - interval '1 day'` },
  { table: 'idempotency_keys', key: 'caller, key_digest', when: `created_at < db_now() - interval '25 hours'` },
];

const batch = 1000;
/** Milliseconds between two looks. */
const pause = 60_000;
/** Any fixed number: of several instances one does it at a time. */
const expiryLock = 7_203_415_003;

export interface Expiry {
  stop(): Promise<void>;
}

/** Removes what has expired, now and every minute. What fails is told to `onError` and tried again the next time. */
export function startExpiry(database: Database, onError: (error: unknown) => void): Expiry {
  let running: Promise<void> = Promise.resolve();
  const look = () => {
    running = running.then(() => removeExpired(database)).then(() => undefined, onError);
  };
  look();
  const timer = setInterval(look, pause).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** @returns how many rows were removed. */
export async function removeExpired(database: Database): Promise<number> {
  let total = 0;
  for (const { table, key, when } of expired) {
    let removed = batch;
    while (removed === batch) {
      removed = await database.transaction((tx) =>
        removeBatch(
          tx,
          `delete from ${table} where (${key}) in
        (select ${key} from ${table} where ${when} limit ${batch} for update skip locked) returning 1 as removed`,
        ),
      );
      total += removed;
    }
  }
  return total;
}

/** 0 also while another instance is at it. */
async function removeBatch(tx: Queryable, statement: string): Promise<number> {
  const lock = sql(`select pg_try_advisory_xact_lock(${expiryLock}) as mine`);
  const [row] = await tx.query<{ mine: boolean }>(lock);
  return row?.mine === true ? (await tx.query(sql(statement))).length : 0;
}
