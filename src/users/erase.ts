import type { Database } from '../database/database.js';
import { bound, compose, identifier, sql, statement } from '../database/sql.js';

/** A table with rows of users. It has a column `user_id`. */
export interface UserTable {
  readonly table: string;
  /** The column that identifies a row of the user. */
  readonly key: string;
}

/**
 * The tables of a user, except the user's own row. The inbox row is first, because nothing can be published without it.
 * Events stay, with the user's id and without the values that they changed.
 */
const ownTables: readonly UserTable[] = [
  { table: 'inboxes', key: 'user_id' },
  { table: 'sessions', key: 'id' },
  { table: 'authentications', key: 'id' },
  { table: 'used_dpop_proofs', key: 'digest' },
  { table: 'devices', key: 'id' },
  { table: 'page_apps', key: 'id' },
  { table: 'support_logins', key: 'id' },
  { table: 'challenges', key: 'id' },
  { table: 'totp', key: 'user_id' },
  { table: 'recovery_codes', key: 'digest' },
  { table: 'passkeys', key: 'id' },
  { table: 'undispatched_messages', key: 'id' },
  { table: 'outbox', key: 'id' },
  { table: 'notices', key: 'id' },
  { table: 'guess_budgets', key: 'bucket' },
  { table: 'former_names', key: 'until' },
];

const batchSize = 1000;

/** SQL: the types of events with a reason, which an operator has written about the user. */
const withReason = sql`type in ('user.locked', 'support_login.requested', 'support_login.started')`;

/** The changed values, and the reasons of operators. */
const eraseChanges = statement<{ userId: string; limit: number }, { id: string }>(
  'event_erase_changes',
  (p) => sql`
  update events set data = case when ${withReason} then data - 'changes' - 'reason' else data - 'changes' end
  where user_id = ${p.userId} and id in (
    select id from events
    where user_id = ${p.userId} and (data ? 'changes' or ${withReason} and data ? 'reason')
    limit ${p.limit})
  returning id`,
);

/**
 * Deletes the rows of a deleted user: the queue's task `user.erase`. Each batch is a transaction of its own, so that a large
 * inbox delays no other work. It can be repeated and continues after a failure.
 *
 * @param moreTables the tables of other modules, in the order in which to empty them
 * @param eraseElsewhere erases what other modules store about the user in rows of other users
 */
export async function eraseUser(
  database: Database,
  userId: string,
  moreTables: readonly UserTable[],
  eraseElsewhere: (userId: string) => Promise<void>,
): Promise<void> {
  for (const { table, key } of [...ownTables, ...moreTables]) {
    let deleted = batchSize;
    while (deleted === batchSize) deleted = await deleteBatch(database, userId, { table, key });
  }
  // Events come last: a transaction that still records an event of the user holds a lock on a row of one of the tables
  // above.
  const events = database.user(userId);
  while ((await events.query(eraseChanges({ userId, limit: batchSize }))).length === batchSize);
  await eraseElsewhere(userId);
}

/** @returns the number of deleted rows */
async function deleteBatch(database: Database, userId: string, { table, key }: UserTable): Promise<number> {
  const [from, column] = [identifier(table), identifier(key)];
  const rows = await database.user(userId).query(
    compose<{ deleted: number }>(
      sql`
      delete from ${from}
      where user_id = ${bound(userId)}
        and ${column} in (select ${column} from ${from} where user_id = ${bound(userId)} limit ${bound(batchSize)})
      returning 1 as deleted`,
    ),
  );
  return rows.length;
}
