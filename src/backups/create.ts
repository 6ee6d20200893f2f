import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type pg from 'pg';
import type { DatabaseTarget } from '../database/connections/target.js';
import { encryptAge } from '../lib/crypto/age.js';
import { countRows, nextTransaction } from './base/contents.js';
import { isImageOrKey } from './base/extract.js';
import { ownerOf, readInstallation } from './base/installation.js';
import {
  currentArchive,
  lockBackups,
  paced,
  readServerVersion,
  readTime,
  untilStopped,
  waitForLock,
  withSession,
} from './base/session.js';
import { type ArchiveEntry, textEntry, writeArchive } from './container/archive.js';
import { type BackupHeader, backupFormat, headerPath } from './container/header.js';
import { filesBelow } from './data-files.js';
import { dumpDatabase } from './dumps/dump.js';
import { findProgram, type Program } from './dumps/programs.js';
import { copyRunningServer } from './online-backup.js';
import { type BackupPlace, backupName } from './places/place.js';

/** What a backup contains, and how. */
export interface BackupSource {
  readonly target: DatabaseTarget;
  /** The folder of the embedded server's files: `postgres` in DATA_DIR. Undefined: pg_dump reads the database. */
  readonly serverFolder: string | undefined;
  /** The folder to find pg_dump in. Undefined: in PATH and in the folders of packages. */
  readonly programs: string | undefined;
  readonly imageFolder: string;
  /**
   * The key of the advisory lock that a process needs to remove images. A backup holds this lock, so that no image of a
   * copied row is missing.
   */
  readonly imageRemovalLock: number;
  /** The secret keys, the current one first. */
  readonly secretKeys: readonly { readonly id: string; readonly key: string }[];
  readonly includesSecretKey: boolean;
  /** Encrypts the backup. Without it, the current secret key signs the backup. */
  readonly passphrase: string | undefined;
  /** The version of Postern. */
  readonly version: string;
}

/** A backup that was written. */
export interface WrittenBackup {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly bytes: number;
  /** The id of the installation, as in the name of the backup. */
  readonly owner: string;
  /** The id of the archive of the write-ahead log that continues the backup. */
  readonly archive: string | null;
}

/** How a backup is written. */
export interface BackupOptions {
  /** Whether the schedule asked for the backup, and not an operator. */
  readonly isScheduled: boolean;
  /** Called when no other backup runs. If it returns false, nothing is written. */
  readonly isWanted?: (client: pg.Client) => Promise<boolean>;
  readonly stop?: AbortSignal;
}

/**
 * Writes a backup of the running database, with the images. The backup contains every transaction that was committed before the backup
 * began. A copy of the files of an embedded server also contains the transactions that were committed before the backup ended.
 * @returns undefined if another backup is running, or if `isWanted` returned false
 * @throws BackupError
 */
export function createBackup(
  source: BackupSource,
  place: BackupPlace,
  { isScheduled, isWanted, stop }: BackupOptions,
): Promise<WrittenBackup | undefined> {
  return withSession(
    source.target,
    async (client) => {
      if (!(await lockBackups(client)) || (await isWanted?.(client)) === false) return undefined;
      await client.query(untilNextSecond);
      const header = await describe(client, source);
      const owner = ownerOf(header);
      const name = backupName(owner, header.created_at, source.passphrase !== undefined);
      const row = {
        id: header.id,
        startedAt: header.created_at,
        isScheduled,
        location: place.locate(name),
        archive: header.archive?.id ?? null,
      };
      try {
        const program =
          header.kind === 'dump'
            ? await findProgram('pg_dump', (await readServerVersion(client)).major, source.programs)
            : undefined;
        await waitForLock(client, source.imageRemovalLock);
        const content = contentOf(client, { source, header, row, program });
        const bytes = await place.write(name, untilStopped(paced(content), stop));
        await client.query('update backups set finished_at = db_now(), bytes = $2 where id = $1', [row.id, bytes]);
        return { id: row.id, name, location: row.location, bytes, owner, archive: row.archive };
      } catch (error) {
        // A stop of the process is no failure: the next start repeats the backup.
        if (stop?.aborted !== true) await recordFailure(source.target, row, error);
        throw error;
      }
    },
    stop,
  );
}

/** The name of a backup contains the second of its start. A second backup in this second would replace the first one. */
const untilNextSecond = `select pg_sleep(extract(epoch from started_at + interval '1 second' - db_now()))
   from backups where started_at = date_trunc('second', db_now()) limit 1`;

async function describe(client: pg.Client, source: BackupSource): Promise<BackupHeader> {
  const { serverFolder } = source;
  const isDump = serverFolder === undefined;
  // A restored dump is in a database with another system identifier. So only a copy of files needs an installation id.
  const installation = isDump ? undefined : await readInstallation(serverFolder);
  const { rows } = await client.query<{
    system: string;
    version: string;
    now: string;
    archive: string | null;
    lsn: string;
  }>(
    `select case when $1 then system_identifier || '.' || d.oid else system_identifier::text end as system,
            current_setting('server_version') as version, case when $1 then null else ${currentArchive} end as archive,
            pg_current_wal_flush_lsn()::text as lsn, to_char(db_now(), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as now
     from pg_control_system(), pg_database d where d.datname = current_database()`,
    // Your own server may have several databases of Postern, so the identifier of a dump contains the database's
    // number.
    [isDump],
  );
  const [server] = rows;
  if (server === undefined) throw new Error('PostgreSQL did not describe itself');
  return {
    format: backupFormat,
    kind: isDump ? 'dump' : 'files',
    id: randomUUID(),
    created_at: server.now,
    postern_version: source.version,
    postgres_version: server.version,
    system_id: server.system,
    ...(installation !== undefined && { installation }),
    secret_key_ids: source.secretKeys.map(({ id }) => id),
    has_secret_key: source.includesSecretKey,
    ...(server.archive !== null && { archive: { id: server.archive, lsn: server.lsn } }),
  };
}

/** What a backup is made from. */
interface BackupContent {
  readonly source: BackupSource;
  readonly header: BackupHeader;
  readonly row: BackupRow;
  /** The program pg_dump. Undefined if the files of the server are copied instead. */
  readonly program: Program | undefined;
}

function contentOf(client: pg.Client, given: BackupContent): AsyncIterable<Buffer> {
  const { source, header, program } = given;
  const manifest: Record<string, unknown> = {};

  async function* entries(): AsyncGenerator<ArchiveEntry> {
    const described = { ...header, ...(program !== undefined && { pg_dump_version: program.version }) };
    yield textEntry(headerPath, `${JSON.stringify(described, null, 1)}\n`);
    Object.assign(manifest, yield* program === undefined ? copyFiles(client, given) : dump(client, given, program));
    // The images come after the rows: a file without a row does no harm, but a row without a file is a broken image.
    yield* filesBelow(source.imageFolder, 'images', {
      isExcluded: (path) => path === 'drafts' || !isImageOrKey(join('images', path)),
      isEmptied: () => false,
    });
    if (source.includesSecretKey) {
      yield textEntry('secret-key', source.secretKeys.map(({ key }) => `${key}\n`).join(''));
    }
  }

  const [key] = source.secretKeys;
  if (key === undefined) throw new Error('there is no secret key to sign the backup with');
  return source.passphrase === undefined
    ? writeArchive(entries(), () => manifest, key)
    : encryptAge(
        source.passphrase,
        writeArchive(entries(), () => manifest, undefined),
      );
}

/** Members of the manifest, which says what the backup contains. */
type Described = Record<string, unknown>;

async function* dump(
  client: pg.Client,
  { source: { target }, row }: BackupContent,
  program: Program,
): AsyncGenerator<ArchiveEntry, Described> {
  await client.query(insertBackup, valuesOf(row));
  // A dump shows the database at one moment, so no transaction ended between the count and the end of the backup.
  return { rows: yield* dumpDatabase(client, { target, program }), is_quiet: true };
}

async function* copyFiles(
  client: pg.Client,
  { source: { serverFolder = '' }, row }: BackupContent,
): AsyncGenerator<ArchiveEntry, Described> {
  const manifest: Described = {};
  let next: string | undefined;
  const range = yield* copyRunningServer(client, serverFolder, async () => {
    // The copy ends after this function. So the backup contains this row and all transactions that are counted here.
    await client.query(insertBackup, valuesOf(row));
    ({ rows: manifest.rows, next } = await countRows(client));
  });
  manifest.ended_at = await readTime(client);
  manifest.is_quiet = next === (await nextTransaction(client));
  return { ...manifest, ...range };
}

/** The row of a backup in the table `backups`. */
interface BackupRow {
  readonly id: string;
  readonly startedAt: string;
  readonly isScheduled: boolean;
  readonly location: string;
  readonly archive: string | null;
}

const insertBackup =
  'insert into backups (id, started_at, is_scheduled, location, archive) values ($1, $2, $3, $4, $5)';
const valuesOf = (row: BackupRow) => [row.id, row.startedAt, row.isScheduled, row.location, row.archive];

/** Stores why a backup failed. The database may be the cause, so a failure to store it is ignored. */
async function recordFailure(target: DatabaseTarget, row: BackupRow, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  await withSession(target, async (client) => {
    await client.query(`${insertBackup} on conflict (id) do nothing`, valuesOf(row));
    await client.query('update backups set error = $2 where id = $1', [row.id, reason.slice(0, 500)]);
  }).catch(() => undefined);
}
