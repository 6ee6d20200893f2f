import { prepared, type Queryable } from '../../database/database.js';

/**
 * A recovered PIN that waits: the columns `next_pin_…` of `users`. The clock of the database decides whether the wait is
 * over. Whoever writes them holds the user's row.
 */

/** Puts recovered PINs in place. */
export interface NextPins {
  /** Makes a recovered PIN whose wait is over the user's PIN, and ends every login. Does nothing where there is none. */
  apply(userId: string): Promise<void>;
}

/** SQL: whether only the PIN of the user `u` changes it. */
export const pinIsGuarded = '(u.pin_guarded_until > db_now()) is true';

const guard = prepared(
  'pin_guard',
  `update users set pin_guarded_until = db_now() + $2 * interval '1 ms' where id = $1 and pin_hash is not null`,
);

/** Lets only the PIN change the PIN for a time, in milliseconds. */
export async function guardPin(tx: Queryable, userId: string, time: number): Promise<void> {
  await tx.query(guard, [userId, time]);
}

/** SQL: whether the user `u` has a recovered PIN whose wait is over, and which was not put in place yet. */
export const nextPinIsDue = '(u.next_pin_at <= db_now()) is true';

export interface NextPin {
  readonly pinHash: string;
  /** Keyed digest of the code that cancels it. */
  readonly cancel: Buffer;
  /** Milliseconds. */
  readonly delay: number;
}

const insert = prepared(
  'next_pin_put',
  `update users u
   set next_pin_hash = $2, next_pin_cancel = $3, next_pin_since = now, updated_at = now,
       next_pin_at = now + $4 * interval '1 ms'
   from (select db_now() as now) clock where u.id = $1
   returning u.next_pin_at as "effectiveAt", u.email, u.phone`,
);

/** When a PIN takes effect, and which addresses the user has. */
export interface WaitingPin {
  readonly effectiveAt: string;
  readonly email: string | null;
  readonly phone: string | null;
}

/** Has a PIN wait, in place of one that waited already. */
export async function putNextPin(
  tx: Queryable,
  userId: string,
  { pinHash, cancel, delay }: NextPin,
): Promise<WaitingPin> {
  const [row] = await tx.query<WaitingPin & object>(insert, [userId, pinHash, cancel, delay]);
  if (row === undefined) throw new Error('the user of a held row is gone');
  return row;
}

/** What became of a PIN that waited. */
export type NextPinEnd = 'applied' | 'cancelled';

const end = prepared(
  'next_pin_end',
  `update users u
   set pin_hash = case when held.is_due then u.next_pin_hash else u.pin_hash end, updated_at = db_now(),
       next_pin_hash = null, next_pin_since = null, next_pin_at = null, next_pin_cancel = null
   from (select u.id, ${nextPinIsDue} as is_due from users u where u.id = $1 and u.next_pin_at is not null) held
   where u.id = held.id and held.is_due = any($2)
   returning held.is_due`,
);

/**
 * Ends the wait. A PIN whose wait is over is put in place, any other is dropped.
 * @param only end it only if that comes of it
 * @returns undefined: none waited, or something else would have come of it.
 */
export async function endNextPin(tx: Queryable, userId: string, only?: NextPinEnd): Promise<NextPinEnd | undefined> {
  const wanted = only === undefined ? [true, false] : [only === 'applied'];
  const [row] = await tx.query<{ is_due: boolean }>(end, [userId, wanted]);
  if (row === undefined) return undefined;
  return row.is_due ? 'applied' : 'cancelled';
}

const findCancelled = prepared(
  'next_pin_find',
  `select u.id from identities i join users u on u.id = i.user_id where i.digest = $1 and u.next_pin_cancel = any($2)`,
);

/** Whose PIN waits, by one of the user's identities and the code that cancels it. */
export async function findByCancelCode(
  handle: Queryable,
  identity: Buffer,
  digests: readonly Buffer[],
): Promise<string | undefined> {
  const [row] = await handle.query<{ id: string }>(findCancelled, [identity, digests]);
  return row?.id;
}

const queueJob = prepared(
  'next_pin_queue',
  `select graphile_worker.add_job('user.next_pin', json_build_object('user_id', u.id), job_key => 'next_pin:' || u.id,
                                  run_at => now() + (u.next_pin_at - db_now()))
   from users u where u.id = $1 and u.next_pin_at is not null`,
);

/** Has the queue look again when the wait is over. A user has one such job. */
export async function queueNextPin(tx: Queryable, userId: string): Promise<void> {
  await tx.query(queueJob, [userId]);
}
