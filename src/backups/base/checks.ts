import pg from 'pg';
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

/**
 * Lets a role check indexes. Call it with the rights of a superuser, before somebody else can change the database. The
 * extension is in the schema with the name of the role: the role finds it there first, and a dump cannot be in its way.
 */
export async function installIndexCheck(client: pg.Client, role: string): Promise<void> {
  const name = client.escapeIdentifier(role);
  await client.query(`create schema ${name}`);
  await client.query(`create extension amcheck schema ${name}`);
  await client.query(`grant usage on schema ${name} to ${name}`);
  await client.query(`grant execute on function ${name}.bt_index_check(regclass) to ${name}`);
}

/** SQLSTATE: the role has not the right to do this. */
const insufficientPrivilege = '42501';

/**
 * Checks the structure of each B-tree index. Installs an extension if it is missing.
 * @returns their number; undefined: the role may not install the extension
 * @throws BackupError
 */
export async function checkIndexes(client: pg.Client): Promise<number | undefined> {
  try {
    await client.query('create extension if not exists amcheck');
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === insufficientPrivilege) return undefined;
    throw error;
  }
  try {
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
