import { externalIdPrefix } from '../contract/common.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { parseId } from '../lib/ids.js';
import { canonicalExternalId, identityDigest } from './identity.js';

/**
 * Finds the users that admin requests name: by the id of the user, or by `external:` and the external id, which is the id
 * of the user in the other systems of the operator.
 */
export interface UserReferences {
  /**
   * The id of the user. A reference that is an id is returned without a query, so the user may not exist. Undefined if no
   * user has the external id.
   */
  find(reference: string): Promise<string | undefined>;
  /** Like `find`, but for many users in one query. The result has no entry for an external id that no user has. */
  findAll(references: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Whether a text names a user by an external id. */
export const isExternalReference = (text: string): boolean => text.startsWith(externalIdPrefix);

const findOwners = statement<{ digests: readonly Buffer[] }, { digest: string; user_id: string }>(
  'external_id_owners',
  (p) => sql`
    select encode(digest, 'hex') as digest, user_id from identities where digest = any (${p.digests}::bytea[])`,
);

/** Creates the look-up of users for all admin routes. */
export function createUserReferences(database: Queryable): UserReferences {
  async function findAll(references: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const idsByReference = new Map<string, string>();
    const byDigest = new Map<string, string[]>();
    for (const reference of new Set(references)) {
      const id = parseId(reference);
      if (id !== undefined) idsByReference.set(reference, id);
      const digest = id === undefined ? digestOf(reference) : undefined;
      if (digest !== undefined) byDigest.set(digest, [...(byDigest.get(digest) ?? []), reference]);
    }
    if (byDigest.size === 0) return idsByReference;
    const digests = [...byDigest.keys()].map((digest) => Buffer.from(digest, 'hex'));
    for (const owner of await database.query(findOwners({ digests }))) {
      for (const reference of byDigest.get(owner.digest) ?? []) idsByReference.set(reference, owner.user_id);
    }
    return idsByReference;
  }
  return {
    find: async (reference) => parseId(reference) ?? (await findAll([reference])).get(reference),
    findAll,
  };
}

/** The digest of an external id, which is its key in `identities`, in hexadecimal. Undefined for any other text. */
function digestOf(reference: string): string | undefined {
  if (!isExternalReference(reference)) return undefined;
  const entry = canonicalExternalId(reference.slice(externalIdPrefix.length));
  return entry && identityDigest(entry).toString('hex');
}
