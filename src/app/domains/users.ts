import type { Services } from '../../http/routes/routes.js';
import { createUserReferences } from '../../identities/user-references.js';
import type { IdentityProvider } from '../../login/providers/provider.js';
import type { Notices } from '../../messages/notices.js';
import { createSetUpLinks } from '../../sessions/setup-links.js';
import { createActivity } from '../../users/activity.js';
import { createUserBulk } from '../../users/bulk.js';
import { createUserDetails } from '../../users/details.js';
import { createEnrollmentLinks } from '../../users/enrollment-links.js';
import { createExternalIdentities } from '../../users/external-identities.js';
import { createUserImport, type ImportedPreferences } from '../../users/import.js';
import { createUsers, type UsersOptions } from '../../users/users.js';
import type { Base } from '../base/base.js';
import { passwordRules } from '../base/password-rules.js';

/** Users as operators see them. `rules` are the rules for their fields. */
export function createUserServices(
  base: Base,
  providers: readonly IdentityProvider[],
  notices: Notices,
  newPreferences: ImportedPreferences,
) {
  const { config, database, hasher, keys, policies, breached, resources, consoleUrl, statistics } = base;
  const rules: UsersOptions = {
    database,
    hasher,
    keys,
    breached,
    notices,
    counters: statistics.counters,
    defaultRegion: config.DEFAULT_REGION,
    ...passwordRules(config),
    policies,
    hashCostLimit: config.IMPORTED_HASH_COST_LIMIT,
    searches: Math.max(2, Math.floor(resources.connections / 4)),
  };
  const users = createUsers(rules);
  const userReferences = createUserReferences(database, config.DEFAULT_REGION);
  return {
    rules,
    users,
    userReferences,
    userBulk: createUserBulk({ database, users, references: userReferences }),
    // An import uses half of the hashes that may run at a time. The other half stays for logins.
    userImport: createUserImport({
      ...rules,
      maxConcurrentHashes: Math.ceil(resources.hashes / 2),
      preferences: newPreferences,
    }),
    enrollmentLinks: createEnrollmentLinks(consoleUrl),
    setUpLinks: createSetUpLinks(database, config.CONSOLE === 'off' ? undefined : consoleUrl),
    userDetails: createUserDetails(database, policies),
    externalIdentities: createExternalIdentities(database, providers, notices),
    activity: createActivity(database),
  } satisfies Partial<Services> & { readonly rules: UsersOptions };
}
