import type { Metric } from '../../contract/operation/statistics.js';
import type { DeliveryReason, PushChannel } from '../../contract/push.js';
import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import type { Counters } from '../../statistics/counters.js';
import { countDeliveries, recordDeliveries } from '../deliveries/announce.js';
import { type AttemptJob, type AttemptKey, keyOf, postponeDelivery } from '../deliveries/jobs.js';
import { holdPush, separatePush } from '../deliveries/quiet-hours.js';
import type { DeliveryRow } from './attempt.js';
import type { Wait } from './call-limits.js';
import { retryPriority, sendTask } from './deliveries.js';
import { type End, type EndState, outcomeOf } from './end.js';
import type { PushOptions } from './plan.js';
import type { Prepared } from './prepare.js';
import type { PushOutcome } from './sender.js';

const countOf = {
  sent: 'pushes.sent',
  failed: 'pushes.failed',
  gone: 'pushes.gone',
  expired: 'pushes.expired',
  dropped: 'pushes.dropped',
  muted: 'pushes.dropped',
} as const satisfies Record<EndState, Metric>;
/** A push before an attempt, and what is known about its notification. */
export interface KnownDelivery extends DeliveryRow {
  /** Null: the notification was deleted, or the push is about a notice. */
  readonly category: string | null;
  /** When it was published, without the time for which it was held, by `performance.now()`. */
  readonly dueAt: number;
}

const settleDelivery = statement<
  AttemptKey & {
    state: EndState;
    reason: DeliveryReason;
    error: string | null;
    newAttempts: number;
    category: string | null;
  },
  { collapsed: number | null }
>(
  'push_delivery_settle',
  (p) => sql`
    with settled as (
    update push_deliveries
    set state = ${p.state}, reason = ${p.reason}, last_error = coalesce(${p.error}, last_error),
        attempts = attempts + ${p.newAttempts}, updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
    returning user_id, id as delivery_id, notification_id, 'push' as channel, device_id, ${p.category}::text as category,
              case state when 'gone' then 'failed' else state end as state, reason, notice, collapsed
    ),
    event as (${recordDeliveries(sql`(select * from settled where notice is null) settled`)}
    )
    select collapsed from settled`,
);

const postponeAttempt = postponeDelivery('push_delivery_postpone', {
  table: sql`push_deliveries`,
  priority: retryPriority,
});

/** Adds the job of the same attempt again, to run later. The attempt does not count: nothing was sent. */
const repeatLater = statement<{ task: string; job: AttemptJob; seconds: number }>(
  'push_delivery_repeat_later',
  (p) => sql`
    select graphile_worker.add_job(${p.task}, ${p.job}::json, run_at => now() + ${p.seconds} * interval '1 second',
             priority => ${retryPriority})`,
);

/** The maximum number of pushes that wait for a device whose push service does not answer. */
const maxForSilentDevice = 20;

/** Whether more pushes wait for a device than for a device that does not answer. */
const countForDevice = statement<{ userId: string; deviceId: string }, { is_full: boolean }>(
  'push_delivery_device_is_full',
  (p) => sql`
    select count(*) > ${literal(maxForSilentDevice)} as is_full from (
      select from push_deliveries where user_id = ${p.userId} and device_id = ${p.deviceId} and state = 'queued'
      limit ${literal(maxForSilentDevice + 1)}) waiting`,
);

/** Stores how an attempt ended, and adds the job of the next attempt if there is one. */
export interface Outcomes {
  /** The push ends without a call of the push service. Others for which it stands are decided about instead. */
  refuse(channel: PushChannel, job: AttemptJob, row: KnownDelivery, end: End): Promise<void>;
  /** Quiet hours hold the push. */
  hold(channel: PushChannel, job: AttemptJob, row: KnownDelivery): Promise<void>;
  /** The push service was called with this token. `secondsLeft`: until the push expires. */
  record(
    channel: PushChannel,
    job: AttemptJob,
    row: KnownDelivery,
    prepared: Pick<Prepared, 'token' | 'secondsLeft'>,
    outcome: PushOutcome,
  ): Promise<void>;
  /** The attempt was not made, because the user has no call left: it is repeated later and does not count. */
  postpone(channel: PushChannel, job: AttemptJob, wait: Wait): Promise<void>;
  /** As `postpone`, because the host of the device has no call left or does not answer. */
  waitForHost(channel: PushChannel, job: AttemptJob, row: KnownDelivery, wait: Wait): Promise<void>;
}

/** Creates the functions that store outcomes. */
export function createOutcomes(options: {
  readonly database: Database;
  readonly devices: PushOptions['devices'];
  readonly counters: Counters;
  readonly timeZone: string;
  readonly onSent?: ((lag: number) => void) | undefined;
}): Outcomes {
  const { database, devices, counters, timeZone: zone, onSent } = options;

  async function settle(
    handle: Queryable,
    channel: PushChannel,
    job: AttemptJob,
    { row, end }: { readonly row: KnownDelivery; readonly end: End },
  ): Promise<void> {
    const { state, reason, error = null, attempted } = end;
    const { category, notice, dueAt } = row;
    const values = { ...keyOf(job), state, reason, error, newAttempts: attempted === true ? 1 : 0, category };
    const [settled] = await handle.query(settleDelivery(values));
    if (settled === undefined) return;
    const dropped = (settled.collapsed ?? 1) - 1;
    counters.add(countOf[state], channel);
    if (dropped > 0) counters.add('pushes.dropped', channel, dropped);
    if (notice !== null) return;
    countDeliveries(counters, { channel: 'push', category, outcome: outcomeOf[state] });
    if (dropped > 0) countDeliveries(counters, { channel: 'push', category, outcome: 'dropped' }, dropped);
    if (state === 'sent') onSent?.((performance.now() - dueAt) / 1000);
  }

  async function refuse(channel: PushChannel, job: AttemptJob, row: KnownDelivery, end: End): Promise<void> {
    const user = database.user(job.user_id);
    if (row.collapsed === null) return settle(user, channel, job, { row, end });
    await user.transaction(async (tx) => {
      await tx.query(separatePush(keyOf(job)));
      await settle(tx, channel, job, { row, end });
    });
  }

  async function hold(channel: PushChannel, job: AttemptJob, { category }: KnownDelivery): Promise<void> {
    const held = await database.user(job.user_id).query(holdPush({ ...keyOf(job), zone }));
    // The user has just changed the quiet hours.
    if (held.length === 0) return postpone(channel, job, { waitMs: 1000, isSilent: false });
    counters.add('pushes.held', channel);
    countDeliveries(counters, { channel: 'push', category, outcome: 'held' });
  }

  async function record(
    channel: PushChannel,
    job: AttemptJob,
    row: KnownDelivery,
    { token, secondsLeft }: Pick<Prepared, 'token' | 'secondsLeft'>,
    outcome: PushOutcome,
  ): Promise<void> {
    const user = database.user(job.user_id);
    const end = (handle: Queryable, state: EndState, reason: DeliveryReason, error?: string) =>
      settle(handle, channel, job, {
        row,
        end: { state, reason, attempted: true, ...(error !== undefined && { error }) },
      });
    switch (outcome.outcome) {
      case 'sent':
        return end(user, 'sent', 'accepted');
      case 'failed':
        return end(user, 'failed', 'refused', outcome.reason);
      case 'gone':
        return user.transaction(async (tx) => {
          await end(tx, 'gone', 'token_gone', outcome.reason);
          await devices.forget(tx, { user_id: job.user_id, device_id: row.device_id, channel }, token);
        });
      case 'retry': {
        const seconds = Math.max(outcome.afterSeconds ?? 0, backOff(row.attempts));
        const error = outcome.reason;
        if (seconds >= secondsLeft) {
          return end(user, 'expired', 'ttl', error);
        }
        await user.query(
          postponeAttempt({ ...keyOf(job), error, seconds, task: sendTask(channel), cause: job.traceparent ?? null }),
        );
      }
    }
  }

  async function postpone(channel: PushChannel, job: AttemptJob, { waitMs }: Wait): Promise<void> {
    await database.user(job.user_id).query(repeatLater({ task: sendTask(channel), job, seconds: waitMs / 1000 }));
  }

  async function waitForHost(channel: PushChannel, job: AttemptJob, row: KnownDelivery, wait: Wait): Promise<void> {
    const user = database.user(job.user_id);
    if (wait.isSilent) {
      const [device] = await user.query(countForDevice({ userId: job.user_id, deviceId: row.device_id }));
      const end = { state: 'dropped', reason: 'not_answering' } as const;
      if (device?.is_full) return settle(user, channel, job, { row, end });
    }
    await postpone(channel, job, wait);
  }

  return { refuse, hold, record, postpone, waitForHost };
}
