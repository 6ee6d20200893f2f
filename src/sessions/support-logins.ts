import { recordEvent } from '../audit/events.js';
import type { IssuedSupportLogin, NewSupportLogin, OwnSupportLogin, SupportLogin } from '../contract/support-login.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { bound, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { lockHolds } from '../identities/accounts.js';
import { newToken } from '../lib/crypto/token-strings.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import { isSeen } from '../statistics/instances.js';
import { validSessions } from './verifier.js';

/**
 * Logins of operators as a user. A support login is a login of the user, so everything that ends the user's logins ends it too. It also
 * ends when its operator loses the role. It has no device, so it does not count toward device limits and gets no push.
 */
export interface SupportLogins {
  /**
   * Creates a support login, and ends the operator's former one for this user. With SUPPORT_CONSENT=on it waits for the user, and the
   * result has no token.
   * @throws Problem `not_found`, `has_role`, `account_unusable`, `account_locked`, `invalid_session_token`, `upgrade_in_progress`
   */
  create(tx: Transaction, request: SupportRequest): Promise<IssuedSupportLogin>;
  /**
   * Returns a support login. After the user has allowed it, the first call of its operator gets the token.
   * @param operator undefined if the caller may not get the token
   * @throws Problem `not_found`; for an allowed login, also the problems of `create`
   */
  take(tx: Transaction, key: SupportKey, operator: ActingOperator | undefined): Promise<IssuedSupportLogin>;
  list(userId: string, request: ListRequest): Promise<Page<SupportLogin>>;
  /** Ends it, whatever its state. @throws Problem `not_found` */
  end(tx: Queryable, key: SupportKey, origin: Origin): Promise<void>;
  listOwn(userId: string, request: ListRequest): Promise<Page<OwnSupportLogin>>;
  /** The user allows it; it then lasts 30 minutes. Repeating this changes nothing. @throws Problem `not_found`, `support_login_ended` */
  allow(tx: Queryable, key: SupportKey, origin: Origin): Promise<OwnSupportLogin>;
  /** The user refuses it, or ends it. Repeating this changes nothing. @throws Problem `not_found` */
  endOwn(tx: Queryable, key: SupportKey, origin: Origin): Promise<void>;
}

export interface SupportKey {
  readonly userId: string;
  readonly id: string;
}

/** An operator with the session that asks. */
export interface ActingOperator {
  readonly userId: string;
  readonly sessionId: string;
  readonly origin: Origin;
}

export interface SupportRequest {
  readonly userId: string;
  readonly input: NewSupportLogin;
  readonly operator: ActingOperator;
}

export const supportLoginFilterFields: FilterFields = {
  id: { kind: 'id' },
  created_at: { kind: 'time' },
};

/** How long a login lasts, and how long the user has to answer. */
const lifetime = sql`interval '30 minutes'`;
const timeToAnswer = sql`interval '24 hours'`;

/** SQL: the support login `s` with its login `a` and its user `u`. The login is missing until the operator has the token. */
const joined = sql`support_logins s
    left join authentications a on a.user_id = s.user_id and a.id = s.id
    left join users u on u.id = s.user_id`;

/** SQL: whether it has ended early, for example by a logout on all devices. */
const hasEnded = sql`(s.ended_at is not null or a.ended_at is not null or s.epoch is distinct from u.epoch)`;

const status = sql`case
      when s.is_refused then 'refused'
      when ${hasEnded} then 'ended'
      when s.expires_at <= db_now() then 'expired'
      when s.allowed_at is null then 'pending'
      when s.issued_at is null then 'allowed'
      else 'active' end`;

const columns = sql`s.id, ${status} as status, s.reason, s.can_write as write, s.created_at, s.expires_at,
    coalesce(s.ended_at, a.ended_at) as ended_at, s.operator_id,
    (select user_display_name(o.name, o.username, o.email, o.phone) from users o where o.id = s.operator_id) as operator_name`;

const findOne = statement<SupportKey, SupportLogin>(
  'support_login_get',
  (p) => sql`select ${columns} from ${joined} where s.user_id = ${p.userId} and s.id = ${p.id}`,
);

/** Locks the row in a separate statement, so that the next statement sees changes that were committed during the wait. */
const lockOne = statement<SupportKey>(
  'support_login_lock',
  (p) => sql`select from support_logins where user_id = ${p.userId} and id = ${p.id} for update`,
);

interface OperatorValues {
  readonly operatorId: string;
  readonly sessionId: string;
}

/**
 * Locks the operator. A later change of the operator's rights waits for this lock, and its trigger `support_logins_of_user` then ends the
 * new support login. After an earlier change, this returns no row.
 */
const lockOperator = statement<OperatorValues, { id: string }>(
  'support_login_operator',
  (p) => sql`
  select u.id from ${validSessions} and s.user_id = ${p.operatorId} and s.id = ${p.sessionId}
    and u.role = 'operator' and u.role_active_since is not null and a.acting_operator is null
  for share of u`,
);

interface UserRow {
  readonly role: string;
  readonly is_active: boolean;
  readonly is_locked: boolean;
}

const userOf = (userId: SqlPart): Sql => sql`
  select u.role, u.status = 'active' as is_active, ${lockHolds} as is_locked from users u where u.id = ${userId}`;
const readUser = statement<{ userId: string }, UserRow>('support_login_read_user', (p) => userOf(p.userId));
const lockUser = statement<{ userId: string }, UserRow>(
  'support_login_user',
  (p) => sql`${userOf(p.userId)} for no key update`,
);

/** SQL: two CTEs that end the support logins of the condition, and their logins. */
const endWhere = (condition: Sql): Sql => sql`
  ended as (
    update support_logins s set ended_at = db_now() where ${condition} and s.ended_at is null
    returning s.user_id, s.id),
  ended_logins as (
    update authentications a set ended_at = db_now(), updated_at = db_now() from ended
    where a.user_id = ended.user_id and a.id = ended.id and a.ended_at is null)`;

const endFormer = statement<{ userId: string; operatorId: string }, { id: string }>(
  'support_login_end_former',
  (p) => sql`
  with ${endWhere(sql`s.user_id = ${p.userId} and s.operator_id = ${p.operatorId} and s.expires_at > db_now()`)}
  select id from ended`,
);

const endOne = statement<SupportKey, { id: string }>(
  'support_login_end',
  (p) => sql`with ${endWhere(sql`s.user_id = ${p.userId} and s.id = ${p.id}`)} select id from ended`,
);

/** Finds a process of a release without support logins. It would treat the token as the user's own login. */
const findFormer = statement<object, { id: string }>(
  'support_login_former_process',
  () => sql`select id from instances where not knows_support_logins and ${isSeen} limit 1`,
);

interface NewValues extends SupportKey {
  readonly operatorId: string;
  readonly reason: string;
  readonly write: boolean;
  readonly isAllowed: boolean;
}

const insertOne = statement<NewValues>(
  'support_login_insert',
  (p) => sql`
  insert into support_logins (user_id, id, operator_id, reason, can_write, epoch, created_at, expires_at, allowed_at)
  select u.id, ${p.id}, ${p.operatorId}, ${p.reason}, ${p.write}, u.epoch, now,
         now + case when ${p.isAllowed}::boolean then ${lifetime} else ${timeToAnswer} end,
         case when ${p.isAllowed}::boolean then now end
  from users u, (select db_now() as now) clock where u.id = ${p.userId}`,
);

/** The login of the token: its device has the id of the login, and no row. */
const insertLogin = statement<SupportKey & { digest: Buffer }>(
  'support_login_issue',
  (p) => sql`
  with issued as (
    update support_logins s set issued_at = db_now() where s.user_id = ${p.userId} and s.id = ${p.id} returning *)
  insert into authentications (user_id, id, device_id, authenticator, status, epoch, token_digest, expires_at, created_at, updated_at,
                               approved_at, acting_operator, acting_writes)
  select user_id, id, id, 'support', 'approved', epoch, ${p.digest}, expires_at, issued_at, issued_at, issued_at, operator_id, can_write
  from issued`,
);

const allowOne = statement<SupportKey>(
  'support_login_allow',
  (p) => sql`
  update support_logins s set allowed_at = now, expires_at = now + ${lifetime} from (select db_now() as now) clock
  where s.user_id = ${p.userId} and s.id = ${p.id}`,
);

/** Ends the login too, even if the support login has ended already. */
const endLogin = statement<SupportKey>(
  'support_login_end_login',
  (p) => sql`
  update authentications set ended_at = db_now(), updated_at = db_now()
  where user_id = ${p.userId} and id = ${p.id} and ended_at is null`,
);

const refuseOne = statement<SupportKey>(
  'support_login_refuse',
  (p) => sql`update support_logins set is_refused = true where user_id = ${p.userId} and id = ${p.id}`,
);

const ownList = sql`id, status, reason, write, created_at, expires_at, ended_at`;
const operatorsList = sql`${ownList}, operator_id, operator_name`;

const sourceOf = (userId: string, listed: Sql): ListSource => ({
  columns: listed,
  from: sql`(select s.user_id, ${columns} from ${joined}) s`,
  where: sql`user_id = ${bound(userId)}::uuid`,
});

const own = ({ operator_id: _, operator_name: __, ...login }: SupportLogin): OwnSupportLogin => login;

async function lockRights(tx: Queryable, { userId: operatorId, sessionId }: ActingOperator): Promise<void> {
  const [operator] = await tx.query(lockOperator({ operatorId, sessionId }));
  if (operator === undefined) throw new Problem('invalid_session_token');
}

/**
 * Locks the user. A later change of the user waits for this lock, and then ends the support login. Call it before you lock the support
 * login, in the same order as the trigger.
 */
async function lockUsable(tx: Queryable, userId: string): Promise<void> {
  // First without a lock: if two operators try to log in as each other, locks would wait in a cycle.
  for (const one of [readUser, lockUser]) {
    const [user] = await tx.query(one({ userId }));
    if (user === undefined) throw new Problem('not_found');
    if (user.role !== 'user') throw new Problem('has_role');
    if (!user.is_active) throw new Problem('account_unusable');
    if (user.is_locked) throw new Problem('account_locked');
  }
}

async function find(handle: Queryable, key: SupportKey): Promise<SupportLogin> {
  const [login] = await handle.query(findOne(key));
  if (login === undefined) throw new Problem('not_found');
  return login;
}

async function findLocked(tx: Queryable, key: SupportKey): Promise<SupportLogin> {
  await tx.query(lockOne(key));
  return find(tx, key);
}

/** @param needsConsent SUPPORT_CONSENT */
export function createSupportLogins(options: {
  readonly database: Database;
  readonly notices: Pick<Notices, 'notify'>;
  readonly needsConsent: boolean;
}): SupportLogins {
  const { database, notices, needsConsent } = options;

  /** Creates the token of an allowed login, and notifies the user. */
  async function issue(tx: Queryable, key: SupportKey, origin: Origin): Promise<IssuedSupportLogin> {
    const former = await tx.query(findFormer({}));
    if (former.length > 0) throw new Problem('upgrade_in_progress');
    const { token, digest } = newToken('authentication', [key.userId, key.id]);
    await tx.query(insertLogin({ ...key, digest }));
    const login = await find(tx, key);
    await recordEvent(tx, { userId: key.userId, type: 'support_login.started', origin, data: dataOf(login) });
    await notices.notify(tx, { userId: key.userId, kind: 'support_login', origin: withoutPlace(origin) });
    return { ...login, token };
  }

  async function end(tx: Queryable, key: SupportKey, origin: Origin, isRefusal: boolean): Promise<void> {
    const { status: before } = await findLocked(tx, key);
    await tx.query(endLogin(key));
    if (!['pending', 'allowed', 'active'].includes(before)) return;
    await tx.query(endOne(key));
    const isRefused = isRefusal && before === 'pending';
    if (isRefused) await tx.query(refuseOne(key));
    const type = isRefused ? 'support_login.refused' : 'support_login.ended';
    await recordEvent(tx, { userId: key.userId, type, origin, data: { support_login_id: key.id } });
  }

  return {
    async create(tx, { userId, input: { reason, write = false }, operator }) {
      await lockRights(tx, operator);
      await lockUsable(tx, userId);
      const { userId: operatorId, origin } = operator;
      for (const { id } of await tx.query(endFormer({ userId, operatorId }))) {
        await recordEvent(tx, { userId, type: 'support_login.ended', origin, data: { support_login_id: id } });
      }
      const key = { userId, id: newId() };
      await tx.query(insertOne({ ...key, operatorId, reason, write, isAllowed: !needsConsent }));
      if (!needsConsent) return issue(tx, key, origin);
      const login = await find(tx, key);
      await recordEvent(tx, { userId, type: 'support_login.requested', origin, data: dataOf(login) });
      await notices.notify(tx, { userId, kind: 'support_login_asked', origin: withoutPlace(origin) });
      return login;
    },
    async take(tx, key, operator) {
      const seen = await find(tx, key);
      if (seen.operator_id !== operator?.userId || seen.status !== 'allowed') return seen;
      await lockRights(tx, operator);
      await lockUsable(tx, key.userId);
      const login = await findLocked(tx, key);
      return login.status === 'allowed' ? issue(tx, key, operator.origin) : login;
    },
    list: (userId, request) => readPage<SupportLogin>(database.user(userId), sourceOf(userId, operatorsList), request),
    end: (tx, key, origin) => end(tx, key, origin, false),
    listOwn: (userId, request) => readPage<OwnSupportLogin>(database.user(userId), sourceOf(userId, ownList), request),
    async allow(tx, key, origin) {
      const before = await findLocked(tx, key);
      if (before.status === 'allowed' || before.status === 'active') return own(before);
      if (before.status !== 'pending') throw new Problem('support_login_ended');
      await tx.query(allowOne(key));
      await recordEvent(tx, {
        userId: key.userId,
        type: 'support_login.allowed',
        origin,
        data: { support_login_id: key.id },
      });
      return own(await find(tx, key));
    },
    endOwn: (tx, key, origin) => end(tx, key, origin, true),
  };
}

const dataOf = ({ id, reason, write, operator_id, expires_at }: SupportLogin) => ({
  support_login_id: id,
  operator_id,
  reason,
  write,
  expires_at,
});

/** The notice does not say where the operator is. */
const withoutPlace = ({ actor }: Origin): Origin => ({ actor });
