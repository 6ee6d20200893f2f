import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../../database/database.js';
import type { Log } from '../../embedded/membership.js';
import type { Schedule } from '../../lib/schedule.js';
import { type BackupOptions, type BackupSource, createBackup } from '../create.js';
import { removeOldParts } from '../log-archive/retention.js';
import { untilArchiveBegins } from '../log-archive/slot.js';
import { type BackupStore, backupPrefix, listMade, listRelated, removeOldBackups } from '../places/place.js';
import { type BackupTimes, markRemoved, readBackupTimes, readMade, recordVerification } from '../state.js';
import { type DumpVerification, verifyBackup } from '../verify.js';

export interface ScheduledBackupOptions {
  /** Called for each backup. */
  readonly source: () => Promise<BackupSource>;
  readonly handle: Queryable;
  readonly store: BackupStore;
  /** Whether the log is archived to the store too. */
  readonly isContinuous: boolean;
  readonly schedule: Schedule;
  /** The number of backups to keep. */
  readonly keep: number;
  /** The folder for the copies of verifications. */
  readonly verifyIn: string;
  readonly dumps: DumpVerification;
  readonly log: Log;
}

/** Milliseconds between two checks of the schedule. */
const pauseMs = 20_000;
/** Milliseconds until a backup that failed is tried again, at first. */
const retryAfterMs = 600_000;

/** Whether a backup is due. The first one is due at once. */
export function isDue(times: BackupTimes, schedule: Schedule): boolean {
  const { now, scheduled, is_good: isGood, is_continued: isContinued, unverified } = times;
  if (scheduled === null) return true;
  // A new log archive has begun since the last good backup. It is useless without a backup at its beginning.
  if (isGood && isContinued === false) return true;
  const next = schedule.next(scheduled);
  // Each backup that was written and could not be verified takes space, so the pauses grow.
  const retry = scheduled + retryAfterMs * 2 ** Math.max(0, unverified - 1);
  return now >= (isGood ? next : Math.min(next, retry));
}

/** Makes backups when they are due. Of several processes on one database, only one makes each backup. */
export function startScheduledBackups(options: ScheduledBackupOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await backUpIfDue(options, stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted) options.log.error({ err: error }, 'the scheduled backup failed');
      }
      await wait(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Makes a backup if one is due.
 * @returns whether it made a backup
 */
export async function backUpIfDue(options: ScheduledBackupOptions, stop: AbortSignal): Promise<boolean> {
  const isWanted = async () => isDue(await readBackupTimes(options.handle), options.schedule);
  if (!(await isWanted())) return false;
  // `isWanted` checks this again under the lock, because another process may have made the backup.
  return makeBackup(options, { isScheduled: true, isWanted, stop });
}

/**
 * Makes, verifies and records a backup. Old backups are deleted only after a good one.
 * @returns false if another process makes a backup, or if `isWanted` returned false
 */
export async function makeBackup(options: ScheduledBackupOptions, how: BackupOptions): Promise<boolean> {
  const { store, isContinuous, handle, keep, log } = options;
  // Before the backup, because it may need the space. If the store fails, the backup reports this.
  await store.removeAbandoned(backupPrefix).catch(() => undefined);
  const source = await options.source();
  if (isContinuous) await untilArchiveBegins(source.target, store.locate(''), how.stop);
  const written = await createBackup(source, store, how);
  if (written === undefined) return false;
  await verifyRecorded(options, written, how.stop);
  const { owner, archive: current } = written;
  const { now } = await readBackupTimes(handle);
  const made = await readMade(handle);
  const removed = await removeOldBackups(store, { owner, keep, now, made });
  await markRemoved(
    handle,
    removed.map((name) => store.locate(name)),
  );
  await removeOldParts(store, { owner, current, passphrase: source.passphrase, made }).catch((error: unknown) =>
    log.warn({ err: error }, 'old parts of the log archive could not be removed'),
  );
  const related = await listRelated(store, owner);
  if (related.length > 0) {
    log.warn(
      { location: store.locate(''), backups: related.length },
      'BACKUP_TO has backups of the original or of a restored copy of this database, which are not deleted',
    );
  }
  const { others } = await listMade(store, { owner, made });
  if (others > 0) {
    log.warn(
      { location: store.locate(''), files: others },
      'BACKUP_TO has files with names of backups that this database has not made there, which are not deleted',
    );
  }
  log.info({ location: written.location, bytes: written.bytes }, 'made and verified a backup');
  return true;
}

/** Verifies a backup of the store, and records the result. @throws BackupError if it is not good */
export async function verifyRecorded(
  options: ScheduledBackupOptions,
  { id, name }: { readonly id: string; readonly name: string },
  stop?: AbortSignal,
): Promise<void> {
  const { store, handle, verifyIn: inFolder, dumps, log } = options;
  const { passphrase, secretKeys } = await options.source();
  const keys = { passphrase, secretKeys, acceptsUnauthenticated: false };
  try {
    await verifyBackup(store.read(name), { keys, expected: { id, name }, inFolder, dumps, log, stop });
  } catch (error) {
    if (stop?.aborted !== true)
      await recordVerification(handle, id, error instanceof Error ? error.message : String(error));
    throw error;
  }
  await recordVerification(handle, id, undefined);
}
