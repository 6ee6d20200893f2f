import { identityTypes } from '../contract/authentication.js';
import { pinPattern } from '../contract/common.js';
import type { NewUser, UserChange } from '../contract/user.js';
import { importedHashError } from '../credentials/imported-hash.js';
import { type PasswordRules, type PersonalWords, passwordErrors } from '../credentials/password-policy.js';
import type { HashClient } from '../credentials/passwords.js';
import { canonicalEntry, type DirectoryEntry, type DirectoryType, directoryTypes } from '../identities/identity.js';
import type { FieldError } from '../lib/problem.js';

/** UTF-16 code units, as the contract counts. */
const maxNameLength = 255;
/** Bytes of JSON. */
const maxMetadataBytes = 16 * 1024;
const maxClaimsBytes = 2 * 1024;

/** The settings that the rules of a user depend on. */
export interface UserRules extends PasswordRules {
  /** The region of phone numbers without a country code: ISO 3166. */
  readonly defaultRegion: string | undefined;
}

/** An identity or external id in the form that look-ups use and in the form that responses show. */
export interface ShownIdentity {
  readonly identity: DirectoryEntry;
  /** The form for responses: usernames as the user spells them (NFKC), all other entries in canonical form. */
  readonly shown: string;
}

/** The identities and the external id that a change sets. Null removes one. */
export type Identities = Readonly<Partial<Record<DirectoryType, ShownIdentity | null>>>;

/** Reads the identities and the external id of an input. Appends their errors to `errors`. */
export function readIdentities(input: UserChange, rules: UserRules, errors: FieldError[]): Identities {
  const read: Partial<Record<DirectoryType, ShownIdentity | null>> = {};
  for (const type of directoryTypes) {
    const value = input[type];
    if (value === undefined) continue;
    const identity = value === null ? null : canonicalEntry(type, value, rules.defaultRegion);
    if (identity === undefined) errors.push({ field: type, code: 'invalid_identity', params: { type } });
    else if (identity === null || value === null) read[type] = null;
    else read[type] = { identity, shown: type === 'username' ? value.normalize('NFKC') : identity.canonical };
  }
  return read;
}

/** The columns of the user that show the identities and the external id. */
export function shownIdentities(identities: Identities): Partial<Record<DirectoryType, string | null>> {
  return Object.fromEntries(Object.entries(identities).map(([type, identity]) => [type, identity?.shown ?? null]));
}

/** Who chose the secrets of a new or changed user. */
export interface SecretsFrom {
  /**
   * Whether an operator did: a person at the console, with a session or at the command line. Nobody but the user may know a
   * lasting secret (ASVS 5.0, 6.4.1 and 6.4.6). So such a password is for one use, and such a PIN is refused.
   */
  readonly operator?: boolean | undefined;
}

/** The client whose request hashes the secrets of a user. */
export interface HashedFor {
  readonly client: HashClient;
}

/**
 * Checks the other members of a new or changed user, beyond the schema. It checks the form of the name and the PIN too, because the command
 * line has no schema.
 *
 * @param user the user's name and addresses: the password must be none of them
 * @returns all errors
 */
export async function userErrors(
  input: Omit<UserChange & Pick<NewUser, 'password_hash'>, DirectoryType>,
  rules: UserRules,
  user: PersonalWords = {},
  { operator = false }: SecretsFrom = {},
): Promise<FieldError[]> {
  const { name, password, password_hash: hash, must_change: mustChange, pin } = input;
  const errors: FieldError[] = [];
  if (typeof password === 'string') errors.push(...(await passwordErrors(password, rules, user)));
  const hashError = hash === undefined ? undefined : importedHashError(hash);
  if (hashError !== undefined) errors.push({ field: 'password_hash', ...hashError });
  if (password !== undefined && hash !== undefined) {
    errors.push({ field: 'password_hash', code: 'conflicting_fields', params: { fields: 'password, password_hash' } });
  }
  if (mustChange === true && typeof password !== 'string' && hash === undefined) {
    errors.push({ field: 'password', code: 'required' });
  }
  if (typeof pin === 'string' && !new RegExp(pinPattern).test(pin)) errors.push({ field: 'pin', code: 'invalid_pin' });
  else if (typeof pin === 'string' && operator) errors.push({ field: 'pin', code: 'pin_of_user' });
  if (name !== undefined && name.length > maxNameLength) {
    errors.push({ field: 'name', code: 'too_long', params: { max: maxNameLength } });
  }
  for (const [field, max] of [['metadata', maxMetadataBytes] as const, ['claims', maxClaimsBytes] as const]) {
    const value = input[field];
    if (value !== undefined && Buffer.byteLength(JSON.stringify(value)) > max) {
      errors.push({ field, code: 'too_many_bytes', params: { max } });
    }
  }
  return errors;
}

/** The result of the checks of a new user. */
export interface CheckedUser {
  readonly identities: Identities;
  /** All errors; empty for a valid user. */
  readonly errors: readonly FieldError[];
}

/** How a user is created. */
export interface NewUserOptions extends SecretsFrom {
  /** Whether the user logs in with an account at a provider, and so needs no identity. */
  readonly hasExternalIdentity?: boolean;
  /** Whether the user is a guest, who has no credential yet. */
  readonly isGuest?: boolean;
}

/** Checks a new user by all rules. */
export async function checkNewUser(
  input: NewUser,
  rules: UserRules,
  { hasExternalIdentity = false, isGuest = false, operator }: NewUserOptions = {},
): Promise<CheckedUser> {
  const errors: FieldError[] = [];
  const identities = readIdentities(input, rules, errors);
  const needsIdentity = !hasExternalIdentity && !isGuest && identityTypes.every((type) => input[type] === undefined);
  if (needsIdentity) errors.push({ code: 'identity_required' });
  errors.push(...(await userErrors(input, rules, input, { operator })));
  return { identities, errors };
}

/** The identities that a change sets, in the order of their types. Removed identities are not included. */
export function identitiesToSet(identities: Identities): ShownIdentity[] {
  return directoryTypes.flatMap((type) => identities[type] ?? []);
}
