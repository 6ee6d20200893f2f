import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectionFields, type DatabaseTarget } from '../../../src/database/connections/target.js';
import { serverAccount } from '../../../src/embedded/account.js';
import { copyFoldersFor, locateBinaries } from '../../../src/embedded/binaries.js';
import { checksumOf, listSequences, listTables } from '../../../src/embedded/major-upgrade/contents.js';
import { formerBinariesFolder, installFormerBinaries } from '../../../src/embedded/major-upgrade/former-binaries.js';
import { ensureDatabase, joinServer, type Log, leaveServer } from '../../../src/embedded/membership.js';
import { openServer } from '../../../src/embedded/server.js';

/** The former major version of PostgreSQL. */
const formerMajor = 17;

export const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Starts a server of the former version on `dataDir`, with the programs that npm installs there. */
export async function startFormerServer(dataDir: string) {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'postgres');
  const account = serverAccount(path);
  const places = copyFoldersFor(account, dataDir);
  const binaries = await locateBinaries(account, places, await installFormerBinaries(dataDir, formerMajor));
  const server = await openServer(dataDir, path, binaries, account);
  const membership = await joinServer(server, silent, new AbortController().signal);
  await ensureDatabase(membership, 'postern');
  return {
    /** The folder of its programs. */
    programs: binaries.directory,
    url: `postgres://postern@localhost/postern?host=${encodeURIComponent(path)}`,
    async stop() {
      await leaveServer(membership, server, silent);
      server.data.close();
    },
  };
}

/** Copies a DATA_DIR. The programs of the former version are shared. */
export async function copyDataDir(from: string, to: string): Promise<string> {
  const programs = formerBinariesFolder(from, formerMajor);
  await cp(from, to, { recursive: true, preserveTimestamps: true, filter: (path) => path !== programs });
  await keepOwners(join(from, 'postgres'), join(to, 'postgres'));
  await symlink(programs, formerBinariesFolder(to, formerMajor));
  return to;
}

/** The files of a server that root starts belong to another account. */
async function keepOwners(from: string, to: string): Promise<void> {
  const { uid, gid } = await stat(from);
  for (const entry of [to, ...(await readdir(to, { recursive: true })).map((name) => join(to, name))]) {
    await chown(entry, uid, gid);
  }
}

/**
 * The columns to compare, of tables in which another column is a transaction number: it gets a new value in the move.
 */
const comparedColumns = new Map([
  ['audit_days', 'day, events, hash, sealed_at'],
  ['address_blocks_version', 'only_one'],
]);

/** The rows of each table as a checksum, the position of each sequence, and the settings of the tests. */
export async function contentsOf(target: DatabaseTarget): Promise<Record<string, unknown>> {
  const client = new pg.Client({ ...connectionFields(target), ssl: false });
  await client.connect();
  try {
    const checksums: Record<string, string> = {};
    for (const table of await listTables(client)) {
      checksums[table.name] = await checksumOf(client, {
        ...table,
        columns: comparedColumns.get(table.name) ?? table.columns,
      });
    }
    const { rows: settings } = await client.query(
      "select current_setting('work_mem') as work_mem, current_setting('statement_timeout') as statement_timeout",
    );
    return { checksums, sequences: await listSequences(client), settings };
  } finally {
    await client.end();
  }
}

const mover = fileURLToPath(new URL('mover.mjs', import.meta.url));

/**
 * Opens and closes the database of `dataDir` in a process of its own.
 * @param place where it kills itself; undefined: nowhere
 */
export async function runMover(dataDir: string, place?: string) {
  const child = spawn(process.execPath, [mover, dataDir, place ?? ''], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

export const removeFolder = (path: string) => rm(path, { recursive: true, force: true });
