import { type Static, Type } from 'typebox';
import { Id, NullableNumber, NullableString, NullableTime, Time } from '../common.js';

/** A backup that was written, is being written, or failed. */
export const Backup = Type.Object(
  {
    id: Id,
    started_at: Time,
    finished_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'null: it is being written, or it failed or was interrupted.',
    }),
    verified_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description:
        'When a restored copy of it passed all checks. Postern verifies the backups that it makes in BACKUP_TO.',
    }),
    is_scheduled: Type.Boolean(),
    location: Type.String({ examples: ['/backups/postern-7412345678901234567-20261123T030000Z.tar'] }),
    bytes: Type.Unsafe<number | null>(NullableNumber),
    error: Type.Unsafe<string | null>({ ...NullableString, description: 'Why it failed.' }),
  },
  { title: 'Backup' },
);

const LogArchive = Type.Object(
  {
    location: Type.String({ examples: ['/backups'] }),
    started_at: Time,
    archived_at: Type.String({
      ...Time,
      description: 'Everything that was committed before this time is in the archive. Written once a minute.',
    }),
    error: Type.Unsafe<string | null>({ ...NullableString, description: 'Why nothing is added to it at the moment.' }),
  },
  { title: 'LogArchive' },
);

/** The answer of `GET /admin/v1/backups`. */
export const BackupState = Type.Object(
  {
    now: Time,
    place: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'BACKUP_TO, where Postern makes backups by itself. null: it makes none.',
    }),
    method: Type.Union([Type.Literal('files'), Type.Literal('pg_dump')], {
      description:
        'How Postern makes backups. files: a copy of the files of the embedded database. pg_dump: the program of PostgreSQL, with DATABASE_URL.',
    }),
    problem: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'Why Postern can make no backups: pg_dump is missing or too old. null: it can.',
    }),
    schedule: Type.String({ description: 'BACKUP_SCHEDULE.', examples: ['24h'] }),
    keep: Type.Integer({ description: 'BACKUP_KEEP.' }),
    is_encrypted: Type.Boolean({ description: 'Whether new backups are encrypted.' }),
    next_at: Type.Unsafe<string | null>({ ...NullableTime, description: 'When the next scheduled backup is due.' }),
    is_running: Type.Boolean({ description: 'Whether a backup is being made or verified.' }),
    archive: Type.Union([LogArchive, Type.Null()], {
      description: 'The continuous archive of the write-ahead log (BACKUP_CONTINUOUS). null: there is none.',
    }),
    backups: Type.Array(Backup, { description: 'The last 50 backups that were not deleted, the newest first.' }),
  },
  { title: 'BackupState' },
);
export type BackupState = Static<typeof BackupState>;
