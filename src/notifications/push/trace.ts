import {
  type DeliveryReason,
  type DeliveryState,
  type DeliveryTrace,
  deliveryReasons,
  type PushChannel,
  type PushTrace,
} from '../../contract/push.js';
import { type Database, prepared } from '../../database/database.js';
import { Problem } from '../../lib/problem.js';
import type { PushOptions } from './plan.js';

/** Says what became of a notification. */
export interface DeliveryTraces {
  /** @param userId whose notification it must be; anybody's when undefined. @throws Problem `not_found` */
  of(notificationId: string, userId?: string): Promise<DeliveryTrace>;
}

interface DeliveryRow {
  device_id: string;
  channel: PushChannel;
  state: DeliveryState;
  reason: DeliveryReason;
  last_error: string | null;
  attempts: number;
  created_at: string;
  updated_at: string;
}
interface ListedRow {
  user_id: string;
  created_at: string;
  /** Whether its publication waits for the relay. */
  waits: boolean;
}

/** The table of publications is a short queue, and what is older than its oldest row cannot be in it. */
const waits = `exists (select from publications p where p.created_at >= n.created_at - interval '1 minute'
                         and p.notification_ids @> array[n.id])`;
const selectOwn = prepared(
  'push_trace_own',
  `select user_id, created_at, ${waits} as waits from notifications n where user_id = $2 and id = $1`,
);
const selectAny = prepared(
  'push_trace_any',
  `select user_id, created_at, ${waits} as waits from notifications n where id = $1`,
);
const selectDeliveries = prepared(
  'push_trace_deliveries',
  `select device_id, channel, state, reason, last_error, attempts, created_at, updated_at
   from push_deliveries where user_id = $1 and notification_id = $2 order by created_at, id`,
);

export function createDeliveryTraces(
  database: Database,
  { devices, channels }: Pick<PushOptions, 'devices' | 'channels'>,
): DeliveryTraces {
  return {
    async of(notificationId, userId) {
      const [listed] =
        userId === undefined
          ? await database.query<ListedRow>(selectAny, [notificationId])
          : await database.query<ListedRow>(selectOwn, [notificationId, userId]);
      if (listed === undefined) throw new Problem('not_found');
      const deliveries = await database.query<DeliveryRow>(selectDeliveries, [listed.user_id, notificationId]);
      const made = deliveries.map((row) => toTrace(row, channels));
      const reached = new Set(deliveries.map(({ device_id }) => device_id));
      const states = await devices.states(database, listed.user_id);
      const others = states
        .filter(({ device_id }) => !reached.has(device_id))
        .map((device) => noPush(device.device_id, reasonOf(device, listed, channels)));
      return {
        notification_id: notificationId,
        user_id: listed.user_id,
        listed_at: listed.created_at,
        explanation: summary(made, others, listed.waits, channels),
        push: [...made, ...others],
      };
    },
  };
}

function toTrace({ last_error, ...row }: DeliveryRow, configured: readonly PushChannel[]): PushTrace {
  // What went wrong before it was accepted is of no more interest.
  const error = row.state === 'sent' ? null : last_error;
  // Its job waits until the channel is configured again, and is too old by then or is sent.
  const reason = row.state === 'queued' && !configured.includes(row.channel) ? 'channel_off' : row.reason;
  return { ...row, reason, explanation: deliveryReasons[reason], error };
}

function noPush(deviceId: string, reason: DeliveryReason): PushTrace {
  return {
    device_id: deviceId,
    channel: null,
    state: 'none',
    reason,
    explanation: deliveryReasons[reason],
    error: null,
    attempts: 0,
    created_at: null,
    updated_at: null,
  };
}

type Device = Awaited<ReturnType<PushOptions['devices']['states']>>[number];

/** Why a device got no push, as far as it can be told from how things are now. */
function reasonOf(device: Device, listed: ListedRow, configured: readonly PushChannel[]): DeliveryReason {
  if (device.created_at > listed.created_at) return 'registered_later';
  if (device.unreachable !== undefined) return device.unreachable;
  if (device.channels.length === 0) return 'no_token';
  if (!device.channels.some((channel) => configured.includes(channel))) return 'channel_off';
  return listed.waits ? 'being_prepared' : 'not_reachable_then';
}

function summary(
  made: readonly PushTrace[],
  others: readonly PushTrace[],
  waits: boolean,
  configured: readonly PushChannel[],
): string {
  const listed = 'It is in the inbox.';
  if (made.length === 0 && configured.length === 0) return `${listed} Nothing is pushed: no channel is configured.`;
  if (made.length === 0 && waits) return `${listed} ${deliveryReasons.being_prepared}`;
  if (made.length === 0 && others.length === 0) return `${listed} Nothing was pushed: the user has no device.`;
  if (made.length === 0) return `${listed} No push was made: each device below says why.`;
  const sent = made.filter(({ state }) => state === 'sent').length;
  return `${listed} Of ${made.length} ${made.length === 1 ? 'push' : 'pushes'} ${sent} ${sent === 1 ? 'was' : 'were'} accepted by a push service.`;
}
