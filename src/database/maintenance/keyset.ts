import type { Queryable } from '../database.js';
import { bound, compose, identifier, type Sql, sql } from '../sql.js';

/** The table and the columns to read for a user. */
export interface UserRowsSource {
  /** SQL, never a client's text: the columns of a row. No column may be named `keyset_position`. */
  readonly columns: Sql;
  /** The table. It has a column `user_id`. */
  readonly from: string;
  /** The column that identifies a row of the user, with an index on `user_id` and this column. */
  readonly key: string;
  readonly keyType: 'uuid' | 'bigint' | 'text';
}

/** The number of rows in memory at a time. */
const batchSize = 500;

/**
 * Reads all rows of a user by keyset iteration: in the order of their key, in batches. The index finds the start of each
 * batch. Memory does not grow with the number of rows, and no statement stays open. Rows that are added or removed during
 * the iteration may be read or not.
 */
export async function* iterateRows(
  handle: Queryable,
  { columns, from, key, keyType }: UserRowsSource,
  userId: string,
): AsyncGenerator<object[]> {
  const keyColumn = identifier(key);
  const read = (condition: Sql) =>
    compose<{ keyset_position: string }>(
      sql`select ${columns}, ${keyColumn}::text as keyset_position from ${identifier(from)}
          where user_id = ${bound(userId)} ${condition} order by ${keyColumn} limit ${bound(batchSize)}`,
    );
  let rows = await handle.query(read(sql``));
  while (rows.length > 0) {
    yield rows.map(({ keyset_position: _, ...row }) => row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return;
    rows = await handle.query(read(sql`and ${keyColumn} > ${bound(last.keyset_position)}::${identifier(keyType)}`));
  }
}
