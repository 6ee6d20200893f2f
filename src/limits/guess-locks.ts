import { timeText } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { type SqlPart, sql, statement } from '../database/sql.js';
import { newId, nilId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';

/** Guess locks as operators and users see them: on the user, in lists of users, and as events. */

/** The bucket of all unknown devices. Requests cannot use its id as the id of a device (`isReservedDeviceId`). */
export const unknownDevices = nilId;

/** SQL: `unknownDevices`. */
const unknownDevicesBucket = sql`'00000000-0000-0000-0000-000000000000'`;

/** SQL: the bucket of a known device (its id), or `unknownDevices` if the id is null. */
export const bucketOfDevice = (knownDevice: SqlPart) => sql`coalesce(${knownDevice}, ${unknownDevicesBucket})`;

/**
 * SQL: whether the budget `b` of a user locks logins right now. The bucket is that of the unknown devices or of a known
 * device. Locks of removed devices, and of the buckets for recoveries and registrations, refuse no login.
 */
const locksLogins = sql`(b.permanent or b.locked_until > db_now())
  and (b.bucket = ${unknownDevicesBucket} or exists (select from devices d where d.user_id = b.user_id and d.id = b.bucket))`;

/** SQL: when the lock of the budget `b` began. */
const lockedSince = sql`coalesce(b.locked_at, b.updated_at)`;

/** SQL: when the lock of the budget `b` ends; null for a permanent lock. */
const lockedUntil = sql`case when not b.permanent then ${timeText(sql`b.locked_until`)} end`;

/** SQL: the guess locks that refuse logins of the user `u` right now, as JSON, the oldest first. */
export const guessLocks = sql`
  (select coalesce(jsonb_agg(jsonb_build_object('device_id', nullif(b.bucket, ${unknownDevicesBucket}),
            'since', ${timeText(lockedSince)}, 'permanent', b.permanent, 'until', ${lockedUntil})
            order by ${lockedSince}), '[]')
   from guess_budgets b where b.user_id = u.id and ${locksLogins})`;

/**
 * SQL: whether a guess lock refuses logins of the user `u`. The subquery collects the locked users first, by an index on
 * the end of locks: there are few, however many users there are.
 */
export const isGuessLocked = sql`u.id = any (array(
  select b.user_id from guess_budgets b
  where b.is_user and (case when b.permanent then 'infinity' else b.locked_until end) > (select db_now())
    and (b.permanent or b.locked_until is not null) and ${locksLogins}))`;

/** SQL: the opposite of `isGuessLocked`, checked for each user. */
export const isNotGuessLocked = sql`not exists (select from guess_budgets b where b.user_id = u.id and ${locksLogins})`;

interface RefusalValues {
  readonly userId: string;
  readonly bucket: string;
  readonly eventId: string;
  readonly actor: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly deviceId: string;
  readonly isKnownDevice: boolean;
}

/**
 * Locks the row of the budget. If there are parallel refusals, the first one writes the event. The other refusals then
 * find `refused_at`.
 */
const insertRefusal = statement<RefusalValues>(
  'guess_refused',
  (p) => sql`
  with refused as (
    update guess_budgets b set refused_at = n.now
    from (select db_now() as now) n
    where b.user_id = ${p.userId} and b.bucket = ${p.bucket}
      and (b.refused_at is null or b.refused_at < b.locked_at or b.refused_at <= n.now - interval '1 minute')
    returning b.*)
  insert into events (user_id, id, type, actor, address, request_id, data, created_at)
  select b.user_id, ${p.eventId}, 'login.refused_locked', ${p.actor}, ${p.address}::inet, ${p.requestId},
         jsonb_build_object('by', 'guesses', 'device_id', ${p.deviceId}::uuid, 'known_device', ${p.isKnownDevice}::boolean,
           'permanent', b.permanent, 'until', ${lockedUntil}),
         b.refused_at
  from refused b`,
);

/** A login to an account, known or not, that a guess lock refuses. */
export interface RefusedLogin {
  readonly userId: string;
  readonly deviceId: string;
  /** The device's id, if a login of the user was approved on the device before. */
  readonly knownDevice: string | undefined;
  readonly origin: Origin;
}

/**
 * Records that a guess lock refused a login: the first refusal of each lock, and then at most one a minute, so that
 * repeated logins do not create an event each.
 */
export async function recordRefusal(handle: Queryable, login: RefusedLogin, bucket: string): Promise<void> {
  const { userId, deviceId, knownDevice, origin } = login;
  await handle.query(
    insertRefusal({
      userId,
      bucket,
      eventId: newId(),
      actor: origin.actor,
      address: origin.clientAddress ?? null,
      requestId: origin.requestId ?? null,
      deviceId,
      isKnownDevice: knownDevice !== undefined,
    }),
  );
}
