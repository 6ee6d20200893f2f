import { type StepAttempt, type StepReason, type StepState, stepReasons } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { isHeld } from '../channels/held.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { mailChoice } from './digests.js';
import type { MessageChannel } from './queue.js';

interface Row {
  channel: 'push' | MessageChannel;
  state: StepState | 'none';
  reason: StepReason;
  last_error: string | null;
  attempts: number;
  created_at: string | null;
  held_until: string | null;
  updated_at: string | null;
}

/** SQL: whether a delivery, or a step that is due, waits for the end of a pause. */
const isHeldNow = sql`(step_deliveries.state = 'queued' and ${isHeld(sql`step_deliveries.channel`)})`;
const isHeldStep = sql`(due_at <= db_now() and ${isHeld(sql`pending_steps.channel`)})`;

/**
 * Everything that is known about the steps of a notification. The rows of a publishing request are found by its time, which is at
 * most a minute before that of its last notification. Of several refusals of a step, the first counts.
 */
const selectSteps = statement<{ userId: string; notificationId: string; publishedAt: string }, Row>(
  'step_trace',
  (p) => sql`
    select channel, case when ${isHeldNow} then 'held' else state end,
           case when ${isHeldNow} then 'channel_paused' else reason end, last_error, attempts, created_at, updated_at,
           case when state = 'held' then (select held_until from quiet_holds where quiet_holds.user_id = ${p.userId}) end as held_until
    from step_deliveries
    where user_id = ${p.userId} and (notification_id = ${p.notificationId} or member_ids @> array[${p.notificationId}::uuid])
    union all
    (select distinct on (channel) channel, state, reason, null, 0, created_at, created_at, null::timestamptz from step_refusals
     where published_at between ${p.publishedAt}::timestamptz - interval '1 minute' and ${p.publishedAt}::timestamptz
       and notification_ids @> array[${p.notificationId}::uuid]
     order by channel, created_at, id)
    union all
    select channel, case when ${isHeldStep} then 'held' else 'none' end,
           case when ${isHeldStep} then 'channel_paused' else 'not_due' end, null, 0, null, due_at, null from pending_steps
    where published_at between ${p.publishedAt}::timestamptz - interval '1 minute' and ${p.publishedAt}::timestamptz
      and notification_ids @> array[${p.notificationId}::uuid]
    union all
    select 'email', 'digesting', 'digest', null, 0, d.updated_at, d.updated_at, d.due_at
    from notifications n
      join digests d on d.user_id = n.user_id and d.category = coalesce(n.category, n.notification_type) and d.due_at is not null
        and n.sequence > d.closed_through ${joinReadState(p.userId, sql`n.sequence`)}
      left join preferences on preferences.user_id = n.user_id
    where n.user_id = ${p.userId} and n.id = ${p.notificationId} and n.is_hidden is not true and not ${isReadNow(sql`n.sequence`)}
      and not exists (
        select from step_deliveries own
        where own.user_id = ${p.userId} and own.notification_id = ${p.notificationId} and own.channel = 'email')
      and coalesce(${mailChoice({ topics: sql`preferences.topics`, topic: sql`n.topic`, categories: sql`preferences.categories`, category: sql`d.category` })},
                   case when exists (
                     select from step_refusals
                     where published_at between ${p.publishedAt}::timestamptz - interval '1 minute' and ${p.publishedAt}::timestamptz
                       and notification_ids @> array[${p.notificationId}::uuid] and channel = 'email')
                   then 'off' else 'on' end) <> 'off'
    order by updated_at`,
);

/** The steps of a notification by channel. For a delayed push, `push` says why it does not exist; undefined if it does. */
export interface StepTrace {
  readonly push: { readonly state: StepState | 'none'; readonly reason: StepReason } | undefined;
  readonly email: readonly StepAttempt[];
  readonly sms: readonly StepAttempt[];
}

/** @param publishedAt when the notification was published */
export async function traceSteps(
  handle: Queryable,
  notification: { readonly userId: string; readonly notificationId: string; readonly publishedAt: string },
): Promise<StepTrace> {
  const rows = await handle.query(selectSteps(notification));
  const attempts = (channel: MessageChannel) => rows.filter((row) => row.channel === channel).map(attemptOf);
  return {
    push: rows.find(({ channel }) => channel === 'push'),
    email: attempts('email'),
    sms: attempts('sms'),
  };
}

function attemptOf({
  last_error: error,
  channel,
  state,
  reason,
  attempts,
  held_until,
  created_at,
  updated_at,
}: Row): StepAttempt {
  // Once a provider has accepted the message, earlier errors no longer matter.
  const isAccepted = state === 'sent' || state === 'delivered';
  return {
    channel: channel as MessageChannel,
    state,
    reason,
    explanation: stepReasons[reason],
    error: isAccepted ? null : error,
    attempts,
    held_until,
    created_at,
    updated_at,
  };
}
