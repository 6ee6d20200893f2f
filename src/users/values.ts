import type { NewUser, UserChange } from '../contract/user.js';
import { type UserFieldsWith, userFieldsWith } from '../contract/user-fields.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { Pins } from '../credentials/pins/pins.js';
import type { NewUserValues, UserValues } from './queries.js';
import {
  type HashedFor,
  type Identities,
  type NewUserOptions,
  type SecretsFrom,
  shownIdentities,
} from './validation.js';

interface Secrets {
  readonly hasher: PasswordHasher;
  readonly pins: Pins;
}

const isColumn: object = userFieldsWith('isColumn');
const initial: Readonly<Record<string, unknown>> = userFieldsWith('initial');
const types: Readonly<Record<string, string>> = userFieldsWith('stored');

/** The values of columns that are stored as the request has them. Fields that the request lacks are absent. Lists are sorted, because they are sets. */
function columnsOf(input: Readonly<Record<string, unknown>>): object {
  const given = Object.entries(input).filter(([name, value]) => name in isColumn && value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, types[name] === 'jsonb' ? JSON.stringify(sortedIfSet(value)) : value]),
  );
}

const sortedIfSet = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value);

type Created = UserFieldsWith<'create'> & UserFieldsWith<'isColumn'>;
/** The values of the columns in `Created` for a request that has none of these fields. */
const initialColumns = columnsOf(
  Object.fromEntries(Object.keys(userFieldsWith('create')).map((name) => [name, initial[name] ?? null])),
);

/** The column values of a checked new user. Hashes the password and the PIN; the hash of the PIN is bound to the id. */
export async function newUserValues(
  { hasher, pins }: Secrets,
  id: string,
  input: NewUser,
  identities: Identities,
  { isGuest = false, operator = false, client }: NewUserOptions & HashedFor,
): Promise<NewUserValues> {
  const { password, password_hash: hash, pin } = input;
  const columns = { ...initialColumns, ...columnsOf(input) } as Pick<NewUserValues, Created>;
  return {
    ...columns,
    ...shownIdentities(identities),
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
  };
}

/** The column values of a checked change. Hashes the password and the PIN, as for a new user. */
export async function changedUserValues(
  { hasher, pins }: Secrets,
  id: string,
  change: UserChange,
  identities: Identities,
  { operator = false, client }: SecretsFrom & HashedFor,
): Promise<UserValues> {
  const { password, pin, email_verified, phone_verified } = change;
  const columns = columnsOf(change) as Pick<UserValues, UserFieldsWith<'change'> & UserFieldsWith<'isColumn'>>;
  return {
    ...columns,
    ...shownIdentities(identities),
    ...(email_verified !== undefined && { email_verified }),
    ...(phone_verified !== undefined && { phone_verified }),
    ...(password !== undefined && {
      password_hash: password === null ? null : await hasher.hash(password, client),
      must_change: (operator && password !== null) || (change.must_change ?? false),
    }),
    ...(pin !== undefined && { pin_hash: pin === null ? null : await pins.hash(id, pin, client) }),
  };
}
