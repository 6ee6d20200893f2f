import type { User } from '../contract/user.js';
import { type UserFieldsWith, userFieldsWith } from '../contract/user-fields.js';
import { endChallenges } from '../credentials/challenges.js';
import { timeText } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { bound, compose, identifier, join, type Sql, sql, statement, unprepared } from '../database/sql.js';
import { currentCause } from '../database/traced.js';
import { lockHolds } from '../identities/accounts.js';
import { type DirectoryType, identityDigest } from '../identities/identity.js';
import { guessLocks } from '../limits/guess-locks.js';
import { loginEnd } from '../limits/login-policies.js';
import { lastLogin } from './search/fields.js';
import type { ShownIdentity } from './validation.js';

/** A row of `userColumns`. It contains no hashes. */
export interface UserRow extends Omit<User, 'lock'> {
  /** Null if the user has no lock, or if the lock has ended. */
  readonly lock_kind: 'temporary' | 'permanent' | null;
  readonly locked_until: string | null;
  readonly lock_reason: string | null;
}

/** The columns of a new user. `metadata`, `roles` and `claims` are JSON text. */
export type NewUserValues = {
  readonly [Name in UserFieldsWith<'stored'>]: Name extends 'metadata' | 'roles' | 'claims'
    ? string
    : Name extends 'must_change'
      ? boolean
      : Name extends keyof User
        ? User[Name]
        : string | null;
};

/** The columns that a change of a user may write. */
export type UserValues = Partial<
  NewUserValues &
    Pick<UserRow, 'status' | 'second_factor' | 'lock_kind' | 'locked_until' | 'lock_reason'> &
    RoleEffect &
    PendingPinEnd & { readonly had_address_login: boolean }
>;

/** The columns of a pending PIN and of the guard of the PIN. A change of a user can only reset them. */
interface PendingPinEnd {
  readonly next_pin_hash: null;
  readonly next_pin_since: null;
  readonly next_pin_at: null;
  readonly next_pin_cancel: null;
  readonly pin_guarded_until: null;
}

/** The columns that show whether a role is in effect. A change of a user can only reset them. */
interface RoleEffect {
  readonly role_active_since: null;
  readonly role_link_digest: null;
  readonly role_link_expires_at: null;
}

const secondFactors = sql`
  (select coalesce(jsonb_agg(jsonb_build_object('type', f.type,
            'created_at', ${timeText(sql`f.created_at`)}) order by f.created_at), '[]')
   from (select 'totp' as type, t.created_at from totp t where t.user_id = u.id
         union all select 'passkey', p.created_at from passkeys p where p.user_id = u.id) f)`;

const pinRecovery = sql`
  case when u.next_pin_at > db_now() then jsonb_build_object(
    'started_at', ${timeText(sql`u.next_pin_since`)}, 'effective_at', ${timeText(sql`u.next_pin_at`)}) end`;

/** SQL: the columns of fields that are not the column of the same name. */
const computedColumns: Readonly<Record<Exclude<keyof User, UserFieldsWith<'isColumn'>>, Sql>> = {
  email_verified: sql`u.email is not null and u.email_verified as email_verified`,
  phone_verified: sql`u.phone is not null and u.phone_verified as phone_verified`,
  role_active: sql`u.role <> 'user' and u.role_active_since is not null as role_active`,
  lock: sql`case when ${lockHolds} then u.lock_kind end as lock_kind, u.locked_until, u.lock_reason`,
  guess_locks: sql`${guessLocks} as guess_locks`,
  has_password: sql`u.password_hash is not null as has_password`,
  has_pin: sql`u.pin_hash is not null as has_pin`,
  pin_recovery: sql`${pinRecovery} as pin_recovery`,
  second_factors: sql`${secondFactors} as second_factors`,
  last_login_at: sql`${lastLogin} as last_login_at`,
};
const computed: Readonly<Record<string, Sql>> = computedColumns;

/** SQL: the columns of `UserRow`, of the user `u`. */
export const userColumns = join(
  Object.keys(userFieldsWith('answer')).map((name) => computed[name] ?? sql`u.${identifier(name)}`),
  ', ',
);

/** The columns of `NewUserValues` with their types. */
const storedColumns = Object.entries(userFieldsWith('stored')) as [keyof NewUserValues, 'text' | 'jsonb' | 'boolean'][];

/** SQL: the names of these columns, and their values as text from rows with the same names. */
export const storedNames = join(
  storedColumns.map(([name]) => identifier(name)),
  ', ',
);
export const storedDefinitions = join(
  storedColumns.map(([name]) => sql`${identifier(name)} text`),
  ', ',
);
export const storedValues = join(
  storedColumns.map(([name, type]) => sql`${identifier(name)}::${identifier(type)}`),
  ', ',
);

/** A row as the admin API shows it. */
export function toUser(row: UserRow): User {
  const { lock_kind, locked_until, lock_reason, ...rest } = row;
  const permanent = lock_kind === 'permanent';
  const lock = { permanent, until: permanent ? null : locked_until, reason: lock_reason };
  return { ...rest, lock: lock_kind === null ? null : lock };
}

const selectUser = statement<{ id: string }, UserRow>(
  'user_get',
  (p) => sql`select ${userColumns} from users u where u.id = ${p.id}`,
);

/** Finds a user; undefined if there is none. */
export async function findUser(handle: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await handle.query(selectUser({ id }));
  return row;
}

const selectUsers = unprepared(
  statement<{ ids: readonly string[] }, UserRow>(
    'user_get_many',
    (p) => sql`select ${userColumns} from users u where u.id = any(${p.ids}::uuid[])`,
  ),
);

/** The users with these ids, in the order of the ids. An id without a user is left out. */
export async function findUsers(handle: Queryable, ids: readonly string[]): Promise<UserRow[]> {
  if (ids.length === 0) return [];
  const rows = new Map((await handle.query(selectUsers({ ids }))).map((row) => [row.id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

const selectUserForUpdate = statement<{ id: string }, UserRow>(
  'user_lock',
  (p) => sql`select ${userColumns} from users u where u.id = ${p.id} for update`,
);

/** Finds a user and locks the row until the transaction ends, so that changes of one user run one after the other. */
export async function findUserForUpdate(tx: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await tx.query(selectUserForUpdate({ id }));
  return row;
}

const selectEpochForUpdate = statement<{ id: string }, { epoch: number }>(
  'user_lock_epoch',
  (p) => sql`select epoch from users where id = ${p.id} for update`,
);

/**
 * Locks the row of a user until the transaction ends, and reads only the epoch. A changed epoch means that every login
 * of the user has ended.
 */
export async function findEpochForUpdate(tx: Queryable, id: string): Promise<number | undefined> {
  const [row] = await tx.query(selectEpochForUpdate({ id }));
  return row?.epoch;
}

const insertUserRow = statement<NewUserValues & { id: string }, UserRow>(
  'user_insert',
  (p) => sql`
    insert into users as u (id, ${storedNames}, created_at, updated_at)
    select ${p.id}, ${join(
      storedColumns.map(([name, type]) => sql`${p[name]}::${identifier(type)}`),
      ', ',
    )}, now, now
    from (select db_now() as now) clock
    returning ${userColumns}`,
);

const insertInbox = statement<{ userId: string }>(
  'user_insert_inbox',
  (p) => sql`insert into inboxes (user_id) values (${p.userId})`,
);

/** Inserts the user and the user's inbox row, which publishing needs. */
export async function insertUser(tx: Queryable, id: string, values: NewUserValues): Promise<UserRow> {
  const [user] = await tx.query(insertUserRow({ id, ...values }));
  if (user === undefined) throw new Error('an insert returned no row');
  await tx.query(insertInbox({ userId: id }));
  return user;
}

const clearGuest = statement<{ userId: string }, { id: string }>(
  'user_end_guest',
  (p) => sql`
  update users set is_guest = false, updated_at = db_now() where id = ${p.userId} and is_guest returning id`,
);

/**
 * The user has got a first credential, and is no guest any more. Also ends flows that a guest has started without a proof. The caller holds
 * the lock of the user's row.
 */
export async function endGuest(tx: Queryable, userId: string): Promise<void> {
  if ((await tx.query(clearGuest({ userId }))).length > 0) await endChallenges(tx, userId);
}

/**
 * Writes columns of a user whose row is locked.
 *
 * @param options.endLogins whether to end every login of the user (see the column `epoch`)
 */
export async function updateUser(
  tx: Queryable,
  id: string,
  values: UserValues,
  options: { readonly endLogins: boolean } = { endLogins: false },
): Promise<UserRow> {
  const assignments: Sql[] = Object.entries(values).map(
    ([column, value]) => sql`${identifier(column)} = ${bound(value)}`,
  );
  if (options.endLogins) assignments.push(sql`epoch = u.epoch + 1`);
  assignments.push(sql`updated_at = db_now()`);
  const [row] = await tx.query(
    compose<UserRow>(
      sql`update users u set ${join(assignments, ', ')} where u.id = ${bound(id)} returning ${userColumns}`,
    ),
  );
  if (row === undefined) throw new Error('the row of a locked user is gone');
  return row;
}

/**
 * Whether the user has ever logged in with a code. Codes go only to proven addresses. Events remember what the logins
 * themselves no longer show.
 */
const findAddressLogin = statement<{ userId: string }, { had: boolean }>(
  'user_address_login',
  (p) => sql`
    select u.had_address_login
        or exists (select from authentications a where a.user_id = u.id and a.status = 'approved'
                   and a.authenticator in ('email', 'sms'))
        or exists (select from events e where e.user_id = u.id and e.type = 'login.approved'
                   and e.data->>'authenticator' in ('email', 'sms')) as had
    from users u where u.id = ${p.userId}`,
);

/** Whether the user has ever logged in with a code to a proven address. */
export async function hadAddressLogin(handle: Queryable, userId: string): Promise<boolean> {
  const [row] = await handle.query(findAddressLogin({ userId }));
  return row?.had === true;
}

const claimIdentity = statement<Claim, { type: DirectoryType }>(
  'identity_claim',
  (p) => sql`
    insert into identities (digest, user_id, type, canonical)
    values (${p.digest}, ${p.userId}, ${p.type}, ${p.canonical})
    on conflict (digest) do nothing
    returning type`,
);

interface Claim {
  readonly digest: Buffer;
  readonly userId: string;
  readonly type: DirectoryType;
  readonly canonical: string;
}

/**
 * Assigns identities to a user. Every transaction, also of an import, inserts identities in the order of their digests, so two transactions
 * that insert the same identities cannot deadlock.
 *
 * @returns the types of the identities that belong to another user
 */
export async function claimIdentities(
  tx: Queryable,
  userId: string,
  identities: readonly ShownIdentity[],
): Promise<DirectoryType[]> {
  const claims = identities.map(({ identity }) => ({ ...identity, userId, digest: identityDigest(identity) }));
  const takenTypes = new Set<DirectoryType>();
  for (const claim of claims.toSorted((a, b) => Buffer.compare(a.digest, b.digest))) {
    const claimed = await tx.query(claimIdentity(claim));
    if (claimed.length === 0) takenTypes.add(claim.type);
  }
  return claims.map(({ type }) => type).filter((type) => takenTypes.has(type));
}

const findTaken = statement<{ digests: readonly Buffer[] }, { type: DirectoryType }>(
  'identity_taken',
  (p) => sql`select type from identities where digest = any(${p.digests})`,
);

/**
 * The types of the identities that another user already has. This is only a hint, because it locks nothing:
 * `claimIdentities` decides.
 */
export async function takenIdentities(
  handle: Queryable,
  identities: readonly ShownIdentity[],
): Promise<DirectoryType[]> {
  const rows = await handle.query(findTaken({ digests: identities.map(({ identity }) => identityDigest(identity)) }));
  return rows.map(({ type }) => type);
}

const deleteIdentitiesOfTypes = statement<{ userId: string; types: readonly string[] }>(
  'identity_release',
  (p) => sql`delete from identities where user_id = ${p.userId} and type = any(${p.types})`,
);

/** Removes the identities of these types from a user. */
export async function releaseIdentities(tx: Queryable, userId: string, types: readonly string[]): Promise<void> {
  await tx.query(deleteIdentitiesOfTypes({ userId, types }));
}

const countActiveLogins = statement<{ userId: string }, { active: number }>(
  'user_count_logins',
  (p) => sql`
    select count(*)::int as active
    from authentications a join users u on u.id = a.user_id
    where a.user_id = ${p.userId} and a.status = 'approved' and a.ended_at is null and a.epoch = u.epoch
      and ${loginEnd} > db_now()`,
);

/** Counts the authentication tokens of a user that are valid now. */
export async function countLogins(handle: Queryable, userId: string): Promise<number> {
  const [row] = await handle.query(countActiveLogins({ userId }));
  return row?.active ?? 0;
}

const deleteUserRow = statement<{ id: string }, { id: string }>(
  'user_delete',
  (p) => sql`delete from users where id = ${p.id} returning id`,
);
const deleteIdentities = statement<{ userId: string }>(
  'user_delete_identities',
  (p) => sql`delete from identities where user_id = ${p.userId}`,
);
const deleteExternalIdentities = statement<{ userId: string }>(
  'user_delete_external_identities',
  (p) => sql`delete from external_identities where user_id = ${p.userId}`,
);
const deleteTestIdentities = statement<{ userId: string }>(
  'user_delete_test_identities',
  (p) => sql`delete from test_identities where user_id = ${p.userId}`,
);
const deleteInbox = statement<{ userId: string }>(
  'user_delete_inbox',
  (p) => sql`delete from inboxes where user_id = ${p.userId}`,
);
/** The job runs a second time later, because a login that was in progress may insert rows after the first run. */
const queueErasure = statement<{ userId: string }>(
  'user_queue_erasure',
  (p) => sql`
    select graphile_worker.add_job('user.erase',
      json_build_object('user_id', ${p.userId}::text, 'traceparent', ${currentCause}), run_at => run_at)
    from unnest(array[now(), now() + interval '1 hour']) as run_at`,
);

/**
 * Deletes the user, the user's identities, and the inbox row, without which nothing can be published to the user. The queue's job
 * `user.erase` deletes the rest.
 *
 * @returns false when there is no such user
 */
export async function deleteUser(tx: Queryable, id: string): Promise<boolean> {
  const deleted = await tx.query(deleteUserRow({ id }));
  if (deleted.length === 0) return false;
  await tx.query(deleteIdentities({ userId: id }));
  await tx.query(deleteExternalIdentities({ userId: id }));
  await tx.query(deleteTestIdentities({ userId: id }));
  await tx.query(deleteInbox({ userId: id }));
  await tx.query(queueErasure({ userId: id }));
  return true;
}

const isInFuture = statement<{ time: string }, { future: boolean }>(
  'time_is_future',
  (p) => sql`select ${p.time}::timestamptz > db_now() as future`,
);

/** Whether a time is in the future, by the clock of the database. */
export async function isFuture(handle: Queryable, time: string): Promise<boolean> {
  const [row] = await handle.query(isInFuture({ time }));
  return row?.future === true;
}
