import type { Database } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { lockHolds } from '../../identities/accounts.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { loginEnd } from '../../limits/login-policies.js';
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
}

/** A token that is bound to a key works only with this key, so it is no login of the pages. */
const findHeld = statement<HeldValues, HeldPageLogin>(
  'page_login_held',
  (p) => sql`
  select a.user_id as "userId", a.id, a.second_factor as "secondFactor",
         user_display_name(u.name, u.username, u.email, u.phone) as name,
         (extract(epoch from a.approved_at) * 1000)::float8 as "authenticatedAt"
  from authentications a join users u on u.id = a.user_id
  where a.user_id = ${p.userId} and a.id = ${p.id} and (${p.digest}::bytea is null or a.token_digest = ${p.digest})
    and a.status = 'approved' and a.ended_at is null and a.key_thumbprint is null and ${loginEnd} > db_now()
    and u.epoch = a.epoch and u.status = 'active' and not ${lockHolds}`,
);

/** The login of a token, or of an id. Undefined if it has ended, or if its user may not log in. */
export async function findPageLogin(
  database: Database,
  login: ParsedToken | PageLogin,
): Promise<HeldPageLogin | undefined> {
  const [userId = '', id = ''] = 'ids' in login ? login.ids : [login.userId, login.id];
  const digest = 'digest' in login ? login.digest : null;
  const [row] = await database.user(userId).query(findHeld({ userId, id, digest }));
  return row;
}

/** How many devices of a user may have the mark. Others count toward MAX_DEVICES. */
const maxMarked = 20;

const markDevice = statement<{ userId: string; id: string; digest: Buffer }>(
  'page_login_mark_device',
  (p) => sql`
  with marked as (
    update devices d set is_page = true
    from authentications a
    where a.user_id = ${p.userId} and a.id = ${p.id} and a.token_digest = ${p.digest} and a.status = 'approved'
      and a.ended_at is null and d.user_id = a.user_id and d.id = a.device_id and not d.is_page
    returning d.user_id)
  update devices d set is_page = false
  where d.user_id = ${p.userId} and d.is_page and exists (select from marked) and d.id in (
    select o.id from devices o where o.user_id = ${p.userId} and o.is_page
    order by o.last_login_at desc, o.id offset ${literal(maxMarked - 1)})`,
);

/** Marks the device of a login of the pages: it does not count toward MAX_DEVICES. */
export async function markPageDevice(database: Database, { ids, digest }: ParsedToken): Promise<void> {
  const [userId = '', id = ''] = ids;
  await database.user(userId).query(markDevice({ userId, id, digest }));
}
