import { type Database, sql } from '../../database/database.js';

/** A table with rows of users: `user_id`, and the column that tells a user's rows apart. */
export interface UserTable {
  readonly table: string;
  readonly key: string;
}

/**
 * What this module makes for a user beside the user's own row. The head of the inbox first: without it nothing more can be
 * published. Events stay: they name nobody but by id.
 */
const ownTables: readonly UserTable[] = [
  { table: 'inboxes', key: 'user_id' },
  { table: 'sessions', key: 'id' },
  { table: 'authentications', key: 'id' },
  { table: 'devices', key: 'id' },
  { table: 'challenges', key: 'id' },
  { table: 'totp', key: 'user_id' },
  { table: 'recovery_codes', key: 'digest' },
  { table: 'passkeys', key: 'id' },
  { table: 'undispatched_messages', key: 'id' },
  { table: 'outbox', key: 'id' },
  { table: 'notices', key: 'id' },
  { table: 'guess_budgets', key: 'bucket' },
];

const BATCH = 1000;

/**
 * Removes the rows of a deleted user: the queue's job `user.erase`. In small statements, each a transaction of its own,
 * so that nobody waits for a large inbox; doing it again or going on after a failure does no harm.
 *
 * @param moreTables those of other modules, in the order in which they are to be emptied
 * @param eraseElsewhere what other modules keep of the user in rows of others
 */
export async function eraseUser(
  database: Database,
  userId: string,
  moreTables: readonly UserTable[],
  eraseElsewhere: (userId: string) => Promise<void>,
): Promise<void> {
  for (const { table, key } of [...ownTables, ...moreTables]) {
    const statement = sql(
      `delete from ${table} where user_id = $1
         and ${key} in (select ${key} from ${table} where user_id = $1 limit ${BATCH}) returning 1 as deleted`,
    );
    let deleted = BATCH;
    while (deleted === BATCH) deleted = (await database.query(statement, [userId])).length;
  }
  await eraseElsewhere(userId);
}
