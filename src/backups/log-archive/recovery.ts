import { chown, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../../embedded/embedded.js';
import type { Log } from '../../embedded/membership.js';
import { ownerOf } from '../base/installation.js';
import { type ArchiveTrust, type BackupKeys, trustOf } from '../base/open.js';
import { parseLsn, segmentName, segmentStart } from '../base/positions.js';
import { BackupError, UnusableFileError } from '../container/error.js';
import { type BackupStore, listStored, parseBackupName } from '../places/place.js';
import { type ExtractedBackup, type RestoredBackup, restoreBackup } from '../restore.js';
import { archiveFolder, listParts, type Part, type PartHeader, readPart } from './parts.js';

export interface RecoveryOptions {
  readonly store: BackupStore;
  /** The backup to begin with. Undefined: the newest backup that ended before the time `at`. */
  readonly name?: string | undefined;
  /** The time to restore, in milliseconds since 1970. Undefined: the end of the archive. */
  readonly at: number | undefined;
  readonly keys: BackupKeys;
  /** The new DATA_DIR, which must not exist. */
  readonly target: string;
  readonly log: Log;
}

/** A database that was restored as it was at a certain time. */
export interface RecoveredBackup extends RestoredBackup {
  /** The time up to which the database contains everything that was committed. */
  readonly until: string;
  /** Newer files with names of backups that could not be used, if the database may be older because of them. */
  readonly skipped: readonly string[];
}

/** The requested time is before the end of the backup, so an older backup is needed. */
class TooEarlyError extends BackupError {}

/**
 * Restores a backup and replays the archived log up to a time, as a new DATA_DIR.
 * @throws BackupError
 */
export async function restoreAt(options: RecoveryOptions): Promise<RecoveredBackup> {
  const { store, name, at, keys, target, log } = options;
  const trust = trustOf(keys);
  const all = name === undefined ? await listStored(store) : [name];
  const earlier = all.filter((one) => at === undefined || (parseBackupName(one)?.startedAt ?? 0) <= at);
  let unusable: UnusableFileError | undefined;
  const skipped: string[] = [];
  for (const candidate of earlier.reverse()) {
    let until = '';
    try {
      const restored = await restoreBackup(store.read(candidate), {
        keys,
        expected: { name: candidate },
        target,
        async finish(extracted) {
          until = await replay(extracted, { store, at, trust, log });
        },
      });
      // A state of a certain time is the same from each backup.
      const isOlder = (newer: string) =>
        at === undefined && (parseBackupName(newer)?.startedAt ?? 0) > Date.parse(until);
      return { ...restored, until, skipped: skipped.filter(isOlder) };
    } catch (error) {
      if (name !== undefined) throw error;
      if (error instanceof UnusableFileError) {
        unusable ??= error;
        skipped.push(candidate);
        log.warn({}, `Skipped ${store.locate(candidate)}: ${error.message}`);
      } else if (!(error instanceof TooEarlyError)) throw error;
    }
  }
  if (unusable !== undefined) throw new BackupError(unusable.message);
  throw new BackupError('There is no backup that ended before this time: name a later time.');
}

/** Replays the log on the files of a backup. @returns the time up to which the database contains everything */
async function replay(
  { header, manifest, folder, account }: ExtractedBackup,
  { store, at, trust, log }: Pick<RecoveryOptions, 'store' | 'at' | 'log'> & { readonly trust: ArchiveTrust },
): Promise<string> {
  if (header.archive === undefined || manifest.ended_at === undefined) {
    throw new BackupError('The backup was made without BACKUP_CONTINUOUS: restore it without --at.');
  }
  if (at !== undefined && Date.parse(manifest.ended_at) > at) {
    throw new TooEarlyError('The backup ended after this time: name an older backup or a later time.');
  }
  const server = join(folder, 'postgres');
  const { last, refused, isCut } = await addLog(store, archiveFolder(ownerOf(header), header.archive.id), {
    archive: header.archive.id,
    from: parseLsn(manifest.stop_lsn),
    logFolder: join(server, 'pg_wal'),
    account,
    trust,
    log,
  });
  // Without the archive, the database is complete only up to the beginning of the backup. The end of the backup is not
  // usable here, because it is later than the end of the backup's log.
  const until = [header.created_at, last?.created_at ?? ''].reduce(later);
  const isLate = at !== undefined && Date.parse(until) < at;
  if (refused !== undefined && (isLate || at === undefined)) throw new BackupError(refused.message);
  if (isCut && (isLate || at === undefined)) {
    throw new BackupError(
      `Parts of the log archive are missing after ${until}, so nothing that was written later can be restored: name an ` +
        'earlier time, or restore the backup without --at.',
    );
  }
  if (isLate) {
    throw new BackupError(`The log archive ends at ${until}: name this time or an earlier one, or --at latest.`);
  }
  await recover(folder, account, at, log);
  return at === undefined ? until : new Date(at).toISOString();
}

const later = (one: string, other: string) => (Date.parse(other) > Date.parse(one) ? other : one);

type Account = ExtractedBackup['account'];

interface LogSource {
  /** The id of the log archive. */
  readonly archive: string;
  /** The end of the backup. */
  readonly from: number;
  readonly logFolder: string;
  readonly account: Account;
  readonly trust: ArchiveTrust;
  readonly log: Log;
}

/** The archived log that was added to a server's files. */
interface AddedLog {
  /** The header of its last part. */
  readonly last: PartHeader | undefined;
  /** Why a file with the name of the next part is not that part, if no other file is. */
  readonly refused: UnusableFileError | undefined;
  /** Whether the archive has further parts, but the one before them is missing. */
  readonly isCut: boolean;
}

/**
 * Writes the archived log, up to its first gap, into the server's files. Somebody else may have written files with names of parts.
 * They are skipped if the right parts are there too.
 */
async function addLog(store: BackupStore, folder: string, source: LogSource): Promise<AddedLog> {
  const { logFolder, account, log } = source;
  let position = source.from;
  let last: PartHeader | undefined;
  let refused: UnusableFileError | undefined;
  const read = (part: Part) =>
    readPart(store, part, source).catch((error: unknown) => {
      if (!(error instanceof UnusableFileError)) throw error;
      log.warn({}, `Skipped ${store.locate(part.name)}: ${error.message}`);
      if (part.start <= position) refused ??= error;
      return undefined;
    });
  for (const part of await listParts(store, folder)) {
    if (part.end <= position) continue;
    const found = await read(part);
    if (found === undefined) continue;
    if (part.start > position) return { last, refused, isCut: true };
    const { header, content } = found;
    const first = segmentStart(part.start, header.segment_bytes);
    const path = join(logFolder, segmentName(header.timeline, first, header.segment_bytes));
    await writeInto(path, { content, at: part.start - first, size: header.segment_bytes });
    if (account !== undefined) await chown(path, account.uid, account.gid);
    position = part.end;
    last = header;
    refused = undefined;
  }
  return { last, refused, isCut: false };
}

/** Writes bytes into the file of a segment, and gives the file the size of a segment. */
async function writeInto(path: string, { content, at, size }: { content: Buffer; at: number; size: number }) {
  const file = await open(path, 'r+').catch(() => open(path, 'wx+', 0o600));
  try {
    // On a disk that becomes full, a call may write only a part and succeed. The next call then fails.
    for (let done = 0; done < content.length; ) {
      const { bytesWritten } = await file.write(content, done, content.length - done, at + done);
      done += bytesWritten;
    }
    await file.truncate(size);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Starts the server, which replays the log, and stops it when it has begun its own timeline. */
async function recover(dataDir: string, account: Account, at: number | undefined, log: Log): Promise<void> {
  const server = join(dataDir, 'postgres');
  const settingsFile = join(server, 'postgresql.auto.conf');
  const own = async (path: string, text: string) => {
    await writeFile(path, text, { mode: 0o600 });
    if (account !== undefined) await chown(path, account.uid, account.gid);
  };
  const run = async (target: string) => {
    // `restore_command` always fails, because the log is already in the server's folder. The server admits nobody
    // before it has replayed the log.
    await own(settingsFile, `restore_command = 'exit 1'\nhot_standby = off\n${target}`);
    await (await startEmbeddedPostgres({ dataDir, log })).stop();
  };
  await own(join(server, 'recovery.signal'), '');
  try {
    if (at === undefined) await run('');
    else {
      const time = new Date(at).toISOString().replace('T', ' ').replace('Z', '+00');
      await run(`recovery_target_time = '${time}'\nrecovery_target_action = promote\n`).catch((error: unknown) => {
        // No transaction was committed after the requested time, so the whole log has to be replayed.
        if (!String(error).includes('recovery ended before configured recovery target was reached')) throw error;
        return run('');
      });
    }
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError)) throw error;
    throw new BackupError(`The log could not be replayed. ${error.message}`);
  }
  await own(settingsFile, '');
}
