import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { segmentNames } from './base/positions.js';
import { isServerData } from './base/server-files.js';
import { type ArchiveEntry, textEntry } from './container/archive.js';
import { BackupError } from './container/error.js';
import { type Exclusions, fileAt, filesBelow } from './data-files.js';

/** Where a backup begins and ends in the write-ahead log. */
export interface BackupRange {
  readonly start_lsn: string;
  readonly stop_lsn: string;
}

/**
 * Folders that are copied without their files. The files belong to the running server, but each start of a server needs
 * the folders.
 */
const emptied = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const controlFile = join('global', 'pg_control');
/** The names of data files that are not copied: temporary files and tables, and caches that a server writes again. */
const temporary = /^(pgsql_tmp|pg_internal\.init|t\d+_\d+)/;

const clusterFiles: Exclusions = {
  isEmptied: (path) => emptied.has(path),
  isExcluded: (path, name) =>
    !isServerData(path) || path === 'backup_label' || path === controlFile || temporary.test(name),
};

/**
 * Copies the files of a running server, with PostgreSQL's low-level backup API. The files are read while the server
 * writes them; the write-ahead log from the start to the end of the backup makes them consistent when a server starts
 * on them.
 *
 * @param client the connection of a superuser. Close it after a failure, which also ends the backup in the server
 * @param folder the data directory, readable by this process
 * @param beforeEnd called at the last moment at which its writes still become part of the backup
 */
export async function* copyRunningServer(
  client: pg.Client,
  folder: string,
  beforeEnd: () => Promise<void>,
): AsyncGenerator<ArchiveEntry, BackupRange> {
  if ((await readdir(join(folder, 'pg_tblspc'))).length > 0) {
    throw new BackupError(
      'The database has tablespaces outside its folder, which a backup cannot contain: remove them.',
    );
  }
  const slot = `postern_backup_${randomBytes(6).toString('hex')}`;
  // The slot makes the server keep the write-ahead log. It is temporary: the server drops it when the connection ends.
  await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
  const { rows: started } = await client.query<{ lsn: string; file: string; segment: string }>(
    `select s.lsn::text, pg_walfile_name(s.lsn) as file, (select setting from pg_settings where name = 'wal_segment_size') as segment
     from pg_backup_start($1, true) s(lsn)`,
    ['Postern'],
  );
  yield* filesBelow(folder, 'postgres', clusterFiles);
  yield await readControlFile(folder);
  await beforeEnd();
  const { rows: stopped } = await client.query<{ lsn: string; file: string; label: string }>(
    'select lsn::text, pg_walfile_name(lsn) as file, labelfile as label from pg_backup_stop(false)',
  );
  const [start, stop] = [started[0], stopped[0]];
  if (start === undefined || stop === undefined)
    throw new Error('PostgreSQL did not say where the backup begins and ends');
  yield textEntry(join('postgres', 'backup_label'), stop.label);
  yield* writeAheadLog(folder, segmentNames(start.file, stop.file, Number(start.segment)));
  return { start_lsn: start.lsn, stop_lsn: stop.lsn };
}

/** Reads the control file until two reads give the same bytes, because the server may write it at this moment. */
async function readControlFile(folder: string): Promise<ArchiveEntry> {
  const path = join(folder, controlFile);
  let content = await readFile(path);
  for (let again = await readFile(path); !again.equals(content); again = await readFile(path)) content = again;
  return {
    path: join('postgres', controlFile),
    type: 'file',
    size: content.length,
    mode: 0o600,
    modifiedAt: 0,
    content: [content],
  };
}

async function* writeAheadLog(folder: string, segments: readonly string[]): AsyncGenerator<ArchiveEntry> {
  const histories = (await readdir(join(folder, 'pg_wal'))).filter((name) => /^[0-9A-F]{8}\.history$/.test(name));
  for (const name of [...histories, ...segments]) {
    let isFound = false;
    for await (const entry of fileAt(join(folder, 'pg_wal', name), join('postgres', 'pg_wal', name))) {
      isFound = true;
      yield entry;
    }
    if (!isFound) throw new Error(`The segment ${name} of the write-ahead log is missing`);
  }
}
