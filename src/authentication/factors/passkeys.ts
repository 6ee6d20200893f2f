import type { Passkey } from '../../contract/factors.js';
import { type Database, prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { recordEvent } from '../events/events.js';
import type { Assertion, Descriptor, RegisteredCredential, RelyingParty, UserVerification } from './relying-party.js';

/** The rows of `passkeys`: public keys of users, and how far their authenticators have counted. */

interface StoredKey {
  readonly id: string;
  readonly public_key: Buffer;
}

const findKey = prepared(
  'passkey_find',
  'select id, public_key from passkeys where user_id = $1 and credential_id = $2',
);
const countUse = prepared(
  'passkey_use',
  `update passkeys set counter = $3, backed_up = $4, last_used_at = db_now()
   where user_id = $1 and id = $2 and (counter < $3 or (counter = 0 and $3 = 0)) returning id`,
);

/** What an assertion is to be checked against. */
export interface ExpectedAssertion {
  readonly userId: string;
  readonly challenge: string;
  readonly verification: UserVerification;
  readonly origin: Origin;
}

/** An assertion that is signed by the right key. */
export interface SignedAssertion {
  /** By a PIN or biometrics; else the owner was merely present. */
  readonly userVerified: boolean;
  /** Counts it. False when it is behind the authenticator's own count: then it is not good. */
  count(): Promise<boolean>;
}

/** Checks an assertion of a user's passkey, and counts it: `checkAssertion`, where no parallel answer competes. */
export async function useAssertion(
  parts: Parameters<typeof checkAssertion>[0],
  assertion: Assertion,
  expected: ExpectedAssertion,
): Promise<SignedAssertion | undefined> {
  const checked = await checkAssertion(parts, assertion, expected);
  return (await checked?.count()) === true ? checked : undefined;
}

/**
 * Checks an assertion of a user's passkey. That its challenge is used once is for the caller to see to.
 * @returns undefined when it is not good.
 */
export async function checkAssertion(
  { database, relyingParty }: { readonly database: Database; readonly relyingParty: RelyingParty },
  assertion: Assertion,
  { userId, challenge, verification, origin }: ExpectedAssertion,
): Promise<SignedAssertion | undefined> {
  if (assertion.userId !== undefined && assertion.userId !== userId) return undefined;
  const lane = database.lane(userId);
  const [key] = await lane.query<StoredKey>(findKey, [userId, assertion.credentialId]);
  if (key === undefined) return undefined;
  const checked = await relyingParty.readAssertion(assertion, challenge, key.public_key, verification);
  if (checked === undefined) return undefined;
  const { counter, userVerified, backedUp } = checked;
  return {
    userVerified,
    async count() {
      if ((await lane.query(countUse, [userId, key.id, counter, backedUp])).length > 0) return true;
      // Signed by the right key, but behind its own count: there may be a second authenticator with the same key.
      await recordEvent(lane, { userId, type: 'passkey.refused', origin, data: { passkey_id: key.id, counter } });
      return false;
    },
  };
}

const listDescriptors = prepared(
  'passkey_descriptors',
  `select credential_id as "credentialId", transports from passkeys where user_id = $1 order by created_at`,
);

export function passkeyDescriptors(handle: Queryable, userId: string): Promise<Descriptor[]> {
  return handle.query<Descriptor & object>(listDescriptors, [userId]);
}

const columns = 'id, name, transports, backed_up, created_at, last_used_at';
const listAll = prepared('passkey_list', `select ${columns} from passkeys where user_id = $1 order by created_at, id`);

export function listPasskeys(handle: Queryable, userId: string): Promise<Passkey[]> {
  return handle.query<Passkey>(listAll, [userId]);
}

const insert = prepared(
  'passkey_insert',
  `insert into passkeys (user_id, id, credential_id, public_key, counter, transports, name, backed_up, created_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, db_now()
   where (select count(*) from passkeys where user_id = $1) < $9
   on conflict (user_id, credential_id) do nothing
   returning ${columns}`,
);

/** Undefined: the user has this one already, or as many as there may be. The user's row must be held. */
export async function addPasskey(
  tx: Queryable,
  userId: string,
  name: string,
  { credentialId, publicKey, counter, transports, backedUp }: RegisteredCredential,
): Promise<Passkey | undefined> {
  const key = [credentialId, publicKey, counter, transports, name, backedUp];
  const values = [userId, newId(), ...key, maxPasskeys];
  const [passkey] = await tx.query<Passkey>(insert, values);
  return passkey;
}

/** Passkeys that a user may have. */
export const maxPasskeys = 20;

const rename = prepared(
  'passkey_rename',
  `update passkeys set name = $3 where user_id = $1 and id = $2 returning ${columns}`,
);

export async function renamePasskey(
  handle: Queryable,
  userId: string,
  id: string,
  name: string,
): Promise<Passkey | undefined> {
  const [passkey] = await handle.query<Passkey>(rename, [userId, id, name]);
  return passkey;
}

const remove = prepared(
  'passkey_remove',
  'delete from passkeys where user_id = $1 and ($2::uuid is null or id = $2) returning id',
);

/** @param id which one; undefined: all. @returns how many went. */
export async function removePasskeys(tx: Queryable, userId: string, id: string | undefined): Promise<number> {
  return (await tx.query(remove, [userId, id ?? null])).length;
}
