import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasDescriptorPaths } from './descriptors.js';
import { EmbeddedPostgresError } from './error.js';

/** An account of the operating system, as options of `spawn`. */
export interface Account {
  uid: number;
  gid: number;
}

/** The accounts that the server may run as if root starts it, in order of preference. */
const unprivilegedAccounts = ['postgres', 'nobody'];

/**
 * The account that PostgreSQL has to run as; undefined for the account of this process. Only root needs another account,
 * because PostgreSQL refuses to run as root.
 *
 * The owner of existing data decides: `postgres` may have been added to the system after `nobody` created the data.
 *
 * @param dataDirectory the data directory of PostgreSQL, which may not exist yet
 * @throws EmbeddedPostgresError `no_account`, `data_dir_unusable`
 */
export function serverAccount(dataDirectory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (!hasDescriptorPaths) {
    // Without /proc an unprivileged server cannot reach data below folders that only root may enter.
    throw new EmbeddedPostgresError(
      'no_account',
      'On this system the embedded PostgreSQL cannot be started by root: start Postern as another user, or set DATABASE_URL.',
    );
  }
  const owner = statSync(join(dataDirectory, 'PG_VERSION'), { throwIfNoEntry: false });
  if (owner?.uid === 0) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${dataDirectory} belongs to root, and PostgreSQL refuses to run as root: give it and all files in it to an ` +
        'unprivileged account, for example with `chown -R postgres`.',
    );
  }
  return owner === undefined ? unprivilegedAccount() : { uid: owner.uid, gid: owner.gid };
}

/** The fields of each entry of `/etc/passwd`. */
export const passwdEntries = (): string[][] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));

function unprivilegedAccount(): Account {
  const entries = passwdEntries();
  for (const name of unprivilegedAccounts) {
    const [, , uid, gid] = entries.find((entry) => entry[0] === name) ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedPostgresError(
    'no_account',
    'Started by root, Postern runs its PostgreSQL as `postgres` or `nobody`, and /etc/passwd has neither: ' +
      'add an account named `postgres`, start Postern as another user, or set DATABASE_URL.',
  );
}
