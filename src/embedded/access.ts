import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { passwdEntries } from './account.js';
import { copyOwner, type DataDirectory, superuser } from './data-directory.js';
import { ownPath } from './descriptors.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

/** The name of the map from accounts of the system to roles, in `pg_ident.conf`. */
const mapName = 'postern';

/** A server of the account that runs this process trusts that account: it can change the server's files anyway. */
const trustOwnAccount = 'local all all trust\n';

/** A server that root starts runs as another account. It admits only root, whose account the system reports (`peer`). */
const admitRoot = `local all ${superuser},${copyOwner} peer map=${mapName}\n`;
const identOfRoot = () => [superuser, copyOwner].map((role) => `${mapName} "${nameOfRoot()}" ${role}\n`).join('');

/** The rules for clients as open files that only root can change: `pg_hba.conf` and `pg_ident.conf`. */
export interface AccessFiles {
  readonly hba: number;
  readonly ident: number;
  close(): void;
}

/**
 * Opens the access files for a server that root starts. They are outside the data directory and have no name, so no process
 * of the server's account can change or replace them (decision 41).
 *
 * @param dataDir the folder in which the files are created; their names are removed when they are open
 * @throws EmbeddedPostgresError `data_dir_unusable`
 */
export function openAccessFiles(dataDir: string): AccessFiles {
  const descriptors: number[] = [];
  const open = (content: string) => {
    const descriptor = openUnnamed(dataDir, content);
    descriptors.push(descriptor);
    return descriptor;
  };
  const close = () => {
    for (const descriptor of descriptors) closeSync(descriptor);
  };
  try {
    return { hba: open(admitRoot), ident: open(identOfRoot()), close };
  } catch (error) {
    close();
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${dataDir} cannot be written (${reasonOf(error)}): start Postern as the owner of DATA_DIR.`,
      { cause: error },
    );
  }
}

/** A file of root that every account can read by its descriptor, and no other account can write. */
function openUnnamed(folder: string, content: string): number {
  const path = join(folder, `postgres.access-${randomBytes(6).toString('hex')}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(path, flags, 0o600);
  try {
    writeSync(descriptor, content);
    fchmodSync(descriptor, 0o444);
    // The server must not inherit a descriptor that can write.
    return openSync(ownPath(descriptor, path), constants.O_RDONLY);
  } finally {
    rmSync(path, { force: true });
    closeSync(descriptor);
  }
}

/**
 * Writes the rules for clients into the data directory, before each start of a server of this process's account.
 *
 * @throws EmbeddedPostgresError `data_dir_unusable`
 */
export function writeAccess(data: DataDirectory): void {
  try {
    replaceFile(join(data.ownPath, 'pg_hba.conf'), trustOwnAccount);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${join(data.path, 'pg_hba.conf')} cannot be written (${reasonOf(error)}): start Postern as the owner of DATA_DIR.`,
      { cause: error },
    );
  }
}

/** Writes a temporary file and renames it: the server never reads a part of it, and a symbolic link is not followed. */
function replaceFile(path: string, content: string): void {
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(temporaryPath, flags, 0o600);
  try {
    writeSync(descriptor, `# Written by Postern.\n${content}`);
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The name of the account with the id 0, by the first entry of `/etc/passwd`, as the server finds it. */
function nameOfRoot(): string {
  return passwdEntries().find(([, , uid]) => uid === '0')?.[0] ?? 'root';
}
