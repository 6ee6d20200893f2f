import type { roles, secondFactorPolicies } from '../contract/user-fields.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { idFromBytes } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import { type Identity, identityDigest } from './identity.js';

/** The account of a login, whether or not a user has its identity. */
export interface Account {
  /** The user's id. For an unknown identity, a derived id that is always the same for that identity. */
  readonly userId: string;
  /** Undefined for an unknown and for a deactivated user: logins treat both in the same way. */
  readonly user: AccountUser | undefined;
}

/** The user data that authenticators get. They get undefined for a user who does not exist or may not log in. */
export interface Candidate {
  readonly userId: string;
  readonly role: Role;
  readonly passwordHash: string | undefined;
  readonly username: string | undefined;
  /** The proven mail address in canonical form: codes go to it. */
  readonly email: string | undefined;
  /** The proven phone number: E.164. */
  readonly phone: string | undefined;
  /** The addresses that nobody has proven yet. They name the account at a password login, and get no codes. */
  readonly unproven: { readonly email: string | undefined; readonly phone: string | undefined };
  /** BCP 47. */
  readonly locale: string | undefined;
}

export interface AccountUser extends Candidate {
  readonly epoch: number;
  /** The roles that the app gives. */
  readonly appRoles: readonly string[];
  /** Whether the password is for one use: a login with it must set another. */
  readonly mustChangePassword: boolean;
  readonly pinHash: string | undefined;
  /** Whether a pending PIN must be applied before the login is decided. */
  readonly nextPinIsDue: boolean;
  /** Whether only the PIN itself authorizes a change of the PIN. */
  readonly onlyPinChangesPin: boolean;
  readonly lock: OperatorLock | undefined;
  readonly isGuest: boolean;
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
  /** The user's own policy for the second factor; undefined: that of the service. */
  readonly secondFactorPolicy: SecondFactorPolicy | undefined;
}

export type Role = (typeof roles)[number];
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number];

/** An operator's lock that is in effect now. `retryAfter` is in seconds. */
export type OperatorLock = { readonly permanent: true } | { readonly permanent: false; readonly retryAfter: number };

/** A row of `accountColumns`. In a left join without a user, all columns are null. */
export interface AccountRow {
  id: string;
  status: string;
  epoch: number;
  role: Role;
  roles: readonly string[];
  password_hash: string | null;
  must_change: boolean;
  pin_hash: string | null;
  next_pin_is_due: boolean;
  only_pin_changes_pin: boolean;
  username: string | null;
  email: string | null;
  phone: string | null;
  email_verified: boolean;
  phone_verified: boolean;
  locale: string | null;
  lock_kind: 'temporary' | 'permanent' | null;
  lock_seconds: number | null;
  is_guest: boolean;
  has_totp: boolean;
  has_passkey: boolean;
  second_factor: SecondFactorPolicy | null;
}

/** SQL: whether an operator's lock on the user `u` is in effect now. */
export const lockHolds = sql`(u.lock_kind = 'permanent' or (u.lock_kind = 'temporary' and u.locked_until > db_now())) is true`;

/** SQL: whether only the PIN of the user `u` authorizes a change of the PIN. */
const onlyPinChangesPin = sql`(u.pin_guarded_until > db_now()) is true`;

/** SQL: whether the user `u` has a pending PIN that is due but not applied yet. */
export const nextPinIsDue = sql`(u.next_pin_at <= db_now()) is true`;

const findIdentity = statement<{ digest: Buffer }, { user_id: string }>(
  'account_identity',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);

/** SQL: the columns of the user `u` for `activeUser`. */
export const accountColumns = sql`u.id, u.status, u.epoch, u.role, u.roles, u.password_hash, u.must_change, u.pin_hash,
  ${nextPinIsDue} as next_pin_is_due, ${onlyPinChangesPin} as only_pin_changes_pin, u.username, u.email, u.phone,
  u.email_verified, u.phone_verified, u.locale, u.is_guest,
  u.lock_kind, extract(epoch from u.locked_until - db_now())::float8 as lock_seconds, u.second_factor,
  exists (select 1 from totp t where t.user_id = u.id) as has_totp,
  exists (select 1 from passkeys p where p.user_id = u.id) as has_passkey`;

const findUser = statement<{ userId: string }, AccountRow>(
  'account_user',
  (p) => sql`select ${accountColumns} from users u where u.id = ${p.userId}`,
);

/** Finds the account of an identity. Known and unknown identities take the same two look-ups by key. */
export async function findAccount(handle: Queryable, keys: SecretKeys, identity: Identity): Promise<Account> {
  const [row] = await handle.query(findIdentity({ digest: identityDigest(identity) }));
  return getAccount(handle, row?.user_id ?? derivedUserId(keys, identity));
}

/** The account of a user id, which may be a derived id. */
export async function getAccount(handle: Queryable, userId: string): Promise<Account> {
  const [row] = await handle.query(findUser({ userId }));
  return { userId, user: activeUser(row) };
}

/** The user of a row; undefined for a deactivated user. */
export function activeUser(row: AccountRow | undefined): AccountUser | undefined {
  if (row?.status !== 'active') return undefined;
  return {
    userId: row.id,
    epoch: row.epoch,
    role: row.role,
    appRoles: row.roles,
    passwordHash: row.password_hash ?? undefined,
    mustChangePassword: row.must_change,
    pinHash: row.pin_hash ?? undefined,
    nextPinIsDue: row.next_pin_is_due,
    onlyPinChangesPin: row.only_pin_changes_pin,
    username: row.username ?? undefined,
    ...addressesOf(row),
    locale: row.locale ?? undefined,
    lock: lockOf(row),
    isGuest: row.is_guest,
    hasTotp: row.has_totp,
    hasPasskey: row.has_passkey,
    secondFactorPolicy: row.second_factor ?? undefined,
  };
}

function addressesOf(row: AccountRow): Pick<AccountUser, 'email' | 'phone' | 'unproven'> {
  const email = row.email ?? undefined;
  const phone = row.phone ?? undefined;
  return {
    email: row.email_verified ? email : undefined,
    phone: row.phone_verified ? phone : undefined,
    unproven: { email: row.email_verified ? undefined : email, phone: row.phone_verified ? undefined : phone },
  };
}

function lockOf(row: AccountRow): OperatorLock | undefined {
  if (row.lock_kind === 'permanent') return { permanent: true };
  const seconds = row.lock_kind === 'temporary' ? (row.lock_seconds ?? 0) : 0;
  return seconds > 0 ? { permanent: false, retryAfter: Math.ceil(seconds) } : undefined;
}

/**
 * The derived id of an unknown identity. It depends on a secret key, so that a client cannot distinguish it from a user's id. Logins and
 * recoveries of one unknown identity use the same derived id, just as those of a known identity use the same user id.
 */
export function derivedUserId(keys: SecretKeys, identity: Identity): string {
  return idOf(keys, identityDigest(identity).toString('hex'));
}

/**
 * The derived id of a registration, whether or not a user has its identity. It differs from `derivedUserId`: accounts
 * share no limits with registrations, so unknown identities must not either (decision 6).
 */
export function derivedRegistrationId(keys: SecretKeys, identity: Identity): string {
  return idOf(keys, `registration ${identityDigest(identity).toString('hex')}`);
}

/** The derived id under which wrong codes for an account at a provider are counted, until it belongs to a user. */
export function derivedProviderAccountId(keys: SecretKeys, issuer: string, subject: string): string {
  return idOf(keys, `account at a provider ${issuer}\n${subject}`);
}

const idOf = (keys: SecretKeys, subject: string) => idFromBytes(keys.digest('identity', subject).subarray(0, 16));

/** The refusal of a locked account. Send it only after a right secret, because it reveals that the account exists. */
export function lockProblem(lock: OperatorLock): Problem {
  return lock.permanent
    ? new Problem('account_locked')
    : new Problem('account_temporarily_locked', { retryAfter: lock.retryAfter });
}
