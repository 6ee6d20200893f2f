import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { currentCause } from '../../database/traced.js';
import { nextPinIsDue } from '../../identities/accounts.js';

/**
 * A pending PIN is a recovered PIN whose delay is not over. It is stored in the columns `next_pin_…` of `users`. The
 * database's clock decides when the delay is over. Callers that write these columns hold a lock on the user's row.
 */

/** Applies pending PINs. */
export interface PendingPins {
  /** If the user's pending PIN is due, makes it the user's PIN and ends every login. Otherwise does nothing. */
  apply(userId: string): Promise<void>;
}

const setPinRequired = statement<{ userId: string; milliseconds: number }>(
  'pin_required_for_change',
  (p) => sql`
    update users set pin_guarded_until = db_now() + ${p.milliseconds} * interval '1 ms'
    where id = ${p.userId} and pin_hash is not null`,
);

/** For this many milliseconds, only the PIN itself authorizes a change of the PIN. */
export async function requirePinForPinChange(tx: Queryable, userId: string, milliseconds: number): Promise<void> {
  await tx.query(setPinRequired({ userId, milliseconds }));
}

export interface NewPendingPin {
  readonly pinHash: string;
  /** Keyed digest of the code that cancels the pending PIN. */
  readonly cancelDigest: Buffer;
  /** Milliseconds. */
  readonly delayMs: number;
}

const upsertPin = statement<NewPendingPin & { userId: string }, PendingPin>(
  'next_pin_put',
  (p) => sql`
    update users u
    set next_pin_hash = ${p.pinHash}, next_pin_cancel = ${p.cancelDigest}, next_pin_since = now, updated_at = now,
        next_pin_at = now + ${p.delayMs} * interval '1 ms'
    from (select db_now() as now) clock where u.id = ${p.userId}
    returning u.next_pin_at as "effectiveAt", case when u.email_verified then u.email end as email,
              case when u.phone_verified then u.phone end as phone`,
);

/** A stored pending PIN: when it takes effect, and the user's proven addresses. */
export interface PendingPin {
  readonly effectiveAt: string;
  readonly email: string | null;
  readonly phone: string | null;
}

/** Stores a pending PIN and replaces an earlier one. */
export async function savePendingPin(tx: Queryable, userId: string, pin: NewPendingPin): Promise<PendingPin> {
  const [row] = await tx.query(upsertPin({ ...pin, userId }));
  if (row === undefined) throw new Error('the user of a locked row is gone');
  return row;
}

/** How a pending PIN ended. */
export type PendingPinOutcome = 'applied' | 'cancelled';

const endPin = statement<{ userId: string; outcomes: readonly boolean[] }, { is_due: boolean }>(
  'next_pin_end',
  (p) => sql`
    update users u
    set pin_hash = case when pending.is_due then u.next_pin_hash else u.pin_hash end, updated_at = db_now(),
        next_pin_hash = null, next_pin_since = null, next_pin_at = null, next_pin_cancel = null
    from (select u.id, ${nextPinIsDue} as is_due from users u
          where u.id = ${p.userId} and u.next_pin_at is not null) pending
    where u.id = pending.id and pending.is_due = any(${p.outcomes})
    returning pending.is_due`,
);

/**
 * Ends a pending PIN: applies it if it is due, and cancels it otherwise.
 * @param onlyIf the pending PIN is ended only if this would be the outcome
 * @returns undefined if there is no pending PIN, or if the outcome would not be `onlyIf`
 */
export async function endPendingPin(
  tx: Queryable,
  userId: string,
  onlyIf?: PendingPinOutcome,
): Promise<PendingPinOutcome | undefined> {
  const outcomes = onlyIf === undefined ? [true, false] : [onlyIf === 'applied'];
  const [row] = await tx.query(endPin({ userId, outcomes }));
  if (row === undefined) return undefined;
  return row.is_due ? 'applied' : 'cancelled';
}

const findUser = statement<{ identity: Buffer; digests: readonly Buffer[] }, { id: string }>(
  'next_pin_find',
  (p) => sql`
    select u.id from identities i join users u on u.id = i.user_id
    where i.digest = ${p.identity} and u.next_pin_cancel = any(${p.digests})`,
);

/** Finds the user of a pending PIN by one of the user's identities and the code that cancels the PIN. */
export async function findByCancelCode(
  handle: Queryable,
  identity: Buffer,
  digests: readonly Buffer[],
): Promise<string | undefined> {
  const [row] = await handle.query(findUser({ identity, digests }));
  return row?.id;
}

/** The queue uses the clock of the system, which is not `db_now()` in tests that move the time. */
const queueJob = statement<{ userId: string }>(
  'next_pin_queue',
  (p) => sql`
    select graphile_worker.add_job('user.next_pin', json_build_object('user_id', u.id, 'traceparent', ${currentCause}),
                                   job_key => 'next_pin:' || u.id, run_at => now() + (u.next_pin_at - db_now()))
    from users u where u.id = ${p.userId} and u.next_pin_at is not null`,
);

/** Queues the job that applies the pending PIN when it is due. A user has at most one such job. */
export async function queuePendingPin(tx: Queryable, userId: string): Promise<void> {
  await tx.query(queueJob({ userId }));
}
