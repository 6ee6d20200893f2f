import type { Config } from '../../config/config.js';
import { identityTypes } from '../../contract/authentication.js';
import { externalIdPrefix } from '../../contract/common.js';
import type { User } from '../../contract/user.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { canonicalExternalId, canonicalIdentity, identityDigest } from '../../identities/identity.js';
import { isExternalReference } from '../../identities/user-references.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { Users } from '../../users/users.js';
import { CommandError } from './failure.js';

/** The argument that names one user: its syntax and its description. */
export const userArgument = [
  '<user>',
  'an id, user name, mail address or phone number, or external: and an external id',
] as const;

const findByIdentities = statement<{ digests: readonly Buffer[] }, { user_id: string }>(
  'cli_find_user',
  (p) => sql`select distinct user_id from identities where digest = any(${p.digests})`,
);

/**
 * Finds the user that an argument names.
 * @param text an id or an identity. A phone number without a country code is of DEFAULT_REGION
 * @throws CommandError unless the text names exactly one user
 */
export async function findUser(database: Database, users: Users, config: Config, text: string): Promise<User> {
  const user = await findExactly(database, users, config, text);
  if (user === undefined) throw new CommandError(`There is no user ${text}.`);
  return user;
}

/**
 * As `findUser`, but without an error if no user has the id or the identity.
 * @throws CommandError if the text names several users
 */
export async function findExactly(
  database: Database,
  users: Users,
  config: Config,
  text: string,
): Promise<User | undefined> {
  const id = parseId(text);
  const ids = id === undefined ? await findIds(database, config, text) : [id];
  const [onlyId, ...others] = ids;
  if (onlyId === undefined) return undefined;
  if (others.length > 0) throw new CommandError(`${text} names several users, use an id: ${ids.join(', ')}`);
  try {
    return await users.get(onlyId);
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function findIds(database: Database, { DEFAULT_REGION }: Config, text: string): Promise<string[]> {
  const identities = identityTypes.flatMap((type) => canonicalIdentity(type, text, DEFAULT_REGION) ?? []);
  const externalId = isExternalReference(text) ? canonicalExternalId(text.slice(externalIdPrefix.length)) : undefined;
  const digests = [...identities, ...(externalId === undefined ? [] : [externalId])].map(identityDigest);
  const rows = await database.query(findByIdentities({ digests }));
  return rows.map((row) => row.user_id);
}
