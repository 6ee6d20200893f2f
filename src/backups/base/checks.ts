import type pg from 'pg';
import { BackupError } from '../container/error.js';
import type { BackupHeader } from '../container/header.js';
import { countRows, type RowCounts } from './contents.js';
import type { Manifest } from './extract.js';

/**
 * Checks the rows of a restored copy: the last transaction of the backup must be there, and the counts must be right.
 * @throws BackupError
 */
export async function checkRows(
  client: pg.Client,
  { id }: BackupHeader,
  { rows, is_quiet: isQuiet }: Manifest,
): Promise<RowCounts> {
  const { rows: last } = await client.query('select from backups where id = $1', [id]);
  if (last.length === 0) throw badCopy('the last transaction of the backup is missing');
  const { rows: counts } = await countRows(client).catch((error: Error) => {
    throw badCopy(error.message);
  });
  for (const [table, expected] of Object.entries(rows)) {
    const found = counts[table];
    if (found === undefined) throw badCopy(`the table ${table} is missing`);
    // If the backup was not quiet, rows were written between the counts and its end.
    if (isQuiet && found !== expected) throw badCopy(`${table} has ${found} rows instead of ${expected}`);
  }
  return counts;
}

/** Checks the structure of each B-tree index. Installs an extension. @returns their number @throws BackupError */
export async function checkIndexes(client: pg.Client): Promise<number> {
  try {
    await client.query('create extension if not exists amcheck');
    const { rows } = await client.query<{ checked: string }>(`
      select count(*) as checked from (
        select bt_index_check(c.oid) from pg_class c join pg_index i on i.indexrelid = c.oid
        join pg_am a on a.oid = c.relam
        where a.amname = 'btree' and c.relpersistence = 'p' and i.indisvalid offset 0) checks`);
    return Number(rows[0]?.checked);
  } catch (error) {
    throw badCopy(error instanceof Error ? error.message : String(error));
  }
}

function badCopy(reason: string): BackupError {
  return new BackupError(`The restored copy of the backup is not right: ${reason}. Do not rely on this backup.`);
}
