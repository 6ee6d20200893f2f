import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseJsonObject } from '../../lib/json-object.js';
import { UnusableFileError } from './error.js';

/** The name of the first file of a backup. */
export const headerPath = 'postern-backup.json';
/** The format that this release writes and reads. */
export const backupFormat = 1;

// Messages show parts of a header before its origin is known, so it must contain nothing that a terminal interprets.
const Printable = Type.String({ pattern: '^[\\x20-\\x7e]{1,100}$' });

const Header = Type.Object({
  format: Type.Literal(backupFormat),
  /** `files`: a copy of the files of the embedded server. `dump`: the output of pg_dump. */
  kind: Type.Union([Type.Literal('files'), Type.Literal('dump')]),
  id: Printable,
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' }),
  postern_version: Printable,
  postgres_version: Printable,
  /** The version of pg_dump for a dump: an older pg_restore cannot read it. */
  pg_dump_version: Type.Optional(Printable),
  /**
   * The identifier that PostgreSQL gives each database cluster. For a dump, a point and the number of the database
   * follow.
   */
  system_id: Type.String({ pattern: '^\\d+(\\.\\d+)?$' }),
  /** The id of a restored installation. Without it, the backup is of an installation that was not restored. */
  installation: Type.Optional(Type.String({ pattern: '^[0-9a-f]{8}$' })),
  /** The ids of the secret keys that the values in the database need. */
  secret_key_ids: Type.Array(Type.String({ pattern: '^[0-9a-f]{8}$' })),
  has_secret_key: Type.Boolean(),
  /**
   * The archive of the write-ahead log that continues the backup, and the position from which a restore may need the
   * archive.
   */
  archive: Type.Optional(
    Type.Object({
      id: Type.String({ pattern: '^[0-9a-f]{16}$' }),
      lsn: Type.String({ pattern: '^[0-9A-F]+/[0-9A-F]+$' }),
    }),
  ),
});

/** What a reader must know before it reads the rest of a backup. */
export type BackupHeader = Static<typeof Header>;

/** Reads the first file of a backup. @throws UnusableFileError for other files and other formats */
export function parseHeader(text: string): BackupHeader {
  const value: unknown = parseJsonObject(text) ?? {};
  const format: unknown = Object(value).format;
  if (typeof format !== 'number') throw notABackup();
  if (format > backupFormat) {
    throw new UnusableFileError(
      `The backup has the format ${format}, which a newer release of Postern has written: use that release.`,
    );
  }
  if (format < backupFormat) {
    throw new UnusableFileError(
      `The backup has the old format ${format}, which this release cannot read: use the release of Postern that wrote it.`,
    );
  }
  if (!Value.Check(Header, value)) throw notABackup();
  return value;
}

export function notABackup(): UnusableFileError {
  return new UnusableFileError('The file is not a backup of Postern.');
}
