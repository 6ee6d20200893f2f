import {
  type DeliveryReason,
  type DeliveryState,
  type DeliveryTrace,
  deliveryReasons,
  type PushAttempt,
  type PushChannel,
} from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import { type SqlPart, sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { isHeld } from '../channels/held.js';
import { traceSteps } from '../deliveries/trace.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { hasPush, pushReason } from './decision.js';
import type { PushOptions } from './plan.js';

/** The delivery status of notifications. */
export interface DeliveryTraces {
  /**
   * Gets the delivery status of a notification.
   * @param userId the user of the notification; undefined: any user
   * @throws Problem `not_found`
   */
  traceOf(notificationId: string, userId?: string): Promise<DeliveryTrace>;
}

interface DeliveryRow {
  device_id: string;
  channel: PushChannel;
  state: DeliveryState;
  reason: DeliveryReason;
  last_error: string | null;
  attempts: number;
  held_until: string | null;
  created_at: string;
  updated_at: string;
}
interface ListedRow {
  user_id: string;
  created_at: string;
  is_read: boolean;
  /** The name of its category. */
  category: string;
  /** Whether its row still waits for the fan-out to devices. */
  waits: boolean;
}

/**
 * SQL: the notification, whether it is read, and whether it waits for the fan-out. The fan-out's rows have an index by `created_at`, and
 * few are newer than a notification that waits.
 */
const selectListed = (condition: SqlPart) => sql`
    select user_id, created_at, ${categoryOf} as category,
           ${isReadNow(sql`n.sequence`)} as is_read,
           exists (select from push_fan_outs p
                   where p.created_at >= n.created_at - interval '1 minute' and p.notification_ids @> array[n.id]) as waits
    from notifications n ${joinReadState(sql`n.user_id`, sql`n.sequence`)}
    where ${condition}`;

const selectOwn = statement<{ id: string; userId: string }, ListedRow>('push_trace_own', (p) =>
  selectListed(sql`user_id = ${p.userId} and id = ${p.id}`),
);

const selectAny = statement<{ id: string }, ListedRow>('push_trace_any', (p) => selectListed(sql`id = ${p.id}`));

/** SQL: whether a push waits for the end of a pause. */
const isHeldNow = sql`(state = 'queued' and ${isHeld(sql`'push'`)})`;

const selectDeliveries = statement<{ userId: string; notificationId: string }, DeliveryRow>(
  'push_trace_deliveries',
  (p) => sql`
    select device_id, channel, case when ${isHeldNow} then 'held' else state end as state,
           case when ${isHeldNow} then 'channel_paused' else reason end as reason,
           last_error, attempts, created_at, updated_at,
           case when state = 'held' then (select held_until from quiet_holds where quiet_holds.user_id = ${p.userId}) end as held_until
    from push_deliveries where user_id = ${p.userId} and notification_id = ${p.notificationId} order by created_at, id`,
);

/** Creates the delivery status of notifications. */
export function createDeliveryTraces(
  database: Database,
  { devices, channels, categories }: Pick<PushOptions, 'devices' | 'channels' | 'categories'>,
): DeliveryTraces {
  return {
    async traceOf(notificationId, userId) {
      const [listed] =
        userId === undefined
          ? await database.query(selectAny({ id: notificationId }))
          : await database.user(userId).query(selectOwn({ id: notificationId, userId }));
      if (listed === undefined) throw new Problem('not_found');
      const user = database.user(listed.user_id);
      const deliveries = await user.query(selectDeliveries({ userId: listed.user_id, notificationId }));
      const steps = await traceSteps(user, { userId: listed.user_id, notificationId, publishedAt: listed.created_at });
      const pushes = deliveries.map((row) => toTrace(row, channels));
      const pushedTo = new Set(deliveries.map(({ device_id }) => device_id));
      const states = await devices.states(user, listed.user_id);
      const category = categories.get(listed.category);
      const isPushed = category === undefined || hasPush(category);
      const others = states
        .filter(({ device_id }) => !pushedTo.has(device_id))
        .map((device) => {
          if (!isPushed) return noPush(device.device_id, 'no_step');
          if (steps.push === undefined) return noPush(device.device_id, reasonOf(device, listed, channels));
          return noPush(device.device_id, pushReason(steps.push.reason), steps.push.state === 'held' ? 'held' : 'none');
        });
      return {
        notification_id: notificationId,
        user_id: listed.user_id,
        listed_at: listed.created_at,
        is_read: listed.is_read,
        explanation: summary(pushes, others, listed.waits, channels),
        push: [...pushes, ...others],
        email: [...steps.email],
        sms: [...steps.sms],
      };
    },
  };
}

function toTrace({ last_error, ...row }: DeliveryRow, configured: readonly PushChannel[]): PushAttempt {
  // Once the push service has accepted the push, earlier errors no longer matter.
  const error = row.state === 'sent' ? null : last_error;
  // The job waits until the channel is configured again. Then the push is sent, unless it has expired.
  const reason = row.state === 'queued' && !configured.includes(row.channel) ? 'channel_off' : row.reason;
  return { ...row, reason, explanation: deliveryReasons[reason], error };
}

function noPush(deviceId: string, reason: DeliveryReason, state: 'none' | 'held' = 'none'): PushAttempt {
  return {
    device_id: deviceId,
    channel: null,
    state,
    reason,
    explanation: deliveryReasons[reason],
    error: null,
    attempts: 0,
    held_until: null,
    created_at: null,
    updated_at: null,
  };
}

type Device = Awaited<ReturnType<PushOptions['devices']['states']>>[number];

/** Why a device got no push, as far as the current state shows. */
function reasonOf(device: Device, listed: ListedRow, configured: readonly PushChannel[]): DeliveryReason {
  if (device.created_at > listed.created_at) return 'registered_later';
  if (device.unreachable !== undefined) return device.unreachable;
  if (device.channels.length === 0) return 'no_token';
  if (!device.channels.some((channel) => configured.includes(channel))) return 'channel_off';
  return listed.waits ? 'being_prepared' : 'not_reachable_then';
}

function summary(
  pushes: readonly PushAttempt[],
  others: readonly PushAttempt[],
  waits: boolean,
  configured: readonly PushChannel[],
): string {
  const listed = 'It is in the inbox.';
  if (pushes.length === 0 && configured.length === 0) return `${listed} Nothing is pushed: no channel is configured.`;
  if (pushes.length === 0 && waits) return `${listed} ${deliveryReasons.being_prepared}`;
  if (pushes.length === 0 && others.length === 0) return `${listed} Nothing was pushed: the user has no device.`;
  if (pushes.length === 0) return `${listed} No push was made: each device below says why.`;
  const sentCount = pushes.filter(({ state }) => state === 'sent').length;
  return `${listed} Of ${pushes.length} ${pushes.length === 1 ? 'push' : 'pushes'} ${sentCount} ${sentCount === 1 ? 'was' : 'were'} accepted by a push service.`;
}
