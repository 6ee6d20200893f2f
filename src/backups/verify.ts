import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Log } from '../database/embedded/membership.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../database/embedded.js';
import { BackupError } from './container/error.js';
import type { BackupHeader } from './container/header.js';
import { countRows, type RowCounts } from './contents.js';
import { type Manifest, restoreBackup } from './restore.js';
import { untilStopped, withSession } from './session.js';

/** What a verification has found in a restored copy. */
export interface VerifiedBackup {
  readonly header: BackupHeader;
  readonly files: number;
  readonly tables: number;
  readonly rows: number;
  readonly indexes: number;
}

export interface VerifyOptions {
  readonly passphrase: string | undefined;
  /** The folder in which the copy is restored. It needs as much space as the backup. */
  readonly inFolder: string;
  readonly log: Log;
  readonly stop?: AbortSignal;
}

/** The name of a folder with a restored copy, followed by random characters. */
const copyPrefix = 'verify-';
/** No verification takes this long, in milliseconds. */
const abandonedAfterMs = 24 * 3_600_000;

/**
 * Restores a backup into a temporary folder, starts a server on it, and checks the data: the checksums of all pages, the
 * structure of all indexes, the rows of all tables, and that the last transaction of the backup is there.
 * @throws BackupError
 */
export async function verifyBackup(source: AsyncIterable<Buffer>, options: VerifyOptions): Promise<VerifiedBackup> {
  const { passphrase, inFolder, log, stop } = options;
  await removeAbandoned(inFolder, log);
  const folder = await mkdtemp(join(inFolder, copyPrefix));
  let server: EmbeddedPostgres | undefined;
  try {
    const dataDir = join(folder, 'data');
    const { header, manifest } = await restoreBackup(untilStopped(source, stop), { passphrase, target: dataDir });
    server = await startEmbeddedPostgres({ dataDir, log });
    const found = await withSession(server.address, (client) => checkCopy(client, header, manifest), stop);
    return { header, files: manifest.files.length, ...found };
  } finally {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkCopy(client: pg.Client, { id }: BackupHeader, manifest: Manifest) {
  const { rows: last } = await client.query('select from backups where id = $1', [id]);
  if (last.length === 0) throw refused('the last transaction of the backup is missing');
  try {
    const counts = await countRows(client);
    compareCounts(counts, manifest);
    const indexes = await checkIndexes(client);
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { tables: Object.keys(counts).length, rows, indexes };
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

/** Rows that were written after the counts may differ. Without such writes, the counts must be the same. */
function compareCounts(counts: RowCounts, { rows: expected, is_quiet: isQuiet }: Manifest): void {
  for (const [table, count] of Object.entries(expected)) {
    const found = counts[table];
    if (found === undefined) throw refused(`the table ${table} is missing`);
    if (isQuiet && found !== count) throw refused(`${table} has ${found} rows instead of ${count}`);
  }
}

/** Checks the structure of each B-tree index. @returns their number */
async function checkIndexes(client: pg.Client): Promise<number> {
  await client.query('create extension if not exists amcheck');
  const { rows } = await client.query<{ checked: string }>(`
    select count(*) as checked from (
      select bt_index_check(c.oid) from pg_class c join pg_index i on i.indexrelid = c.oid
      join pg_am a on a.oid = c.relam
      where a.amname = 'btree' and c.relpersistence = 'p' and i.indisvalid offset 0) checks`);
  return Number(rows[0]?.checked);
}

function refused(reason: string): BackupError {
  return new BackupError(`The restored copy of the backup is not right: ${reason}. Do not rely on this backup.`);
}

/** Removes copies of verifications that were killed, and stops their servers. */
async function removeAbandoned(folder: string, log: Log): Promise<void> {
  for (const name of (await readdir(folder)).filter((entry) => entry.startsWith(copyPrefix))) {
    const copy = join(folder, name);
    const { mtimeMs } = await stat(copy);
    if (Date.now() - mtimeMs < abandonedAfterMs) continue;
    const dataDir = join(copy, 'data');
    // The last one that leaves a server stops it.
    if (existsSync(join(dataDir, 'postgres'))) await (await startEmbeddedPostgres({ dataDir, log })).stop();
    await rm(copy, { recursive: true, force: true });
  }
}
