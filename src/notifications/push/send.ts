import type { DeliveryReason, DeliveryState, PushChannel } from '../../contract/push.js';
import { type Database, prepared, type Queryable } from '../../database/database.js';
import { type NotificationRow, notificationColumns, toNotification } from '../row.js';
import { type PushJob, pushPriority, sendTask } from './derive.js';
import { pushContent } from './message.js';
import { isMuted } from './mutes.js';
import { type KeptNotice, noticeContent } from './notice.js';
import type { PushOptions } from './plan.js';
import type { PushContent, PushMessage, PushOutcome, PushSender } from './sender.js';

export interface PushSending extends PushOptions {
  readonly database: Database;
  readonly senders: readonly PushSender[];
  /** Milliseconds after which a push is not worth sending any more. */
  readonly ttl: number;
  readonly urgency: PushMessage['urgency'];
  /** Hears of a sender that threw: a bug, or something that it did not expect. */
  readonly onError: (error: unknown, channel: PushChannel) => void;
}

/** Does one attempt of one push: the queue's jobs `push.send.…`. Rejects only when the database fails. */
export type SendPush = (channel: PushChannel, job: PushJob) => Promise<void>;

interface DeliveryRow {
  notification_id: string;
  device_id: string;
  attempts: number;
  /** Of what is left of its life. */
  seconds_left: number;
  mutes: string[];
  /** What is pushed where that is no notification. */
  notice: KeptNotice | null;
}

/** Nothing when the attempt was made before, or the push has come to its end. */
const selectDelivery = prepared(
  'push_delivery_take_up',
  `select notification_id, device_id, attempts, notice,
          extract(epoch from created_at + $4 * interval '1 ms' - db_now())::float8 as seconds_left,
          array(select filter from mutes where mutes.user_id = d.user_id) as mutes
   from push_deliveries d
   where user_id = $1 and id = $2 and state = 'queued' and attempts = $3`,
);
const selectNotification = prepared(
  'push_notification',
  `select ${notificationColumns} from notifications where user_id = $1 and id = $2`,
);
const settleDelivery = prepared(
  'push_delivery_settle',
  `update push_deliveries
   set state = $4, reason = $5, last_error = coalesce($6, last_error), attempts = attempts + $7, updated_at = db_now()
   where user_id = $1 and id = $2 and state = 'queued' and attempts = $3`,
);
/** The next attempt is a job of its own, added where this one is counted: a repeat of this job then finds nothing. */
const postponeDelivery = prepared(
  'push_delivery_postpone',
  `with delivery as (
     update push_deliveries
     set reason = 'retrying', last_error = $4, attempts = attempts + 1, updated_at = db_now()
     where user_id = $1 and id = $2 and state = 'queued' and attempts = $3
     returning user_id, id, attempts)
   select graphile_worker.add_job($6, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts),
            run_at => now() + $5 * interval '1 second', priority => ${pushPriority})
   from delivery`,
);

/** Seconds until the attempt after this one: doubled each time, and spread so that they do not come back all at once. */
const firstPause = 5;
const longestPause = 3600;

interface End {
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly error?: string;
  /** Whether the provider was asked. */
  readonly attempted?: boolean;
}

export function createPushSending(options: PushSending): SendPush {
  const { database, devices, fields } = options;
  const senders = new Map(options.senders.map((sender) => [sender.channel, sender]));

  async function settle(handle: Queryable, job: PushJob, { state, reason, error, attempted }: End): Promise<void> {
    const values = [job.user_id, job.id, job.attempt, state, reason, error ?? null, attempted === true ? 1 : 0];
    await handle.query(settleDelivery, values);
  }

  /** What is to be sent, and to what; or how it ends without. Everything is looked at anew: much may have changed. */
  async function prepare(channel: PushChannel, job: PushJob, row: DeliveryRow): Promise<End | Prepared> {
    if (row.seconds_left < 1) return { state: 'expired', reason: 'expired' };
    const content = row.notice ? noticeContent(row.notification_id, row.notice) : await notified(job, row);
    if ('state' in content) return content;
    const target = await devices.target(database, { user_id: job.user_id, device_id: row.device_id, channel });
    if ('unreachable' in target) return { state: 'dropped', reason: target.unreachable };
    const message: PushMessage = {
      deliveryId: job.id,
      content,
      ttl: Math.floor(row.seconds_left),
      urgency: options.urgency,
    };
    return { token: target.token, message };
  }

  /** What is said of a notification that is there and not muted. */
  async function notified(job: PushJob, row: DeliveryRow): Promise<End | PushContent> {
    const values = [job.user_id, row.notification_id];
    const [notification] = await database.query<NotificationRow>(selectNotification, values);
    if (notification === undefined) return { state: 'dropped', reason: 'notification_deleted' };
    const isKeptBack = isMuted(row.mutes, fields, toNotification(notification, new Map()));
    return isKeptBack ? { state: 'muted', reason: 'muted' } : pushContent(notification);
  }

  async function attempt(channel: PushChannel, { token, message }: Prepared): Promise<PushOutcome> {
    try {
      const sender = senders.get(channel);
      if (sender === undefined) throw new Error('a channel without a sender has no jobs here');
      return await sender.send(token, message);
    } catch (error) {
      options.onError(error, channel);
      return { outcome: 'retry', reason: 'the sender failed; see the log' };
    }
  }

  async function record(channel: PushChannel, job: PushJob, row: DeliveryRow, token: string, outcome: PushOutcome) {
    switch (outcome.outcome) {
      case 'sent':
        return settle(database, job, { state: 'sent', reason: 'accepted', attempted: true });
      case 'failed':
        return settle(database, job, { state: 'failed', reason: 'refused', error: outcome.reason, attempted: true });
      case 'gone':
        return database.transaction(async (tx) => {
          await settle(tx, job, { state: 'gone', reason: 'token_gone', error: outcome.reason, attempted: true });
          await devices.forget(tx, { user_id: job.user_id, device_id: row.device_id, channel }, token);
        });
      case 'retry': {
        const wait = Math.max(outcome.afterSeconds ?? 0, backOff(row.attempts));
        const error = outcome.reason;
        if (wait >= row.seconds_left) {
          return settle(database, job, { state: 'expired', reason: 'expired', error, attempted: true });
        }
        await database.query(postponeDelivery, [job.user_id, job.id, job.attempt, error, wait, sendTask(channel)]);
      }
    }
  }

  return async (channel, job) => {
    const values = [job.user_id, job.id, job.attempt, options.ttl];
    const [row] = await database.query<DeliveryRow>(selectDelivery, values);
    if (row === undefined) return;
    const prepared = await prepare(channel, job, row);
    if ('state' in prepared) return settle(database, job, prepared);
    await record(channel, job, row, prepared.token, await attempt(channel, prepared));
  };
}

interface Prepared {
  readonly token: string;
  readonly message: PushMessage;
}

function backOff(attempts: number): number {
  return Math.min(longestPause, firstPause * 2 ** Math.min(attempts, 20)) * (0.75 + Math.random() / 2);
}
