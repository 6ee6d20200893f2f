import type { NewUser } from '../contract/user.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { Pins } from '../credentials/pins/pins.js';
import type { NewUserValues } from './queries.js';
import { type HashedFor, type Identities, type NewUserOptions, shownIdentities } from './validation.js';

/** The column values of a checked new user. Hashes the password and the PIN; the hash of the PIN is bound to the id. */
export async function newUserValues(
  { hasher, pins }: { readonly hasher: PasswordHasher; readonly pins: Pins },
  id: string,
  input: NewUser,
  identities: Identities,
  { isGuest = false, operator = false, client }: NewUserOptions & HashedFor,
): Promise<NewUserValues> {
  const { password, password_hash: hash, pin } = input;
  return {
    username: null,
    email: null,
    phone: null,
    external_id: null,
    ...shownIdentities(identities),
    name: input.name ?? '',
    locale: input.locale ?? null,
    role: input.role ?? 'user',
    is_guest: isGuest,
    // The operator vouches for an address, unless the request says otherwise.
    email_verified: input.email_verified ?? true,
    phone_verified: input.phone_verified ?? true,
    password_hash:
      password === undefined
        ? hash === undefined
          ? null
          : await hasher.toStored(hash)
        : await hasher.hash(password, client),
    must_change: (operator && password !== undefined) || (input.must_change ?? false),
    pin_hash: pin === undefined ? null : await pins.hash(id, pin, client),
    metadata: JSON.stringify(input.metadata ?? {}),
    roles: JSON.stringify((input.roles ?? []).toSorted()),
    claims: JSON.stringify(input.claims ?? {}),
  };
}
