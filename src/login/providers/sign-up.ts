import { recordEvent } from '../../audit/events.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { canonicalIdentity, type Identity, identityDigest } from '../../identities/identity.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import { findByExternalIdentity, recordExternalIdentity } from '../../users/external-identities.js';
import type { Users } from '../../users/users.js';
import type { IdentityProvider, ProviderAccount } from './provider.js';

/** Signing up with an account at a provider. */
export interface SignUp {
  /**
   * Makes the user of an account that is linked to nobody, if nothing stands against it. Of several parallel calls for one
   * account one makes the user, and all return it.
   */
  continueWith(
    provider: IdentityProvider,
    account: ProviderAccount,
    origin: Origin,
  ): Promise<{ readonly userId: string } | 'not_linked'>;
}

const findOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'sign_up_owner',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);

/** Creates the sign-up with accounts at providers. */
export function createSignUp({
  database,
  users,
}: {
  readonly database: Database;
  readonly users: Pick<Users, 'prepare' | 'create'>;
}): SignUp {
  async function continueWith(provider: IdentityProvider, account: ProviderAccount, origin: Origin) {
    const address = account.email === undefined ? undefined : canonicalIdentity('email', account.email, undefined);
    if (address !== undefined) {
      const [owner] = await database.query(findOwner({ digest: identityDigest(address) }));
      if (owner !== undefined) {
        // A parallel login of the same account may have made this user just now.
        const userId = await findByExternalIdentity(database, account.issuer, account.subject);
        return userId === undefined ? 'not_linked' : { userId };
      }
      if (!account.runsMailbox) return 'not_linked';
    }
    return { userId: await createUser(provider, account, address, origin) };
  }

  async function createUser(
    { name: provider }: IdentityProvider,
    { issuer, subject, name }: ProviderAccount,
    address: Identity | undefined,
    origin: Origin,
  ): Promise<string> {
    const id = newId();
    const input = { ...(address && { email: address.canonical }), ...(name && { name: name.slice(0, maxNameLength) }) };
    const prepared = await users.prepare(input, id, { hasExternalIdentity: true });
    try {
      return await database.user(id).transaction(async (tx) => {
        // This comes first: a parallel login of the same account waits here, and then finds the user.
        if (!(await recordExternalIdentity(tx, id, { provider, issuer, subject }, origin))) throw new AlreadyLinked();
        await users.create(tx, prepared, origin);
        const data = { provider };
        if (address !== undefined) {
          await recordEvent(tx, { userId: id, type: 'identity.verified', origin, data: { field: 'email' } });
        }
        await recordEvent(tx, { userId: id, type: 'registration.completed', origin, data });
        return id;
      });
    } catch (error) {
      const isRace = error instanceof AlreadyLinked || (error instanceof Problem && error.code === 'identity_taken');
      const owner = isRace ? await findByExternalIdentity(database, issuer, subject) : undefined;
      if (owner === undefined) throw error;
      return owner;
    }
  }

  return { continueWith };
}

/** UTF-16 code units, as the contract counts. */
const maxNameLength = 255;

/** A parallel login has linked the account. */
class AlreadyLinked extends Error {}
