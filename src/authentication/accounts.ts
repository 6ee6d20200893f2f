import type { roles, secondFactorPolicies } from '../contract/user.js';
import { prepared, type Queryable } from '../database/database.js';
import { idFromBytes } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import type { Candidate } from './authenticators/authenticator.js';
import type { Identity } from './identities/identity.js';
import { identityDigest } from './identities/identity-digest.js';
import { nextPinIsDue, pinIsGuarded } from './secrets/next-pin.js';

/** Who a login is about, whether or not there is such a user. */
export interface Account {
  /** The user's id; for an identity that names nobody, a stand-in that is always the same for that identity. */
  readonly userId: string;
  /** Undefined for nobody and for a deactivated user: logins treat both alike. */
  readonly user: AccountUser | undefined;
}

export interface AccountUser extends Candidate {
  readonly role: Role;
  readonly epoch: number;
  readonly pinHash: string | undefined;
  /** Whether a recovered PIN has to be put in place before anything is decided. */
  readonly nextPinIsDue: boolean;
  /** Whether only the PIN changes the PIN. */
  readonly pinIsGuarded: boolean;
  readonly lock: OperatorLock | undefined;
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
  /** When this user in particular is asked for a second factor. */
  readonly secondFactorPolicy: SecondFactorPolicy | undefined;
}

export type Role = (typeof roles)[number];
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number];

/** A lock that holds right now. */
export type OperatorLock = { readonly permanent: true } | { readonly permanent: false; readonly retryAfter: number };

/** What `userColumns` give; of nobody all null. */
export interface UserRow {
  id: string;
  status: string;
  epoch: number;
  role: Role;
  password_hash: string | null;
  pin_hash: string | null;
  next_pin_is_due: boolean;
  pin_is_guarded: boolean;
  username: string | null;
  email: string | null;
  phone: string | null;
  locale: string | null;
  lock_kind: 'temporary' | 'permanent' | null;
  lock_seconds: number | null;
  has_totp: boolean;
  has_passkey: boolean;
  second_factor: SecondFactorPolicy | null;
}

/** SQL: whether an operator's lock on the user `u` holds right now. */
export const lockHolds = `(u.lock_kind = 'permanent' or (u.lock_kind = 'temporary' and u.locked_until > db_now())) is true`;

const findIdentity = prepared('account_identity', 'select user_id from identities where digest = $1');
/** SQL: of the user `u`, for `activeUser`. */
export const userColumns = `u.id, u.status, u.epoch, u.role, u.password_hash, u.pin_hash,
  ${nextPinIsDue} as next_pin_is_due, ${pinIsGuarded} as pin_is_guarded, u.username, u.email, u.phone, u.locale,
  u.lock_kind, extract(epoch from u.locked_until - db_now())::float8 as lock_seconds, u.second_factor,
  exists (select 1 from totp t where t.user_id = u.id) as has_totp,
  exists (select 1 from passkeys p where p.user_id = u.id) as has_passkey`;
const findUser = prepared('account_user', `select ${userColumns} from users u where u.id = $1`);

/** Finds the account that an identity names. Two look-ups by key, for known and unknown identities alike. */
export async function findAccount(handle: Queryable, keys: SecretKeys, identity: Identity): Promise<Account> {
  const [named] = await handle.query<{ user_id: string }>(findIdentity, [identityDigest(identity)]);
  return getAccount(handle, named?.user_id ?? standInId(keys, identity));
}

/** The account of a user id, which may be a stand-in. */
export async function getAccount(handle: Queryable, userId: string): Promise<Account> {
  const [row] = await handle.query<UserRow>(findUser, [userId]);
  return { userId, user: activeUser(row) };
}

/** The user of a row; a deactivated one is nobody. */
export function activeUser(row: UserRow | undefined): AccountUser | undefined {
  if (row?.status !== 'active') return undefined;
  return {
    userId: row.id,
    epoch: row.epoch,
    role: row.role,
    passwordHash: row.password_hash ?? undefined,
    pinHash: row.pin_hash ?? undefined,
    nextPinIsDue: row.next_pin_is_due,
    pinIsGuarded: row.pin_is_guarded,
    username: row.username ?? undefined,
    email: row.email ?? undefined,
    phone: row.phone ?? undefined,
    locale: row.locale ?? undefined,
    lock: lockOf(row),
    hasTotp: row.has_totp,
    hasPasskey: row.has_passkey,
    secondFactorPolicy: row.second_factor ?? undefined,
  };
}

function lockOf(row: UserRow): OperatorLock | undefined {
  if (row.lock_kind === 'permanent') return { permanent: true };
  const seconds = row.lock_kind === 'temporary' ? (row.lock_seconds ?? 0) : 0;
  return seconds > 0 ? { permanent: false, retryAfter: Math.ceil(seconds) } : undefined;
}

/**
 * Stands for an identity that names nobody. Keyed, so that nobody outside can tell it from a user's id.
 * Logins and recoveries of one identity share it, as they share a user.
 */
export function standInId(keys: SecretKeys, identity: Identity): string {
  return idOf(keys, identityDigest(identity).toString('hex'));
}

/**
 * Stands for the identity of a registration, whether or not it names somebody. An id of its own: an account shares nothing
 * with registrations, so what stands for no account must not either (decision 57).
 */
export function registrationId(keys: SecretKeys, identity: Identity): string {
  return idOf(keys, `registration ${identityDigest(identity).toString('hex')}`);
}

const idOf = (keys: SecretKeys, subject: string) => idFromBytes(keys.digest('identity', subject).subarray(0, 16));

/** The refusal of a locked account. Told only to who gave the right secret. */
export function lockProblem(lock: OperatorLock): Problem {
  return lock.permanent
    ? new Problem('account_locked')
    : new Problem('account_temporarily_locked', { retryAfter: lock.retryAfter });
}
