import { prepared, type Queryable } from '../database/database.js';
import { newId, nilId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';

/** Locks by guesses, as operators and users see them: on the user, in lists of users, and as events. */

/** The bucket of all unknown devices. The contract refuses the ids of such buckets as ids of devices. */
export const strangers = nilId;

/**
 * SQL: whether the budget `b` of a user locks logins right now. The bucket is that of the unknown devices or of a device
 * that is still known: the locks of removed devices and of codes without a session refuse no login.
 */
const locksLogins = `(b.permanent or b.locked_until > db_now())
  and (b.bucket = '${strangers}' or exists (select from devices d where d.user_id = b.user_id and d.id = b.bucket))`;

const timeText = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** SQL: the locks by guesses that refuse logins of the user `u` right now, as JSON, the oldest first. */
export const guessLocks = `
  (select coalesce(jsonb_agg(jsonb_build_object('device_id', nullif(b.bucket, '${strangers}'),
            'since', ${timeText('coalesce(b.locked_at, b.updated_at)')}, 'permanent', b.permanent,
            'until', case when not b.permanent then ${timeText('b.locked_until')} end) order by coalesce(b.locked_at, b.updated_at)), '[]')
   from guess_budgets b where b.user_id = u.id and ${locksLogins})`;

/**
 * SQL: whether such a lock holds for the user `u`. Those who are locked are collected first, by an index of the ends of
 * locks: few are, of however many users.
 */
export const isGuessLocked = `u.id = any (array(
  select b.user_id from guess_budgets b
  where b.is_user and (case when b.permanent then 'infinity' else b.locked_until end) > (select db_now())
    and (b.permanent or b.locked_until is not null) and ${locksLogins}))`;

/** SQL: the opposite, asked of each user. */
export const isNotGuessLocked = `not exists (select from guess_budgets b where b.user_id = u.id and ${locksLogins})`;

const recordRefusal = prepared(
  'guess_refused',
  `with refused as (
     update guess_budgets b set refused_at = n.now
     from (select db_now() as now) n
     where b.user_id = $1 and b.bucket = $2
       and (b.refused_at is null or b.refused_at < b.locked_at or b.refused_at <= n.now - interval '1 minute')
     returning b.*)
   insert into events (user_id, id, type, actor, address, request_id, data, created_at)
   select b.user_id, $3, 'login.refused_locked', $4, $5::inet, $6,
          jsonb_build_object('by', 'guesses', 'device_id', $7::uuid, 'known_device', $8::boolean,
            'permanent', b.permanent, 'until', case when not b.permanent then ${timeText('b.locked_until')} end),
          b.refused_at
   from refused b`,
);

/** A login, of a user or of nobody. `knownDevice` is the device's id when the user was approved on it before. */
export interface RefusedLogin {
  readonly userId: string;
  readonly deviceId: string;
  readonly knownDevice: string | undefined;
  readonly origin: Origin;
}

/**
 * Records that a lock by guesses has refused a login: the first one of each lock, and then one a minute, so that repeated
 * logins do not fill the events.
 */
export async function noteRefusal(handle: Queryable, login: RefusedLogin, bucket: string): Promise<void> {
  const { userId, deviceId, knownDevice, origin } = login;
  const { actor, address, requestId } = origin;
  const known = knownDevice !== undefined;
  await handle.query(recordRefusal, [
    ...[userId, bucket, newId(), actor, address ?? null, requestId ?? null, deviceId, known],
  ]);
}
