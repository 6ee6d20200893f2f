import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HAS_DESCRIPTOR_PATHS } from './descriptors.js';
import { EmbeddedPostgresError } from './error.js';

/** An account of the system, spread into the options of `spawn`. */
export interface Account {
  uid: number;
  gid: number;
}

/** The accounts that may serve in root's stead, in order of preference. */
const UNPRIVILEGED_ACCOUNTS = ['postgres', 'nobody'];

/**
 * The account PostgreSQL has to run as, or undefined for the one that runs this process. Only root needs another:
 * PostgreSQL refuses to run as root, and the less it may do, the better.
 *
 * Existing data decides by its owner, because `postgres` may have been added to the system after `nobody` made them.
 *
 * @param dataDirectory the data directory of PostgreSQL, whether it exists yet or not
 * @throws EmbeddedPostgresError `no_account`, `data_dir_unusable`
 */
export function serverAccount(dataDirectory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (!HAS_DESCRIPTOR_PATHS) {
    // Without /proc an unprivileged server cannot be led past folders that only root may enter.
    throw new EmbeddedPostgresError(
      'no_account',
      'On this system the embedded PostgreSQL cannot be started by root: start Postern as another user, or set DATABASE_URL.',
    );
  }
  const owner = statSync(join(dataDirectory, 'PG_VERSION'), { throwIfNoEntry: false });
  if (owner?.uid === 0) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${dataDirectory} belongs to root, as which PostgreSQL refuses to run: give it and all files in it to an ` +
        'unprivileged account, such as by `chown -R postgres`.',
    );
  }
  return owner === undefined ? unprivilegedAccount() : { uid: owner.uid, gid: owner.gid };
}

function unprivilegedAccount(): Account {
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of UNPRIVILEGED_ACCOUNTS) {
    const [, , uid, gid] = entries.find((entry) => entry[0] === name) ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedPostgresError(
    'no_account',
    'Started by root, Postern runs its PostgreSQL as `postgres` or `nobody`, and /etc/passwd has neither: ' +
      'add an account named `postgres`, start Postern as another user, or set DATABASE_URL.',
  );
}
