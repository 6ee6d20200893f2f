import type { User } from '../../contract/user.js';
import { prepared, type Queryable, sql } from '../../database/database.js';
import { lockHolds } from '../accounts.js';
import { guessLocks } from '../guess-locks.js';
import type { IdentityType } from '../identities/identity.js';
import { identityDigest } from '../identities/identity-digest.js';
import type { ShownIdentity } from './validation.js';

/** A user as its columns arrive. Hashes stay in the database. */
export interface UserRow {
  readonly id: string;
  readonly username: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly name: string;
  readonly locale: string | null;
  readonly status: User['status'];
  readonly role: User['role'];
  readonly role_active: boolean;
  /** Null also when the lock has ended. */
  readonly lock_kind: 'temporary' | 'permanent' | null;
  readonly locked_until: string | null;
  readonly lock_reason: string | null;
  readonly guess_locks: User['guess_locks'];
  readonly has_password: boolean;
  readonly has_pin: boolean;
  readonly pin_recovery: User['pin_recovery'];
  readonly second_factor: User['second_factor'];
  readonly second_factors: User['second_factors'];
  readonly metadata: Record<string, unknown>;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What a new user is written with. `metadata` is JSON text. */
export interface NewUserValues {
  readonly username: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly name: string;
  readonly locale: string | null;
  readonly role: User['role'];
  readonly password_hash: string | null;
  readonly pin_hash: string | null;
  readonly metadata: string;
}

/** What can be written of a user later. */
export type UserValues = Partial<
  NewUserValues & Pick<UserRow, 'status' | 'second_factor' | 'lock_kind' | 'locked_until' | 'lock_reason'> & RoleEffect
>;

/** What makes a role take effect. It is written here only to end. */
interface RoleEffect {
  readonly role_active_since: null;
  readonly role_link_digest: null;
  readonly role_link_expires_at: null;
}

/** SQL: a time as JSON shows it. */
const text = (time: string) => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const secondFactors = `
  (select coalesce(jsonb_agg(jsonb_build_object('type', f.type,
            'created_at', ${text('f.created_at')}) order by f.created_at), '[]')
   from (select 'totp' as type, t.created_at from totp t where t.user_id = u.id
         union all select 'passkey', p.created_at from passkeys p where p.user_id = u.id) f)`;

const pinRecovery = `
  case when u.next_pin_at > db_now() then jsonb_build_object(
    'started_at', ${text('u.next_pin_since')}, 'effective_at', ${text('u.next_pin_at')}) end`;

/** Columns of `users u`. */
export const userColumns = `
  u.id, u.username, u.email, u.phone, u.name, u.locale, u.status, u.role,
  u.role <> 'user' and u.role_active_since is not null as role_active,
  case when ${lockHolds} then u.lock_kind end as lock_kind, u.locked_until, u.lock_reason,
  ${guessLocks} as guess_locks,
  u.password_hash is not null as has_password, u.pin_hash is not null as has_pin, ${pinRecovery} as pin_recovery,
  u.second_factor, ${secondFactors} as second_factors, u.metadata, u.created_at, u.updated_at`;

export function toUser(row: UserRow): User {
  const { lock_kind, locked_until, lock_reason, ...rest } = row;
  const permanent = lock_kind === 'permanent';
  const lock = { permanent, until: permanent ? null : locked_until, reason: lock_reason };
  return { ...rest, lock: lock_kind === null ? null : lock };
}

const selectUser = prepared('user_get', `select ${userColumns} from users u where u.id = $1`);
const selectUserForUpdate = prepared('user_hold', `select ${userColumns} from users u where u.id = $1 for update`);

export async function findUser(handle: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await handle.query<UserRow>(selectUser, [id]);
  return row;
}

/** The same, with the row locked until the transaction ends: one change of a user at a time. */
export async function holdUser(tx: Queryable, id: string): Promise<UserRow | undefined> {
  const [row] = await tx.query<UserRow>(selectUserForUpdate, [id]);
  return row;
}

const selectEpochForUpdate = prepared('user_hold_epoch', 'select epoch from users where id = $1 for update');

/** The same lock, for who asks only whether anything has ended the user's logins meanwhile. */
export async function holdUserEpoch(tx: Queryable, id: string): Promise<number | undefined> {
  const [row] = await tx.query<{ epoch: number }>(selectEpochForUpdate, [id]);
  return row?.epoch;
}

const insertUserRow = prepared(
  'user_insert',
  `insert into users as u (id, username, email, phone, name, locale, role, password_hash, pin_hash, metadata,
                           created_at, updated_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, now, now from (select db_now() as now) clock
   returning ${userColumns}`,
);
const insertInbox = prepared('user_insert_inbox', 'insert into inboxes (user_id) values ($1)');

/** Inserts the user and the head of the user's inbox, which publishing needs. */
export async function insertUser(tx: Queryable, id: string, values: NewUserValues): Promise<UserRow> {
  const { username, email, phone, name, locale, role, password_hash, pin_hash, metadata } = values;
  const row = [id, username, email, phone, name, locale, role, password_hash, pin_hash, metadata];
  const [user] = await tx.query<UserRow>(insertUserRow, row);
  if (user === undefined) throw new Error('an insert returned no row');
  await tx.query(insertInbox, [id]);
  return user;
}

/** Writes the given columns; with `endLogins` every login that has begun is over (see the column `epoch`). */
export async function updateUser(
  tx: Queryable,
  id: string,
  values: UserValues,
  options: { readonly endLogins: boolean } = { endLogins: false },
): Promise<UserRow> {
  // Names of properties of ours: validation copies the known ones and nothing else.
  const written = Object.entries(values);
  const assignments = written.map(([column], index) => `${column} = $${index + 2}`);
  if (options.endLogins) assignments.push('epoch = u.epoch + 1');
  const statement = sql(
    `update users u set ${[...assignments, 'updated_at = db_now()'].join(', ')} where u.id = $1 returning ${userColumns}`,
  );
  const [row] = await tx.query<UserRow>(statement, [id, ...written.map(([, value]) => value)]);
  if (row === undefined) throw new Error('the user of a held row is gone');
  return row;
}

const claimIdentity = prepared(
  'identity_claim',
  `insert into identities (digest, user_id, type, canonical) values ($1, $2, $3, $4)
   on conflict (digest) do nothing returning type`,
);

/**
 * Makes identities name the user. Every caller claims in the order of digests, as an import does too, so two that want the
 * same ones cannot wait for each other.
 * @returns the types of those that name another user already.
 */
export async function claimIdentities(
  tx: Queryable,
  userId: string,
  identities: readonly ShownIdentity[],
): Promise<IdentityType[]> {
  const claims = identities.map(({ identity }) => ({ ...identity, digest: identityDigest(identity) }));
  const taken = new Set<IdentityType>();
  for (const { digest, type, canonical } of claims.toSorted((a, b) => Buffer.compare(a.digest, b.digest))) {
    if ((await tx.query(claimIdentity, [digest, userId, type, canonical])).length === 0) taken.add(type);
  }
  return claims.map(({ type }) => type).filter((type) => taken.has(type));
}

const releaseIdentitiesOfTypes = prepared(
  'identity_release',
  'delete from identities where user_id = $1 and type = any($2)',
);

export async function releaseIdentities(tx: Queryable, userId: string, types: readonly string[]): Promise<void> {
  await tx.query(releaseIdentitiesOfTypes, [userId, types]);
}

const countActiveLogins = prepared(
  'user_count_logins',
  `select count(*)::int as active
   from authentications a join users u on u.id = a.user_id
   where a.user_id = $1 and a.status = 'approved' and a.ended_at is null and a.epoch = u.epoch and a.expires_at > db_now()`,
);

/** How many authentication tokens of the user are good right now. */
export async function countLogins(handle: Queryable, userId: string): Promise<number> {
  const [row] = await handle.query<{ active: number }>(countActiveLogins, [userId]);
  return row?.active ?? 0;
}

const deleteUserRow = prepared('user_delete', 'delete from users where id = $1 returning id');
const deleteIdentities = prepared('user_delete_identities', 'delete from identities where user_id = $1');
const deleteExternalIdentities = prepared(
  'user_delete_external_identities',
  'delete from external_identities where user_id = $1',
);
/** Without the head of the inbox nothing can be published to the user any more. */
const deleteInbox = prepared('user_delete_inbox', 'delete from inboxes where user_id = $1');
/** Twice: a login that was under way may leave its rows after the first. */
const queueErasure = prepared(
  'user_queue_erasure',
  `select graphile_worker.add_job('user.erase', json_build_object('user_id', $1::text), run_at => run_at)
   from unnest(array[now(), now() + interval '1 hour']) as run_at`,
);

/** Removes the user at once, and leaves everything else of the user to the queue. False: there is no such user. */
export async function deleteUser(tx: Queryable, id: string): Promise<boolean> {
  const deleted = await tx.query(deleteUserRow, [id]);
  if (deleted.length === 0) return false;
  await tx.query(deleteIdentities, [id]);
  await tx.query(deleteExternalIdentities, [id]);
  await tx.query(deleteInbox, [id]);
  await tx.query(queueErasure, [id]);
  return true;
}

const isInFuture = prepared('time_is_future', 'select $1::timestamptz > db_now() as future');

/** Whether a time is still to come, by the clock that decides rights. */
export async function isFuture(handle: Queryable, time: string): Promise<boolean> {
  const [row] = await handle.query<{ future: boolean }>(isInFuture, [time]);
  return row?.future === true;
}
