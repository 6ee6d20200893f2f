import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../../database/database.js';
import type { Log } from '../../database/embedded/membership.js';
import type { Schedule } from '../../lib/scheduling/schedule.js';
import { type BackupSource, createBackup } from '../create.js';
import { removeOldParts } from '../log-archive/retention.js';
import { type BackupStore, removeOldBackups } from '../places/place.js';
import { type BackupTimes, readBackupTimes, recordVerification } from '../state.js';
import { verifyBackup } from '../verify.js';

export interface ScheduledBackupOptions {
  /** Called for each backup. */
  readonly source: () => Promise<BackupSource>;
  readonly handle: Queryable<'everyone'>;
  readonly store: BackupStore;
  readonly schedule: Schedule;
  /** The number of backups to keep. */
  readonly keep: number;
  /** The folder for the copies of verifications. */
  readonly verifyIn: string;
  readonly log: Log;
}

/** Milliseconds between two looks at the schedule. */
const pauseMs = 20_000;
/** Milliseconds until a backup that failed is tried again. */
const retryAfterMs = 600_000;

/** Whether a backup is due. The first one is due at once. */
export function isDue(times: BackupTimes, schedule: Schedule): boolean {
  const { now, scheduled, is_good: isGood, is_continued: isContinued } = times;
  if (scheduled === null) return true;
  // A log archive is useless without a backup at its beginning.
  if (isGood === true && isContinued === false) return true;
  // A start in the future was written while the clock was ahead.
  const last = Math.min(scheduled, now);
  const next = schedule.next(last);
  return now >= (isGood === true ? next : Math.min(next, last + retryAfterMs));
}

/** Makes backups when they are due. Of several processes on one database, one makes each backup. */
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
 * Makes, verifies and records a backup if one is due. Old backups are deleted only after a good one.
 * @returns whether it made one
 */
export async function backUpIfDue(options: ScheduledBackupOptions, stop: AbortSignal): Promise<boolean> {
  const { handle, schedule, store, keep, log } = options;
  const isWanted = async () => isDue(await readBackupTimes(handle), schedule);
  if (!(await isWanted())) return false;
  const source = await options.source();
  // Again with the lock: another process may have made it.
  const written = await createBackup(source, store, { isScheduled: true, isWanted, stop });
  if (written === undefined) return false;
  try {
    await verifyBackup(store.read(written.name), {
      passphrase: source.passphrase,
      inFolder: options.verifyIn,
      log,
      stop,
    });
  } catch (error) {
    if (!stop.aborted)
      await recordVerification(handle, written.id, error instanceof Error ? error.message : String(error));
    throw error;
  }
  await recordVerification(handle, written.id, undefined);
  await removeOldBackups(store, written.systemId, keep);
  const { systemId, archive: current } = written;
  await removeOldParts(store, { systemId, current, passphrase: source.passphrase }).catch((error: unknown) =>
    log.warn({ err: error }, 'old parts of the log archive could not be removed'),
  );
  log.info({ location: written.location, bytes: written.bytes }, 'made and verified a backup');
  return true;
}
