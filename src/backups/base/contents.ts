import type pg from 'pg';

/** The number of rows of each table, by `schema.table`. */
export type RowCounts = Readonly<Record<string, number>>;

/** The tables whose rows survive a crash. */
const permanentTables = `
  select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname in ('public', 'graphile_worker')
  order by 1, 2`;

/**
 * Counts the rows of each table in one snapshot. Reads all pages of the tables, whose checksums PostgreSQL checks.
 * @returns the counts, and the number of the next transaction at the time of the snapshot. `next` is undefined if
 *   transactions were still writing at that time
 */
export async function countRows(client: pg.Client): Promise<{ rows: RowCounts; next: string | undefined }> {
  await client.query('begin isolation level repeatable read read only');
  try {
    // The first statement takes the snapshot. A transaction that begins to write while the tables are read gets at
    // least the number `next`.
    const { rows: snapshots } = await client.query<{ oldest: string; next: string }>(
      'select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() s',
    );
    const [snapshot] = snapshots;
    return { rows: await countRowsIn(client), next: snapshot?.oldest === snapshot?.next ? snapshot?.next : undefined };
  } finally {
    await client.query('rollback');
  }
}

/** Counts the rows of each table in the transaction of `client`. */
export async function countRowsIn(client: pg.Client): Promise<RowCounts> {
  const { rows: tables } = await client.query<{ schema: string; name: string }>(permanentTables);
  const counts: Record<string, number> = {};
  for (const { schema, name } of tables) {
    const table = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}`;
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${table}`);
    counts[`${schema}.${name}`] = Number(rows[0]?.count);
  }
  return counts;
}

/**
 * The number that follows the last transaction that wrote and has ended. If it has not changed, and no other transaction was
 * writing before, nothing was written in between.
 */
export async function nextTransaction(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next');
  return rows[0]?.next ?? '';
}
