import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createPrivateFolder } from '../lib/private-file.js';
import type { Account } from './account.js';
import { type Binaries, serverEnvironment } from './binaries.js';
import { inheritedPath, ownPath } from './descriptors.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

/** The superuser. Postern connects as this role, which owns its database. */
export const superuser = 'postern';

/** A role without rights, which owns the copy of a dump that is verified. Other servers do not have it. */
export const copyOwner = 'postern_copy';

/** The name of a data directory that initdb is creating, followed by random characters. */
const stagingPrefix = 'postgres.new-';

/** Milliseconds. Older folders were left by an initdb that was killed: initdb never takes this long. */
const stagingAgeMs = 10 * 60 * 1000;

/** The longest address of a unix socket, in bytes, on the systems without descriptor paths. */
const maxSocketPathBytes = 103;

/** PostgreSQL's data directory, held open. */
export interface DataDirectory {
  /** The path of the directory. Messages show it. */
  path: string;
  /** The path by which this process uses the open directory and its socket. */
  ownPath: string;
  descriptor: number;
  /** The account that owns it and that its server runs as. */
  uid: number;
  /** A name that all processes that opened this directory have in common, and that is unique on this machine. */
  clusterName: string;
  close(): void;
}

/** Creates DATA_DIR, or checks that it can be used. */
export async function prepareDataDir(dataDir: string): Promise<void> {
  try {
    await createPrivateFolder(dataDir);
    if (!statSync(dataDir).isDirectory()) throw new Error('it is a file, not a folder');
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `DATA_DIR ${dataDir} cannot be used (${reasonOf(error)}): let the user who starts Postern write to it, or choose another one.`,
      { cause: error },
    );
  }
}

/**
 * Opens the data directory `path`. Creates it with initdb if it is missing.
 *
 * @param path `postgres` in the DATA_DIR
 * @param initdbOptions more options of initdb
 * @throws EmbeddedPostgresError `data_dir_unusable`, `wrong_major_version`, `start_failed`
 */
export async function openDataDirectory(
  dataDir: string,
  path: string,
  binaries: Binaries,
  account: Account | undefined,
  initdbOptions: readonly string[] = [],
): Promise<DataDirectory> {
  try {
    finishReplacement(path);
    if (!existsSync(path) || readdirSync(path).length === 0) {
      await initialise(dataDir, path, binaries, account, initdbOptions);
    }
    await removeAbandoned(dataDir);
    assertMajorVersion(path, binaries.majorVersion);
    return openFolder(path, account?.uid ?? process.getuid?.() ?? 0);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${path} cannot be used (${reasonOf(error)}): start Postern as the owner of DATA_DIR, or choose another one.`,
      { cause: error },
    );
  }
}

/** Opens a data directory that exists, of any version. @param uid its owner */
export function openFolder(path: string, uid: number): DataDirectory {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return describe(path, descriptor, uid);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function describe(path: string, descriptor: number, uid: number): DataDirectory {
  const { uid: owner, dev, ino } = fstatSync(descriptor);
  if (owner !== uid) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${path} belongs to the account ${owner}, not to ${uid}: start Postern as its owner, or choose another DATA_DIR.`,
    );
  }
  const usedPath = ownPath(descriptor, path);
  if (Buffer.byteLength(`${usedPath}/.s.PGSQL.5432`) > maxSocketPathBytes) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${path} is too long a path for the address of a unix socket: choose a shorter DATA_DIR.`,
    );
  }
  fchmodSync(descriptor, 0o700);
  const digest = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16);
  return {
    path,
    ownPath: usedPath,
    descriptor,
    uid,
    clusterName: `postern-${digest}`,
    close: () => closeSync(descriptor),
  };
}

/**
 * Runs initdb in a temporary folder and renames it when it is complete, because two processes may start at once and each
 * may be killed at any moment. A rename onto a folder that is not empty fails.
 */
async function initialise(
  dataDir: string,
  path: string,
  binaries: Binaries,
  account: Account | undefined,
  initdbOptions: readonly string[],
): Promise<void> {
  const staging = mkdtempSync(join(dataDir, stagingPrefix));
  const descriptor = openSync(staging, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (account !== undefined) fchownSync(descriptor, account.uid, account.gid);
    await runInitdb(staging, descriptor, binaries, account, initdbOptions);
    // If a move to a new major version was interrupted, this puts the moved data at `path`. The rename below then
    // fails, so the data stays.
    finishReplacement(path);
    renameSync(staging, path);
    syncDirectory(dataDir);
  } catch (error) {
    // Another starter was faster.
    if (!existsSync(join(path, 'PG_VERSION'))) throw error;
  } finally {
    closeSync(descriptor);
    await rm(staging, { recursive: true, force: true });
  }
}

/** The name of a complete data directory that replaces the one at `path`. */
export const replacementOf = (path: string) => `${path}.next`;

/**
 * Does the last rename of a move to a new major version, if the process that moved the data was killed before this
 * rename.
 */
export function finishReplacement(path: string): void {
  if (existsSync(path) || !existsSync(replacementOf(path))) return;
  try {
    renameSync(replacementOf(path), path);
    syncDirectory(dirname(path));
  } catch (error) {
    // Another starter was faster.
    if (!existsSync(path)) throw error;
  }
}

/** Removes folders of an initdb that was killed. Keeps recent ones, because another Postern's initdb may be running. */
async function removeAbandoned(dataDir: string): Promise<void> {
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(stagingPrefix))) {
    const path = join(dataDir, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // If two processes remove the same folder, both may fail. The next start removes the rest.
    if (Date.now() - changedAt > stagingAgeMs) await rm(path, { recursive: true }).catch(() => undefined);
  }
}

async function runInitdb(
  staging: string,
  descriptor: number,
  binaries: Binaries,
  account: Account | undefined,
  initdbOptions: readonly string[],
): Promise<void> {
  const options = [
    `--pgdata=${inheritedPath(staging)}`,
    `--username=${superuser}`,
    // `access.ts` sets the rules for clients before each start. TCP is off.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // The builtin provider and not ICU: the bundled version of ICU is old, and a later version with another sort order
    // would corrupt indexes.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    // One call for the whole file system. One call for each of a thousand files takes seconds on a busy disk.
    ...(process.platform === 'linux' ? ['--sync-method=syncfs'] : []),
    ...initdbOptions,
  ];
  const initdb = spawn(join(binaries.directory, 'bin', 'initdb'), options, {
    ...account,
    cwd: '/',
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  });
  let stderr = '';
  initdb.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const [code, signal] = await once(initdb, 'close');
  if (code === 0) return;
  throw new EmbeddedPostgresError(
    'start_failed',
    `PostgreSQL's initdb failed (${signal ?? code}): ${stderr.trim().slice(-500)}`,
  );
}

function assertMajorVersion(path: string, bundledVersion: number): void {
  let dataVersion: string;
  try {
    dataVersion = readFileSync(join(path, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${path} is not a data directory of PostgreSQL that Postern may read (${reasonOf(error)}): ` +
        'move it away, or choose another DATA_DIR.',
      { cause: error },
    );
  }
  if (dataVersion === String(bundledVersion)) return;
  throw new EmbeddedPostgresError(
    'wrong_major_version',
    `${path} was created by PostgreSQL ${dataVersion}, and this Postern contains PostgreSQL ${bundledVersion}, which cannot read it. ` +
      'A start of the service moves the data if it can; `postern upgrade --check` shows what it would do. Or run ' +
      `PostgreSQL ${dataVersion} on it and set DATABASE_URL.`,
  );
}

/** After this, a rename in the folder `path` survives a power failure. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
