import { createPasswordHasher } from '../authentication/secrets/passwords.js';
import { createUserImport, type UserImport } from '../authentication/users/import.js';
import { createUsers, type Users, type UsersOptions } from '../authentication/users/users.js';
import { type Config, readConfig } from '../config.js';
import { createDatabase, type Database } from '../database/database.js';
import type { Log } from '../database/embedded/membership.js';
import { openExistingTarget } from '../database/open.js';
import { needSecretKeys } from '../database/secret-key-file.js';
import type { Origin } from '../lib/origin.js';
import { createSecretKeys } from '../lib/secret-keys.js';
import { createBreachedPasswords } from '../main-passwords.js';
import { shareOf } from '../share.js';
import { type Io, printLine } from './io.js';

/** Who acts, in the audit trail. */
export const cliOrigin: Origin = { actor: 'cli' };

/** A command needs one connection for its transaction, and one more for what it reads beside it. */
const POOL_SIZE = 2;

/** Opens the configured database, which must exist, while `work` runs. An embedded server is started for it, or joined. */
export async function withDatabase<T>(io: Io, work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(io.env);
  const open = await openExistingTarget(config, quietLog(io));
  const database = createDatabase({ target: open.target, size: POOL_SIZE, onConnectionError: () => undefined });
  try {
    return await work(database, config);
  } finally {
    await database.close();
    await open.close();
  }
}

export async function openUsers(io: Io, database: Database, config: Config): Promise<Users> {
  return createUsers(await userOptions(io, database, config));
}

export async function openUserImport(io: Io, database: Database, config: Config): Promise<UserImport> {
  // There are no logins here that could wait.
  return createUserImport({ ...(await userOptions(io, database, config)), hashesAtATime: shareOf(1).hashes });
}

async function userOptions(io: Io, database: Database, config: Config): Promise<UsersOptions> {
  return {
    database,
    hasher: createPasswordHasher({ concurrency: shareOf(1).hashes }),
    keys: createSecretKeys(await needSecretKeys(config)),
    defaultRegion: config.DEFAULT_REGION,
    passwordMin: config.PASSWORD_MIN,
    hashCostLimit: config.IMPORTED_HASH_COST_LIMIT,
    breached: createBreachedPasswords(config, () =>
      printLine(io.stderr, 'Whether passwords were breached could not be looked up; see BREACHED_PASSWORDS_….'),
    ),
  };
}

/** Of the embedded server, what a person at a command should know. */
export function quietLog(io: Io): Log {
  const print = (_details: object, message: string) => printLine(io.stderr, message);
  return { info: () => undefined, warn: print, error: print };
}
