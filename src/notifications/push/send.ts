import type { Metric } from '../../contract/operation/statistics.js';
import type { DeliveryReason, DeliveryState, PushChannel } from '../../contract/push.js';
import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import { type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import type { CallLimits, Wait } from './call-limits.js';
import { type PushJob, retryPriority, sendTask } from './deliveries.js';
import type { PushTarget } from './devices.js';
import { pushContent } from './message.js';
import { isMuted, readMutes } from './mutes.js';
import { noticeContent, type StoredNotice } from './notice.js';
import type { PushOptions } from './plan.js';
import type { PushContent, PushMessage, PushOutcome, PushSender } from './sender.js';

export interface PushSendingOptions extends PushOptions {
  readonly database: Database;
  readonly senders: readonly PushSender[];
  /** Milliseconds after which a push expires. */
  readonly ttl: number;
  readonly urgency: PushMessage['urgency'];
  /** Called when a sender throws, because of a bug or an unexpected answer of the push service. */
  readonly onError: (error: unknown, channel: PushChannel) => void;
  readonly counters: Counters;
  /** Shared by all channels: a user has the same number of calls at a time, whatever the devices. */
  readonly calls: CallLimits;
}

/** Makes one attempt of one push: the queue's jobs `push.send.…`. Rejects only when the database fails. */
export type SendPush = (channel: PushChannel, job: PushJob) => Promise<void>;

interface DeliveryRow {
  notification_id: string;
  device_id: string;
  attempts: number;
  /** Seconds until the push expires. */
  seconds_left: number;
  mutes: string[];
  /** The content, when the push is about a notice and not about a notification. */
  notice: StoredNotice | null;
}

/** The final states of a push. */
type EndState = Exclude<DeliveryState, 'queued'>;

const countOf = {
  sent: 'pushes.sent',
  failed: 'pushes.failed',
  gone: 'pushes.gone',
  expired: 'pushes.expired',
  dropped: 'pushes.dropped',
  muted: 'pushes.dropped',
} as const satisfies Record<EndState, Metric>;

/** Identifies an attempt. The attempt is valid if the push is still queued and has this number of earlier attempts. */
interface AttemptKey {
  readonly userId: string;
  readonly id: string;
  readonly attempt: number;
}

/** Returns no row when the attempt was made before, or the push has ended. */
const selectDelivery = statement<AttemptKey & { ttl: number }, DeliveryRow>(
  'push_delivery_start_attempt',
  (p) => sql`
    select notification_id, device_id, attempts, notice,
           extract(epoch from created_at + ${p.ttl} * interval '1 ms' - db_now())::float8 as seconds_left,
           array(select filter from mutes where mutes.user_id = d.user_id) as mutes
    from push_deliveries d
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}`,
);

const selectNotification = statement<{ userId: string; id: string }, NotificationRow>(
  'push_notification',
  (p) => sql`select ${notificationColumns} from notifications where user_id = ${p.userId} and id = ${p.id}`,
);

const settleDelivery = statement<
  AttemptKey & { state: EndState; reason: DeliveryReason; error: string | null; newAttempts: number },
  { id: string }
>(
  'push_delivery_settle',
  (p) => sql`
    update push_deliveries
    set state = ${p.state}, reason = ${p.reason}, last_error = coalesce(${p.error}, last_error),
        attempts = attempts + ${p.newAttempts}, updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
    returning id`,
);

/**
 * Counts the attempt and adds the job of the next attempt, in one statement. If the job of the counted attempt runs
 * again, it finds no row.
 */
const postponeDelivery = statement<AttemptKey & { error: string; seconds: number; task: string; cause: string | null }>(
  'push_delivery_postpone',
  (p) => sql`
    with delivery as (
      update push_deliveries
      set reason = 'retrying', last_error = ${p.error}, attempts = attempts + 1, updated_at = db_now()
      where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
      returning user_id, id, attempts
    )
    select graphile_worker.add_job(${p.task}, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts,
               'traceparent', ${p.cause}::text), run_at => now() + ${p.seconds} * interval '1 second', priority => ${retryPriority})
    from delivery`,
);

/** Adds the job of the same attempt again, to run later. The attempt does not count: nothing was sent. */
const repeatLater = statement<{ task: string; job: PushJob; seconds: number }>(
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

/** Seconds until the second attempt. Later pauses grow exponentially, with jitter. */
const firstPauseSeconds = 5;
const maxPauseSeconds = 3600;

/** How a push ends. */
interface End {
  readonly state: EndState;
  readonly reason: DeliveryReason;
  readonly error?: string;
  /** Whether this attempt has called the push service. */
  readonly attempted?: boolean;
}

/** Creates the job that makes one attempt of one push. */
export function createPushSending(options: PushSendingOptions): SendPush {
  const { database, devices, fields, counters, calls } = options;
  const senders = new Map(options.senders.map((sender) => [sender.channel, sender]));

  async function settle(handle: Queryable, channel: PushChannel, job: PushJob, end: End): Promise<void> {
    const { state, reason, error = null, attempted } = end;
    const values = { ...keyOf(job), state, reason, error, newAttempts: attempted === true ? 1 : 0 };
    const [settled] = await handle.query(settleDelivery(values));
    if (settled !== undefined) counters.add(countOf[state], channel);
  }

  /**
   * The message and the token of the device, or the reason why the push is not sent. All data is read again, because it
   * may have changed.
   */
  async function prepare(channel: PushChannel, job: PushJob, row: DeliveryRow): Promise<End | Prepared> {
    if (row.seconds_left < 1) return { state: 'expired', reason: 'expired' };
    const content = row.notice ? noticeContent(row.notification_id, row.notice) : await contentOf(job, row);
    if ('state' in content) return content;
    const target = await devices.target(database.user(job.user_id), {
      user_id: job.user_id,
      device_id: row.device_id,
      channel,
    });
    if ('unreachable' in target) return { state: 'dropped', reason: target.unreachable };
    const message: PushMessage = {
      deliveryId: job.id,
      content,
      ttl: Math.floor(row.seconds_left),
      urgency: options.urgency,
    };
    return { ...target, message };
  }

  /** The content of a notification, unless it was deleted or is muted. */
  async function contentOf(job: PushJob, row: DeliveryRow): Promise<End | PushContent> {
    const key = { userId: job.user_id, id: row.notification_id };
    const [notification] = await database.user(job.user_id).query(selectNotification(key));
    if (notification === undefined) return { state: 'dropped', reason: 'notification_deleted' };
    if (isMuted(readMutes(row.mutes, fields), toNotification(notification, new Map())))
      return { state: 'muted', reason: 'muted' };
    return pushContent(notification);
  }

  async function attempt(channel: PushChannel, { token, message, registeredAt }: Prepared): Promise<PushOutcome> {
    try {
      const sender = senders.get(channel);
      if (sender === undefined) throw new Error('a channel without a sender has no jobs here');
      const outcome = await sender.send(token, message);
      const isOlder = outcome.outcome === 'gone' && outcome.since !== undefined && outcome.since < registeredAt;
      // The answer is about an earlier registration of the same token.
      return isOlder ? { outcome: 'retry', reason: outcome.reason } : outcome;
    } catch (error) {
      options.onError(error, channel);
      return { outcome: 'retry', reason: 'the sender failed; see the log' };
    }
  }

  async function record(channel: PushChannel, job: PushJob, row: DeliveryRow, token: string, outcome: PushOutcome) {
    const user = database.user(job.user_id);
    switch (outcome.outcome) {
      case 'sent':
        return settle(user, channel, job, { state: 'sent', reason: 'accepted', attempted: true });
      case 'failed':
        return settle(user, channel, job, {
          state: 'failed',
          reason: 'refused',
          error: outcome.reason,
          attempted: true,
        });
      case 'gone':
        return user.transaction(async (tx) => {
          await settle(tx, channel, job, {
            state: 'gone',
            reason: 'token_gone',
            error: outcome.reason,
            attempted: true,
          });
          await devices.forget(tx, { user_id: job.user_id, device_id: row.device_id, channel }, token);
        });
      case 'retry': {
        const seconds = Math.max(outcome.afterSeconds ?? 0, backOff(row.attempts));
        const error = outcome.reason;
        if (seconds >= row.seconds_left) {
          return settle(user, channel, job, { state: 'expired', reason: 'expired', error, attempted: true });
        }
        await user.query(
          postponeDelivery({ ...keyOf(job), error, seconds, task: sendTask(channel), cause: job.traceparent ?? null }),
        );
      }
    }
  }

  /** Sends, unless the host of the device has no call left or does not answer. */
  async function attemptWithinLimits(channel: PushChannel, job: PushJob, row: DeliveryRow, prepared: Prepared) {
    const host = senders.get(channel)?.hostOf?.(prepared.token);
    const call = host === undefined ? undefined : calls.beginHost(job.user_id, host);
    if (call !== undefined && 'waitMs' in call) return waitForHost(channel, job, row, call);
    let isAnswered = false;
    try {
      const outcome = await attempt(channel, prepared);
      isAnswered = outcome.outcome !== 'retry' || outcome.isUnanswered !== true;
      await record(channel, job, row, prepared.token, outcome);
    } finally {
      call?.end(isAnswered);
    }
  }

  async function waitForHost(channel: PushChannel, job: PushJob, row: DeliveryRow, wait: Wait): Promise<void> {
    const user = database.user(job.user_id);
    if (wait.isSilent) {
      const [device] = await user.query(countForDevice({ userId: job.user_id, deviceId: row.device_id }));
      if (device?.is_full) return settle(user, channel, job, { state: 'dropped', reason: 'not_answering' });
    }
    await postpone(channel, job, wait);
  }

  async function postpone(channel: PushChannel, job: PushJob, { waitMs }: Wait): Promise<void> {
    await database.user(job.user_id).query(repeatLater({ task: sendTask(channel), job, seconds: waitMs / 1000 }));
  }

  return async (channel, job) => {
    const slot = calls.beginUser(job.user_id);
    if ('waitMs' in slot) return postpone(channel, job, slot);
    try {
      const user = database.user(job.user_id);
      const [row] = await user.query(selectDelivery({ ...keyOf(job), ttl: options.ttl }));
      if (row === undefined) return;
      const prepared = await prepare(channel, job, row);
      if ('state' in prepared) return await settle(user, channel, job, prepared);
      await attemptWithinLimits(channel, job, row, prepared);
    } finally {
      slot.end();
    }
  };
}

const keyOf = (job: PushJob): AttemptKey => ({ userId: job.user_id, id: job.id, attempt: job.attempt });

interface Prepared extends PushTarget {
  readonly message: PushMessage;
}

function backOff(attempts: number): number {
  return Math.min(maxPauseSeconds, firstPauseSeconds * 2 ** Math.min(attempts, 20)) * (0.75 + Math.random() / 2);
}
