import { recordEvent } from '../../audit/events.js';
import type { Passkey } from '../../contract/account/factors.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import type { Assertion, Descriptor, RegisteredCredential, RelyingParty, UserVerification } from './relying-party.js';

/** The rows of `passkeys`: public keys of users, and their signature counters. */

const findKey = statement<{ userId: string; credentialId: Buffer }, { id: string; public_key: Buffer }>(
  'passkey_find',
  (p) => sql`select id, public_key from passkeys where user_id = ${p.userId} and credential_id = ${p.credentialId}`,
);

/**
 * The update locks the row, so only the first of several parallel requests with the same counter succeeds. A counter of 0
 * means that the authenticator has none.
 */
const updateCounter = statement<{ userId: string; id: string; counter: number; backedUp: boolean }>(
  'passkey_use',
  (p) => sql`
    update passkeys set counter = ${p.counter}, backed_up = ${p.backedUp}, last_used_at = db_now()
    where user_id = ${p.userId} and id = ${p.id}
      and (counter < ${p.counter} or (counter = 0 and ${p.counter} = 0))
    returning id`,
);

/** The values that an assertion is checked against. */
export interface ExpectedAssertion {
  readonly userId: string;
  readonly challenge: string;
  readonly verification: UserVerification;
  readonly origin: Origin;
}

/** An assertion with a valid signature. */
export interface VerifiedAssertion {
  /** Whether the authenticator verified its user, by a PIN or biometrics. Otherwise it tested presence only. */
  readonly userVerified: boolean;
  /** Stores the signature counter. False if it has not increased: then refuse the assertion (WebAuthn, section 6.1.1). */
  saveCounter(): Promise<boolean>;
}

/** Checks an assertion of a user's passkey and stores its counter: for challenges that only one answer can use. */
export async function consumeAssertion(
  deps: Parameters<typeof verifyAssertion>[0],
  assertion: Assertion,
  expected: ExpectedAssertion,
): Promise<VerifiedAssertion | undefined> {
  const verified = await verifyAssertion(deps, assertion, expected);
  return (await verified?.saveCounter()) === true ? verified : undefined;
}

/**
 * Checks an assertion of a user's passkey. The caller makes sure that its challenge is used once.
 * @returns undefined if the assertion is invalid
 */
export async function verifyAssertion(
  { database, relyingParty }: { readonly database: Database; readonly relyingParty: RelyingParty },
  assertion: Assertion,
  { userId, challenge, verification, origin }: ExpectedAssertion,
): Promise<VerifiedAssertion | undefined> {
  if (assertion.userId !== undefined && assertion.userId !== userId) return undefined;
  const handle = database.user(userId);
  const [key] = await handle.query(findKey({ userId, credentialId: assertion.credentialId }));
  if (key === undefined) return undefined;
  const signedData = await relyingParty.readAssertion(assertion, challenge, key.public_key, verification);
  if (signedData === undefined) return undefined;
  const { counter, userVerified, backedUp } = signedData;
  return {
    userVerified,
    async saveCounter() {
      if ((await handle.query(updateCounter({ userId, id: key.id, counter, backedUp }))).length > 0) return true;
      // A valid signature with an old counter: another authenticator may have a copy of the key.
      await recordEvent(handle, { userId, type: 'passkey.refused', origin, data: { passkey_id: key.id, counter } });
      return false;
    },
  };
}

const listDescriptors = statement<{ userId: string }, { credentialId: Buffer; transports: string[] }>(
  'passkey_descriptors',
  (p) => sql`
    select credential_id as "credentialId", transports from passkeys where user_id = ${p.userId} order by created_at`,
);

/** The user's passkeys as WebAuthn options name them. */
export function passkeyDescriptors(handle: Queryable, userId: string): Promise<Descriptor[]> {
  return handle.query(listDescriptors({ userId }));
}

const columns = sql`id, name, transports, backed_up, created_at, last_used_at`;
const listAll = statement<{ userId: string }, Passkey>(
  'passkey_list',
  (p) => sql`select ${columns} from passkeys where user_id = ${p.userId} order by created_at, id`,
);

/** The passkeys of a user, the oldest first. */
export function listPasskeys(handle: Queryable, userId: string): Promise<Passkey[]> {
  return handle.query(listAll({ userId }));
}

interface NewPasskeyValues extends RegisteredCredential {
  readonly userId: string;
  readonly id: string;
  readonly name: string;
  readonly max: number;
}

/** The caller holds a lock on the user's row, so parallel inserts cannot exceed the maximum. */
const insert = statement<NewPasskeyValues, Passkey>(
  'passkey_insert',
  (p) => sql`
    insert into passkeys (user_id, id, credential_id, public_key, counter, transports, name, backed_up, created_at)
    select ${p.userId}, ${p.id}, ${p.credentialId}, ${p.publicKey}, ${p.counter}, ${p.transports}, ${p.name}, ${p.backedUp},
           db_now()
    where (select count(*) from passkeys where user_id = ${p.userId}) < ${p.max}
    on conflict (user_id, credential_id) do nothing
    returning ${columns}`,
);

/** The name of a passkey that its user has not named. */
export const defaultPasskeyName = 'Passkey';

/**
 * Stores a passkey. The caller holds a lock on the user's row.
 * @returns undefined if the user has this passkey already, or has the maximum number
 */
export async function addPasskey(
  tx: Queryable,
  userId: string,
  name: string,
  credential: RegisteredCredential,
): Promise<Passkey | undefined> {
  const [passkey] = await tx.query(insert({ ...credential, userId, id: newId(), name, max: maxPasskeys }));
  return passkey;
}

/** The maximum number of passkeys of a user. */
export const maxPasskeys = 20;

const rename = statement<{ userId: string; id: string; name: string }, Passkey>(
  'passkey_rename',
  (p) => sql`update passkeys set name = ${p.name} where user_id = ${p.userId} and id = ${p.id} returning ${columns}`,
);

/** @returns undefined if the user has no such passkey */
export async function renamePasskey(
  handle: Queryable,
  userId: string,
  id: string,
  name: string,
): Promise<Passkey | undefined> {
  const [passkey] = await handle.query(rename({ userId, id, name }));
  return passkey;
}

const remove = statement<{ userId: string; id: string | null }, { name: string }>(
  'passkey_remove',
  (p) => sql`
    delete from passkeys where user_id = ${p.userId} and (${p.id}::uuid is null or id = ${p.id}) returning name`,
);

/**
 * @param id the id of one passkey; undefined: all passkeys
 * @returns the names of the removed passkeys
 */
export async function removePasskeys(
  tx: Queryable,
  userId: string,
  id: string | undefined,
): Promise<readonly string[]> {
  return (await tx.query(remove({ userId, id: id ?? null }))).map(({ name }) => name);
}
