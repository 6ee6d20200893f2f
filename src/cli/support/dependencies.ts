import { openExistingTarget } from '../../app/base/database-target.js';
import { loginPolicies } from '../../app/base/login-policies.js';
import { createBreachedPasswords, passwordRules } from '../../app/base/password-rules.js';
import { resourceLimits } from '../../app/base/resource-limits.js';
import { categoryRules } from '../../app/domains/categories.js';
import { type Config, readConfig } from '../../config/config.js';
import { createPasswordHasher } from '../../credentials/passwords.js';
import { createDatabase, type Database } from '../../database/database.js';
import type { Log } from '../../embedded/membership.js';
import { needSecretKeys } from '../../keys/secret-key-file.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Origin } from '../../lib/origin.js';
import { createPacer } from '../../lib/pacing.js';
import { type Categories, readCategories, startCategories } from '../../notifications/categories/categories.js';
import { createNewPreferences } from '../../notifications/preferences/new-preferences.js';
import { createTimeZones } from '../../notifications/preferences/time-zones.js';
import { createUserImport, type UserImport } from '../../users/import.js';
import { createUsers, type Users, type UsersOptions } from '../../users/users.js';
import { type Io, printLine } from './io.js';

/** The actor in audit events. */
export const cliOrigin: Origin = { actor: 'cli' };

/** A command needs one connection for its transaction, and one for reads outside it. */
const poolSize = 2;

/** Opens the configured database, which must exist, while `work` runs. Starts or joins an embedded server. */
export async function withDatabase<T>(io: Io, work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(io.env);
  const openedTarget = await openExistingTarget(config, quietLog(io));
  const database = createDatabase({ target: openedTarget.target, size: poolSize, onConnectionError: () => undefined });
  try {
    return await work(database, config);
  } finally {
    await database.close();
    await openedTarget.close();
  }
}

/** Creates the users of a command. It reports a failure of the list of breached passwords on standard error. */
export async function openUsers(io: Io, database: Database, config: Config): Promise<Users> {
  return createUsers(await userOptions(io, database, config));
}

/** Creates the import of users of a command. */
export async function openUserImport(io: Io, database: Database, config: Config): Promise<UserImport> {
  // This process serves no logins that would wait for these hashes.
  return createUserImport({
    ...(await userOptions(io, database, config)),
    maxConcurrentHashes: resourceLimits(1).hashes,
    preferences: createNewPreferences(database, {
      categories: await readCategories(database, config.NOTIFICATION_TYPES),
      timeZones: createTimeZones(),
    }),
  });
}

/** Opens the categories of a command. Stop them at its end. */
export async function openCategories(io: Io, database: Database, config: Config): Promise<Categories> {
  return startCategories({
    database,
    pacer: createPacer(),
    ...categoryRules(config),
    onError: (error) => printLine(io.stderr, `The categories could not be read: ${error.message}`),
  });
}

async function userOptions(io: Io, database: Database, config: Config): Promise<UsersOptions> {
  return {
    database,
    hasher: createPasswordHasher({ concurrency: resourceLimits(1).hashes }),
    keys: createSecretKeys(await needSecretKeys(config)),
    defaultRegion: config.DEFAULT_REGION,
    ...passwordRules(config),
    policies: loginPolicies(config),
    hashCostLimit: config.IMPORTED_HASH_COST_LIMIT,
    breached: createBreachedPasswords(config, () =>
      printLine(io.stderr, 'The list of breached passwords could not be queried; see BREACHED_PASSWORDS_….'),
    ),
  };
}

/** A log that prints warnings and errors of the embedded server to the person who runs the command. */
export function quietLog(io: Io): Log {
  const print = (_details: object, message: string) => printLine(io.stderr, message);
  return { info: () => undefined, warn: print, error: print };
}
