import { identityTypes } from '../contract/authentication.js';
import { externalIdPrefix, recipientPrefixes } from '../contract/common.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { parseId } from '../lib/ids.js';
import { canonicalExternalId, canonicalIdentity, identityDigest } from './identity.js';

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
  /**
   * Like `findAll`, but for publishers: the references may also be `email:`, `phone:` and `username:` with an identity. An
   * address that the user has not proven is not found.
   */
  findRecipients(references: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Whether a text names a user by an identity of any kind, and not by the id. */
export const isIdentityReference = (text: string): boolean =>
  recipientPrefixes.some((prefix) => text.startsWith(`${prefix}:`));

/** Whether a text names a user by an external id. */
export const isExternalReference = (text: string): boolean => text.startsWith(externalIdPrefix);

const findOwners = statement<{ digests: readonly Buffer[] }, { digest: string; user_id: string }>(
  'external_id_owners',
  (p) => sql`
    select encode(digest, 'hex') as digest, user_id from identities where digest = any (${p.digests}::bytea[])`,
);

/** Like `findOwners`, without addresses that are not proven. */
const findProvenOwners = statement<{ digests: readonly Buffer[] }, { digest: string; user_id: string }>(
  'recipients',
  (p) => sql`
    select encode(i.digest, 'hex') as digest, i.user_id
    from identities i join users u on u.id = i.user_id
    where i.digest = any (${p.digests}::bytea[])
      and (i.type <> 'email' or u.email_verified) and (i.type <> 'phone' or u.phone_verified)`,
);

/**
 * Creates the look-up of users for all admin routes.
 * @param defaultRegion the country of phone numbers without a country code
 */
export function createUserReferences(database: Queryable, defaultRegion?: string): UserReferences {
  type FindOwners = (digests: readonly Buffer[]) => Promise<{ digest: string; user_id: string }[]>;
  async function findAll(
    references: readonly string[],
    digestOf: (reference: string) => string | undefined,
    owners: FindOwners,
  ): Promise<ReadonlyMap<string, string>> {
    const idsByReference = new Map<string, string>();
    const byDigest = new Map<string, string[]>();
    for (const reference of new Set(references)) {
      const id = parseId(reference);
      if (id !== undefined) idsByReference.set(reference, id);
      const digest = id === undefined ? digestOf(reference) : undefined;
      if (digest !== undefined) byDigest.set(digest, [...(byDigest.get(digest) ?? []), reference]);
    }
    if (byDigest.size === 0) return idsByReference;
    for (const owner of await owners([...byDigest.keys()].map((digest) => Buffer.from(digest, 'hex')))) {
      for (const reference of byDigest.get(owner.digest) ?? []) idsByReference.set(reference, owner.user_id);
    }
    return idsByReference;
  }
  const findExternal = (references: readonly string[]) =>
    findAll(references, externalDigest, (digests) => database.query(findOwners({ digests })));
  return {
    find: async (reference) => parseId(reference) ?? (await findExternal([reference])).get(reference),
    findAll: findExternal,
    findRecipients: (references) =>
      findAll(
        references,
        (reference) => externalDigest(reference) ?? identityReferenceDigest(reference, defaultRegion),
        (digests) => database.query(findProvenOwners({ digests })),
      ),
  };
}

/** The digest of an external id, which is its key in `identities`, in hexadecimal. Undefined for any other text. */
function externalDigest(reference: string): string | undefined {
  if (!isExternalReference(reference)) return undefined;
  const entry = canonicalExternalId(reference.slice(externalIdPrefix.length));
  return entry && identityDigest(entry).toString('hex');
}

/** The same for an address or a user name with its prefix. */
function identityReferenceDigest(reference: string, defaultRegion: string | undefined): string | undefined {
  const type = identityTypes.find((each) => reference.startsWith(`${each}:`));
  const identity = type && canonicalIdentity(type, reference.slice(type.length + 1), defaultRegion);
  return identity && identityDigest(identity).toString('hex');
}
