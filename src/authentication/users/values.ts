import type { NewUser } from '../../contract/user.js';
import type { PasswordHasher } from '../secrets/passwords.js';
import type { Pins } from '../secrets/pins.js';
import type { NewUserValues } from './queries.js';
import { type Identities, shownIdentities } from './validation.js';

/** What a checked new user is written with. Hashes the password and the PIN, if there are any, which is bound to the id. */
export async function newUserValues(
  { hasher, pins }: { readonly hasher: PasswordHasher; readonly pins: Pins },
  id: string,
  input: NewUser,
  identities: Identities,
): Promise<NewUserValues> {
  const { password, password_hash: hash, pin } = input;
  return {
    ...{ username: null, email: null, phone: null, ...shownIdentities(identities) },
    name: input.name ?? '',
    locale: input.locale ?? null,
    role: input.role ?? 'user',
    password_hash: password === undefined ? (hash ?? null) : await hasher.hash(password),
    pin_hash: pin === undefined ? null : await pins.hash(id, pin),
    metadata: JSON.stringify(input.metadata ?? {}),
  };
}
