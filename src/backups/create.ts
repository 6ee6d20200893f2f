import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { DatabaseTarget } from '../database/connections/target.js';
import { encryptAge } from '../lib/crypto/age.js';
import { type ArchiveEntry, textEntry, writeArchive } from './container/archive.js';
import { type BackupHeader, backupFormat, headerPath } from './container/header.js';
import { countRows, nextTransaction } from './contents.js';
import { filesBelow } from './data-files.js';
import { copyRunningServer } from './online-backup.js';
import { type BackupPlace, backupName } from './places/place.js';
import { currentArchive, lockBackups, readTime, untilStopped, withSession } from './session.js';

/** What a backup contains, and how. */
export interface BackupSource {
  readonly target: DatabaseTarget;
  /** The folder of the embedded server's files: `postgres` in DATA_DIR. */
  readonly serverFolder: string;
  readonly imageFolder: string;
  /** The secret keys, the current one first. */
  readonly secretKeys: readonly { readonly id: string; readonly key: string }[];
  readonly includesSecretKey: boolean;
  /** Encrypts the backup. */
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
  readonly systemId: string;
  /** The log archive that continues it. */
  readonly archive: string | null;
}

/** How a backup is written. */
export interface BackupOptions {
  /** Whether the schedule asks for it, and not a person. */
  readonly isScheduled: boolean;
  /** Asked when no other backup runs. If it answers false, nothing is written. */
  readonly isWanted?: (client: pg.Client) => Promise<boolean>;
  readonly stop?: AbortSignal;
}

/**
 * Writes a backup of the embedded server while it runs, with the images. The backup contains every transaction that was
 * committed before it began.
 * @returns undefined if another backup is running, or if this one is not wanted
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
      const header = await describe(client, source);
      const name = backupName(header.system_id, header.created_at, source.passphrase !== undefined);
      const row = {
        id: header.id,
        startedAt: header.created_at,
        isScheduled,
        location: place.locate(name),
        archive: header.archive?.id ?? null,
      };
      try {
        const bytes = await place.write(name, untilStopped(contentOf(client, source, header, row), stop));
        await client.query('update backups set finished_at = db_now(), bytes = $2 where id = $1', [row.id, bytes]);
        return { id: row.id, name, location: row.location, bytes, systemId: header.system_id, archive: row.archive };
      } catch (error) {
        // A stop is no failure: the next start repeats the backup.
        if (stop?.aborted !== true) await recordFailure(source.target, row, error);
        throw error;
      }
    },
    stop,
  );
}

async function describe(client: pg.Client, source: BackupSource): Promise<BackupHeader> {
  const { rows } = await client.query<{
    system: string;
    version: string;
    now: string;
    archive: string | null;
    lsn: string;
  }>(
    `select system_identifier::text as system, current_setting('server_version') as version,
            ${currentArchive} as archive, pg_current_wal_flush_lsn()::text as lsn,
            to_char(db_now(), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as now from pg_control_system()`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('PostgreSQL did not describe itself');
  return {
    format: backupFormat,
    kind: 'files',
    id: randomUUID(),
    created_at: server.now,
    postern_version: source.version,
    postgres_version: server.version,
    system_id: server.system,
    secret_key_ids: source.secretKeys.map(({ id }) => id),
    has_secret_key: source.includesSecretKey,
    ...(server.archive !== null && { archive: { id: server.archive, lsn: server.lsn } }),
  };
}

function contentOf(
  client: pg.Client,
  source: BackupSource,
  header: BackupHeader,
  row: BackupRow,
): AsyncIterable<Buffer> {
  const manifest: Record<string, unknown> = {};

  /** The row and the counts are part of the backup, because its end comes later. */
  async function beforeEnd(): Promise<void> {
    await client.query(insertBackup, valuesOf(row));
    manifest.rows = await countRows(client);
    manifest.next_transaction = await nextTransaction(client);
  }

  async function* entries(): AsyncGenerator<ArchiveEntry> {
    yield textEntry(headerPath, `${JSON.stringify(header, null, 1)}\n`);
    Object.assign(manifest, yield* copyRunningServer(client, source.serverFolder, beforeEnd));
    manifest.ended_at = await readTime(client);
    manifest.is_quiet = manifest.next_transaction === (await nextTransaction(client));
    // After the rows: a file without a row does no harm, but a row without a file is a broken image.
    yield* filesBelow(source.imageFolder, 'images', {
      isExcluded: (path) => path === 'drafts',
      isEmptied: () => false,
    });
    if (source.includesSecretKey) {
      yield textEntry('secret-key', source.secretKeys.map(({ key }) => `${key}\n`).join(''));
    }
  }

  const archive = writeArchive(entries(), () => manifest);
  return source.passphrase === undefined ? archive : encryptAge(source.passphrase, archive);
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
