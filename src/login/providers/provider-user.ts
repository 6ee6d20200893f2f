import { recordEvent } from '../../audit/events.js';
import type { Database } from '../../database/database.js';
import type { Identity } from '../../identities/identity.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import { findByExternalIdentity, recordExternalIdentity } from '../../users/external-identities.js';
import type { Users } from '../../users/users.js';
import type { ProviderAccount } from './provider.js';

interface ProviderUserParts {
  readonly database: Database;
  readonly users: Pick<Users, 'prepare' | 'create'>;
}

/**
 * Creates the user of an account at a provider that is linked to nobody.
 * @param address a mail address that this person has proven
 * @returns the id of the user, or of the user whom a parallel login of the same account has created
 * @throws Problem `identity_taken`
 */
export async function createProviderUser(
  { database, users }: ProviderUserParts,
  { provider, issuer, subject, email, name }: ProviderAccount,
  address: Identity | undefined,
  origin: Origin,
): Promise<string> {
  const id = newId();
  const input = { ...(address && { email: address.canonical }), ...(name && { name: usableName(name) }) };
  const prepared = await users.prepare(input, id, { hasExternalIdentity: true, client: origin });
  try {
    return await database.user(id).transaction(async (tx) => {
      // This comes first: a parallel login of the same account waits here, and then finds the user.
      const linked = await recordExternalIdentity(tx, id, { provider, issuer, subject, email }, origin);
      if (linked === undefined) throw new AlreadyLinked();
      await users.create(tx, prepared, origin);
      if (address !== undefined) {
        await recordEvent(tx, { userId: id, type: 'identity.verified', origin, data: { field: 'email' } });
      }
      await recordEvent(tx, { userId: id, type: 'registration.completed', origin, data: { provider } });
      return id;
    });
  } catch (error) {
    const isRace = error instanceof AlreadyLinked || (error instanceof Problem && error.code === 'identity_taken');
    const owner = isRace ? await findByExternalIdentity(database, { issuer, subject }) : undefined;
    if (owner === undefined) throw error;
    return owner;
  }
}

/** UTF-16 code units, as the contract counts. */
const maxNameLength = 255;

/** What our names allow of a provider's name: no control characters, no halves of surrogate pairs, no more than fits. */
const usableName = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim()
    .slice(0, maxNameLength)
    .replace(/[\ud800-\udbff]$/, '');

/** A parallel login has linked the account. */
class AlreadyLinked extends Error {}
