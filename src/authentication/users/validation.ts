import { identityTypes } from '../../contract/authentication.js';
import { pinPattern } from '../../contract/patterns.js';
import type { NewUser, UserChange } from '../../contract/user.js';
import type { FieldError } from '../../lib/problem.js';
import { canonicalIdentity, type Identity, type IdentityType } from '../identities/identity.js';
import { isUsableHash } from '../secrets/imported-hash.js';
import { type PasswordRules, passwordFaults } from '../secrets/password-policy.js';

/** UTF-16 code units, as the contract counts. */
const MAX_NAME = 255;
/** Bytes of JSON. */
const MAX_METADATA = 16 * 1024;

/** What the rules of a new or changed user depend on. */
export interface UserRules extends PasswordRules {
  /** Region of phone numbers without a country code. */
  readonly defaultRegion: string | undefined;
}

/** An identity as it is stored: what it is found by, and what answers show. */
export interface ShownIdentity {
  readonly identity: Identity;
  /** Usernames as their user spells them, the others in canonical form. */
  readonly shown: string;
}

/** The identities that a user gets; null takes one away. */
export type Identities = Readonly<Partial<Record<IdentityType, ShownIdentity | null>>>;

/** Reads the identities that are present and appends what is wrong with them. */
export function readIdentities(input: UserChange, rules: UserRules, faults: FieldError[]): Identities {
  const read: Partial<Record<IdentityType, ShownIdentity | null>> = {};
  for (const type of identityTypes) {
    const value = input[type];
    if (value === undefined) continue;
    const identity = value === null ? null : canonicalIdentity(type, value, rules.defaultRegion);
    if (identity === undefined) faults.push({ field: type, code: 'invalid_identity', params: { type } });
    else if (identity === null || value === null) read[type] = null;
    else read[type] = { identity, shown: type === 'username' ? value.normalize('NFKC') : identity.canonical };
  }
  return read;
}

/** The columns of the user that show the identities. */
export function shownIdentities(identities: Identities): Partial<Record<IdentityType, string | null>> {
  return Object.fromEntries(Object.entries(identities).map(([type, identity]) => [type, identity?.shown ?? null]));
}

/**
 * What is wrong with the rest of a new or changed user, beyond the form of each member. That of name and PIN is
 * checked here too, because the command line has no schema.
 */
export async function userFaults(
  input: Omit<UserChange & Pick<NewUser, 'password_hash'>, IdentityType>,
  rules: UserRules,
): Promise<FieldError[]> {
  const { name, password, password_hash: hash, pin, metadata } = input;
  const faults: FieldError[] = [];
  if (typeof password === 'string') faults.push(...(await passwordFaults(password, rules)));
  if (hash !== undefined && !isUsableHash(hash)) faults.push({ field: 'password_hash', code: 'invalid_hash' });
  if (password !== undefined && hash !== undefined) {
    faults.push({ field: 'password_hash', code: 'conflicting_fields', params: { fields: 'password, password_hash' } });
  }
  if (typeof pin === 'string' && !new RegExp(pinPattern).test(pin)) faults.push({ field: 'pin', code: 'invalid_pin' });
  if (name !== undefined && name.length > MAX_NAME)
    faults.push({ field: 'name', code: 'too_long', params: { max: MAX_NAME } });
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA) {
    faults.push({ field: 'metadata', code: 'too_many_bytes', params: { max: MAX_METADATA } });
  }
  return faults;
}

/** A new user whose every rule was looked at. */
export interface CheckedUser {
  readonly identities: Identities;
  /** What is wrong, all of it. */
  readonly faults: readonly FieldError[];
}

export async function checkNewUser(input: NewUser, rules: UserRules): Promise<CheckedUser> {
  const faults: FieldError[] = [];
  const identities = readIdentities(input, rules, faults);
  if (identityTypes.every((type) => input[type] === undefined)) faults.push({ code: 'identity_required' });
  faults.push(...(await userFaults(input, rules)));
  return { identities, faults };
}

/** The identities that the user gets, in the order of their types. */
export function wantedIdentities(identities: Identities): ShownIdentity[] {
  return identityTypes.flatMap((type) => identities[type] ?? []);
}
