import { type Queryable, sql } from './database.js';

/** Rows of one user in one table. SQL of ours: `$1` is the user. */
export interface UserRows {
  /** What is read of each row; no name of these may be `walk_key`. */
  readonly columns: string;
  readonly from: string;
  /** The column that tells a user's rows apart, with an index behind `user_id`. */
  readonly key: string;
  readonly keyType: 'uuid' | 'bigint';
}

/** Rows that are in memory at a time. */
const batch = 500;

/**
 * Reads all rows of a user in the order of their key, some at a time, each time by the index: any number of them takes
 * no more memory and holds no statement open. What comes or goes meanwhile may be there or not.
 */
export async function* walkRows(handle: Queryable, rows: UserRows, userId: string): AsyncGenerator<object[]> {
  const { columns, from, key, keyType } = rows;
  const slice = (after: string) =>
    sql(
      `select ${columns}, ${key}::text as walk_key from ${from} where user_id = $1 ${after} order by ${key} limit ${batch}`,
    );
  let found = await handle.query<{ walk_key: string }>(slice(''), [userId]);
  const goOn = slice(`and ${key} > $2::${keyType}`);
  while (found.length > 0) {
    yield found.map(({ walk_key: _, ...row }) => row);
    const last = found.at(-1);
    if (last === undefined || found.length < batch) return;
    found = await handle.query<{ walk_key: string }>(goOn, [userId, last.walk_key]);
  }
}
