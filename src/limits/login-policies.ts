import type { roles } from '../contract/user-fields.js';
import type { Queryable } from '../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../database/sql.js';

/** How long logins last, and on how many devices, by the role of their user and by the roles that the app gives. */

type Role = (typeof roles)[number];

/** The policy of a role. Times are in milliseconds. */
export interface LoginPolicy {
  /** From the proof of a login to its end, however much it is used. */
  readonly ttl: number;
  /** From the last use of a login to its end. Null: no limit. */
  readonly idle: number | null;
  readonly devices: number;
}

/**
 * The policies of all roles, as JSON: statements read those of the user's present roles. A user has one of the three roles of
 * operators, and any roles of the app, which can only make a limit smaller.
 */
export type LoginPolicies = string;

/** The key of a role of operators. It has a space, so no role of the app has this key, also not one with the name `operator`. */
const operatorsKey = (role: string) => `role ${role}`;
const keyOfRole = sql`'role ' || u.role`;

/**
 * @param policies the policy of each role
 * @param appRoles the limits of the app's roles
 */
export const createLoginPolicies = (
  policies: Readonly<Record<Role, LoginPolicy>>,
  appRoles: Readonly<Record<string, Partial<LoginPolicy>>> = {},
): LoginPolicies =>
  JSON.stringify({
    ...appRoles,
    ...Object.fromEntries(Object.entries(policies).map(([role, policy]) => [operatorsKey(role), policy])),
  });

/** SQL: the smallest of the limits of the roles of the user `u`; null if no role has one. */
const limitOf = (policies: SqlPart, limit: Sql): Sql => sql`(
  case when u.roles = '[]' then (${policies}::jsonb -> (${keyOfRole}) ->> ${limit})::float8
       else smallest_limit(${policies}::jsonb, ${keyOfRole}, u.roles, ${limit}) end)`;

/**
 * SQL: when the user of the login `a` has proven to be this user. The login of an app that came from the login of the pages proves
 * nothing by itself, so it has the time of that login.
 */
export const authenticatedAt = sql`coalesce(a.authenticated_at, a.approved_at)`;

/** SQL: when the login `a` ends. It is shown as `expires_at`. */
export const loginEnd = sql`least(a.expires_at, a.idle_expires_at)`;

/** SQL: the longest time that a login of the user `u` lasts. @param policies `LoginPolicies` */
export const loginTtl = (policies: SqlPart): Sql => sql`(${limitOf(policies, sql`'ttl'`)} * interval '1 ms')`;

/** SQL: the time without use after which a login of the user `u` ends; null if there is no such limit. */
export const loginIdleTtl = (policies: SqlPart): Sql => sql`(${limitOf(policies, sql`'idle'`)} * interval '1 ms')`;

/** SQL: the number of devices that the user with this id may have. */
export const maxDevicesOf = (policies: SqlPart, userId: SqlPart): Sql =>
  sql`(select (${limitOf(policies, sql`'devices'`)})::integer from users u where u.id = ${userId})`;

/**
 * SQL: whether the use of the login `a` of the user `u` must be stored: its end moves by more than a sixtieth of the idle limit or
 * a minute, or its end is later than the policy says now. So frequent uses do not write.
 */
export const useMovesEnd = (policies: SqlPart): Sql => sql`(
  a.expires_at > ${authenticatedAt} + ${loginTtl(policies)}
  or (a.idle_expires_at is null) <> (${loginIdleTtl(policies)} is null)
  or (a.idle_expires_at not between
        db_now() + ${loginIdleTtl(policies)} - least(interval '1 minute', ${loginIdleTtl(policies)} / 60)
        and db_now() + ${loginIdleTtl(policies)}) is true)`;

interface RoleValues {
  readonly userId: string;
  readonly policies: LoginPolicies;
}

const shortenLogins = statement<RoleValues>(
  'login_shorten',
  (p) => sql`
  with login as materialized (
    select a.user_id, a.id, ${authenticatedAt} + ${loginTtl(p.policies)} as latest_end,
           db_now() + ${loginIdleTtl(p.policies)} as idle_end
    from authentications a join users u on u.id = a.user_id
    where a.user_id = ${p.userId} and a.status = 'approved' and a.ended_at is null and a.epoch = u.epoch
    order by a.approved_at desc, a.id desc for no key update of a),
  shortened as (
    update authentications a
    set expires_at = least(a.expires_at, l.latest_end), idle_expires_at = least(a.idle_expires_at, l.idle_end)
    from login l where a.user_id = l.user_id and a.id = l.id
    returning a.user_id, a.id, ${loginEnd} as ends_at)
  update sessions s set expires_at = shortened.ends_at
  from shortened
  where s.user_id = shortened.user_id and s.authentication_id = shortened.id and s.expires_at > shortened.ends_at`,
);

/** A trigger ends the sessions of each login alone, and reads all sessions of the user for it. `on` turns it off. */
const setEndsSessions = statement<{ value: 'on' | 'off' }>(
  'login_ends_sessions',
  (p) => sql`select set_config('postern.ends_sessions', ${p.value}, true)`,
);

/**
 * Applies the policies of a user's new roles to the logins of the user, and ends their sessions with them: it makes none of them longer.
 * Call it after the change, in its transaction.
 */
export async function applyPolicyOfRole(tx: Queryable, userId: string, policies: LoginPolicies): Promise<void> {
  await tx.query(setEndsSessions({ value: 'on' }));
  await tx.query(shortenLogins({ userId, policies }));
  await tx.query(setEndsSessions({ value: 'off' }));
}
