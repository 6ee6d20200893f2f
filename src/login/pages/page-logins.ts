import type { Database } from '../../database/database.js';
import { literal, type Parameters, type Sql, sql, statement } from '../../database/sql.js';
import { lockHolds } from '../../identities/accounts.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { authenticatedAt, type LoginPolicies, loginEnd, loginTtl } from '../../limits/login-policies.js';
import type { PageLogin } from '../providers/redirect-pages.js';

/** A login of the pages that is valid now. */
export interface HeldPageLogin extends PageLogin {
  /** The name of the user for people. Null: the user has none. */
  readonly name: string | null;
  readonly secondFactor: string | null;
  /** When the user has proven to be this user. Milliseconds by the database's clock. */
  readonly authenticatedAt: number;
}

interface HeldValues {
  readonly userId: string;
  readonly id: string;
  /** Null: of any token. */
  readonly digest: Buffer | null;
  readonly policies: LoginPolicies;
}

/**
 * SQL: the login `a` of the user `u`, if it can be the login of the pages now. A token that is bound to a key works only with this
 * key. A login of an app that came from the pages would make logins that make logins, without an end. A
 * support login would make logins that last.
 */
const heldLogin = ({ userId, id, digest, policies }: Parameters<HeldValues>): Sql => sql`
  authentications a join users u on u.id = a.user_id
  where a.user_id = ${userId} and a.id = ${id} and (${digest}::bytea is null or a.token_digest = ${digest})
    and a.authenticator <> 'page' and a.acting_operator is null and a.key_thumbprint is null and a.status = 'approved' and a.ended_at is null
    and least(${loginEnd}, ${authenticatedAt} + ${loginTtl(policies)}) > db_now()
    and u.epoch = a.epoch and u.status = 'active' and not ${lockHolds}`;

const findHeld = statement<HeldValues, HeldPageLogin>(
  'page_login_held',
  (p) => sql`
  select a.user_id as "userId", a.id, a.second_factor as "secondFactor",
         user_display_name(u.name, u.username, u.email, u.phone) as name,
         (extract(epoch from ${authenticatedAt}) * 1000)::float8 as "authenticatedAt"
  from ${heldLogin(p)}`,
);

/** The login of a token, or of an id. Undefined if it has ended, or if its user may not log in. */
export async function findPageLogin(
  database: Database,
  login: ParsedToken | PageLogin,
  policies: LoginPolicies,
): Promise<HeldPageLogin | undefined> {
  const [userId = '', id = ''] = 'ids' in login ? login.ids : [login.userId, login.id];
  const digest = 'digest' in login ? login.digest : null;
  const [row] = await database.user(userId).query(findHeld({ userId, id, digest, policies }));
  return row;
}

/** How many devices of a user may have the mark. Others count toward MAX_DEVICES. */
const maxMarked = 20;

const markDevice = statement<HeldValues, { readonly id: string }>(
  'page_login_mark_device',
  (p) => sql`
  with held as materialized (select a.user_id, a.id, a.device_id from ${heldLogin(p)}),
  marked as (
    update devices d set is_page = true
    from held where d.user_id = held.user_id and d.id = held.device_id and not d.is_page
    returning d.user_id),
  unmarked as (
    update devices d set is_page = false
    where d.user_id = ${p.userId} and d.is_page and exists (select from marked) and d.id in (
      select o.id from devices o where o.user_id = ${p.userId} and o.is_page
      order by o.last_login_at desc, o.id offset ${literal(maxMarked - 1)}))
  select id from held`,
);

/**
 * Marks the device of a login of the pages: it does not count toward MAX_DEVICES, so the mark comes before the first session.
 * @returns false for a token that cannot be a login of the pages: nothing was marked
 */
export async function markPageDevice(
  database: Database,
  { ids, digest }: ParsedToken,
  policies: LoginPolicies,
): Promise<boolean> {
  const [userId = '', id = ''] = ids;
  return (await database.user(userId).query(markDevice({ userId, id, digest, policies }))).length > 0;
}
