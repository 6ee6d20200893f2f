import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { backupLock } from './base/session.js';
import type { MadeBackups } from './places/place.js';

/** A backup that was written, is being written, or failed. */
export interface RecordedBackup {
  readonly id: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly verified_at: string | null;
  readonly is_scheduled: boolean;
  readonly location: string;
  readonly bytes: number | null;
  readonly error: string | null;
}

const recordedColumns = sql`id, started_at, finished_at, verified_at, is_scheduled, location, bytes::float8 as bytes, error`;

const selectRecent = statement<Record<never, never>, RecordedBackup>(
  'backups_recent',
  () => sql`
  select ${recordedColumns} from backups
  order by started_at desc limit 20`,
);

/** The last backups, the newest first. */
export function listBackups(handle: Queryable): Promise<RecordedBackup[]> {
  return handle.query(selectRecent({}));
}

const selectKept = statement<Record<never, never>, RecordedBackup>(
  'backups_kept',
  () => sql`
  select ${recordedColumns} from backups
  where removed_at is null order by started_at desc limit 50`,
);

/** The last backups that were not deleted, the newest first. */
export function keptBackups(handle: Queryable): Promise<RecordedBackup[]> {
  return handle.query(selectKept({}));
}

const selectBackup = statement<{ id: string }, RecordedBackup>(
  'backup_one',
  (p) => sql`
  select ${recordedColumns} from backups
  where id = ${p.id} and removed_at is null`,
);

/** A backup that was not deleted. */
export async function readBackup(handle: Queryable, id: string): Promise<RecordedBackup | undefined> {
  const [backup] = await handle.query(selectBackup({ id }));
  return backup;
}

const removeAll = statement<{ locations: readonly string[] }>(
  'backups_removed',
  (p) =>
    sql`update backups set removed_at = db_now() where location = any(${p.locations}::text[]) and removed_at is null`,
);

/** Records that old backups were deleted. */
export async function markRemoved(handle: Queryable, locations: readonly string[]): Promise<void> {
  if (locations.length > 0) await handle.query(removeAll({ locations }));
}

const selectMade = statement<Record<never, never>, { readonly location: string; readonly is_verified: boolean }>(
  'backups_made',
  () => sql`
  select location, verified_at is not null as is_verified from backups where finished_at is not null and removed_at is null`,
);

/** The backups that this database has made, and that were not deleted. */
export async function readMade(handle: Queryable): Promise<MadeBackups> {
  return new Map((await handle.query(selectMade({}))).map((backup) => [backup.location, backup]));
}

const selectRunning = statement<{ high: number; low: number }, { is_running: boolean }>(
  'backup_running',
  (p) => sql`
  select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and classid::bigint = ${p.high}::bigint and objid::bigint = ${p.low}::bigint
    and database = (select oid from pg_database where datname = current_database())) as is_running`,
);

/** Whether any process runs a backup, or a verification that an operator has asked for. */
export async function isBackupRunning(handle: Queryable): Promise<boolean> {
  const [high, low] = [Math.floor(backupLock / 2 ** 32), backupLock % 2 ** 32];
  return (await handle.query(selectRunning({ high, low })))[0]?.is_running === true;
}

/** The archive of the write-ahead log. */
export interface LogArchive {
  readonly location: string;
  readonly started_at: string;
  /** Everything that was committed before this time is in the archive. Written about once a minute. */
  readonly archived_at: string;
  /** Seconds since `archived_at`. */
  readonly age: number;
  /** Why the archive does not continue. Null if it does. */
  readonly error: string | null;
}

const selectArchive = statement<Record<never, never>, LogArchive>(
  'backup_archive',
  () => sql`
  select location, started_at, archived_at, greatest(extract(epoch from db_now() - archived_at), 0)::float8 as age, error
  from backup_archive`,
);

/** The archive of the write-ahead log. Undefined if none was begun. */
export async function readLogArchive(handle: Queryable): Promise<LogArchive | undefined> {
  const [archive] = await handle.query(selectArchive({}));
  return archive;
}

/** Times in milliseconds since 1970, by the clock of the database. */
export interface BackupTimes {
  readonly now: number;
  /** The start of the last verified backup. */
  readonly verified: number | null;
  /** The start of the last scheduled backup. */
  readonly scheduled: number | null;
  /** Whether the last scheduled backup was written and verified. */
  readonly is_good: boolean;
  /** How many scheduled backups were written since the last good one, but not verified. They are not deleted. */
  readonly unverified: number;
  /**
   * Whether the log archive that is being written continues the last scheduled backup. Null if no log archive is being
   * written.
   */
  readonly is_continued: boolean | null;
}

/**
 * Leaves out backups whose start is in the future: they were written while the clock was ahead. So the next backup is made at the usual time, and
 * the age of the last verified one is right.
 */
const selectTimes = statement<Record<never, never>, BackupTimes>(
  'backups_times',
  () => sql`
  with past as (select * from backups where started_at <= db_now())
  select (extract(epoch from db_now()) * 1000)::float8 as now,
         (select (extract(epoch from max(started_at)) * 1000)::float8 from past where verified_at is not null) as verified,
         (extract(epoch from last.started_at) * 1000)::float8 as scheduled, last.verified_at is not null as is_good,
         (select count(*)::int from past
          where is_scheduled and finished_at is not null and removed_at is null
            and started_at > coalesce((select max(started_at) from past where is_scheduled and verified_at is not null), '-infinity')
         ) as unverified,
         (select last.archive is not distinct from substr(slot_name, 17) from pg_replication_slots
          where starts_with(slot_name, 'postern_archive_') order by slot_name limit 1) as is_continued
  from (select) one left join lateral
    (select started_at, verified_at, archive from past where is_scheduled order by started_at desc limit 1) last on true`,
);

/** When backups were made. */
export async function readBackupTimes(handle: Queryable): Promise<BackupTimes> {
  const [times] = await handle.query(selectTimes({}));
  if (times === undefined) throw new Error('the times of backups have no row');
  return times;
}

const markVerified = statement<{ id: string }>(
  'backup_verified',
  (p) => sql`update backups set verified_at = db_now(), error = null where id = ${p.id}`,
);
const markFailed = statement<{ id: string; error: string }>(
  'backup_failed',
  (p) => sql`update backups set error = ${p.error}, verified_at = null where id = ${p.id}`,
);

/** Stores the result of a verification. @param error why the backup is not good; undefined if it is */
export async function recordVerification(handle: Queryable, id: string, error: string | undefined): Promise<void> {
  await handle.query(error === undefined ? markVerified({ id }) : markFailed({ id, error: error.slice(0, 500) }));
}
