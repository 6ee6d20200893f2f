import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { checkRows } from '../base/checks.js';
import { extract, isImageOrKey, Manifest, withNewFolder } from '../base/extract.js';
import type { OpenBackup } from '../base/open.js';
import { readServerVersion, withSession } from '../base/session.js';
import { BackupError } from '../container/error.js';
import type { BackupHeader } from '../container/header.js';
import { openProgramConnection } from './connection.js';
import { dumpFolder } from './dump.js';
import { feed } from './process.js';
import { findProgram, type Program } from './programs.js';

export interface DumpRestoreOptions {
  /** The new folder for the images and the secret key. It must not exist. */
  readonly target: string;
  /** The database, which must be empty. */
  readonly database: DatabaseTarget;
  /** The folder to find pg_restore in. Undefined: in PATH and in the folders of packages. */
  readonly programs: string | undefined;
  readonly stop?: AbortSignal | undefined;
}

/** Whether a backup with a dump may contain a path. Such paths cannot lead out of the folder. */
const isAllowed = (path: string) => /^dump(?:\/\d{6})?$/.test(path) || isImageOrKey(path);

/** pg_restore of this and newer versions sets `transaction_timeout`, which older servers do not know. */
const transactionTimeoutSince = 17;

/**
 * Restores a dump into an empty database, and its images into a new folder. First, the whole backup is read and
 * checked. Then one transaction changes the database. If a restore is interrupted after this transaction, you can
 * repeat it: a database that contains this backup and nothing else is then used as it is.
 * @throws BackupError
 */
export async function restoreDump(
  { header, entries }: OpenBackup,
  { target, database, programs, stop }: DumpRestoreOptions,
): Promise<{ readonly header: BackupHeader; readonly manifest: Manifest }> {
  return withNewFolder(entries, target, async (staging) => {
    if (header.kind !== 'dump') {
      throw new BackupError(
        'The backup is of an embedded database, which cannot be restored into the database of DATABASE_URL: unset DATABASE_URL ' +
          'to restore it as a folder.',
      );
    }
    const program = await withSession(
      database,
      async (client) => {
        const used = await firstObject(client);
        if (used === undefined) return findRestore(client, header, programs);
        if (!(await contains(client, header))) throw await notEmpty(client, used);
        return undefined;
      },
      stop,
    );
    const manifest = await extract(entries, staging, { isAllowed, schema: Manifest });
    await withSession(
      database,
      async (client) => {
        if (program !== undefined) await runRestore(staging, { program, database, stop });
        await checkRows(client, header, manifest);
        // Without statistics, the first queries would read whole tables.
        if (program !== undefined) await client.query('analyze');
      },
      stop,
    );
    await rm(join(staging, dumpFolder), { recursive: true });
    return { header, manifest };
  });
}

async function runRestore(
  folder: string,
  { program, database, stop }: Pick<DumpRestoreOptions, 'database' | 'stop'> & { readonly program: Program },
): Promise<void> {
  const connection = await openProgramConnection(database);
  try {
    // Otherwise the program guesses the format from the file.
    const args = ['--format=custom', '--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges'];
    await feed({ program, connection, args }, readDump(folder), stop);
  } finally {
    await connection.close();
  }
}

/** A table, view or function that is not part of PostgreSQL or an extension. Undefined: the database is empty. */
async function firstObject(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || o.name as name
     from (select relnamespace as schema, relname as name, oid from pg_class where relkind not in ('i', 'I', 't', 'c')
           union all select pronamespace, proname, oid from pg_proc) o
     join pg_namespace n on n.oid = o.schema
     where n.nspname !~ '^(pg_|information_schema$)'
       and not exists (select from pg_depend d where d.objid = o.oid and d.deptype = 'e')
     order by 1 limit 1`,
  );
  return rows[0]?.name;
}

/**
 * Whether this backup is the newest one that the database knows. This is so only in a copy of this backup on which
 * Postern has not started yet.
 */
async function contains(client: pg.Client, { id }: BackupHeader): Promise<boolean> {
  const { rows: tables } = await client.query("select where to_regclass('public.backups') is not null");
  if (tables.length === 0) return false;
  const { rows } = await client.query<{ id: string; finished_at: Date | null }>(
    'select id, finished_at from backups order by started_at desc limit 1',
  );
  // In the original database, the backup has an end. In its copy, it has none.
  return rows[0]?.id === id && rows[0].finished_at === null;
}

async function notEmpty(client: pg.Client, name: string): Promise<BackupError> {
  const { rows } = await client.query<{ database: string }>('select current_database() as database');
  return new BackupError(
    `The database ${rows[0]?.database} is not empty: it has ${name}, for example. A restore never changes existing data: ` +
      'create a new database and set DATABASE_URL to it.',
  );
}

async function findRestore(client: pg.Client, header: BackupHeader, folder: string | undefined): Promise<Program> {
  const server = await readServerVersion(client);
  if (server.major < Number.parseInt(header.postgres_version, 10)) {
    throw new BackupError(
      `The backup is of PostgreSQL ${header.postgres_version}, and the server has PostgreSQL ${server.version}: use a server that is not older.`,
    );
  }
  const program = await findProgram('pg_restore', Number.parseInt(header.pg_dump_version ?? '', 10), folder);
  if (program.major < transactionTimeoutSince || server.major >= transactionTimeoutSince) return program;
  throw new BackupError(
    `pg_restore ${program.version} cannot restore into PostgreSQL ${server.version}: install PostgreSQL's client programs of a version before ${transactionTimeoutSince}, or restore into a server of version ${transactionTimeoutSince} or later.`,
  );
}

async function* readDump(folder: string): AsyncGenerator<Buffer> {
  const parts = join(folder, dumpFolder);
  for (const name of (await readdir(parts)).sort()) {
    yield* createReadStream(join(parts, name), { highWaterMark: 1024 * 1024 });
  }
}
