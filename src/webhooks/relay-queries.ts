import { literal, sql, statement, unprepared } from '../database/sql.js';
import { holdSeconds } from './schedule.js';

/** Rows of the outbox that one step reads, and the number of events at which it stops. */
const limits = { rows: 500, events: 5000 };

/**
 * Only one instance at a time numbers events: two could number the events of a user in the wrong order. No other lock
 * uses this number. The next statement sees everything that the previous holder of the lock has committed.
 */
export const tryRelayLock = statement<object, { locked: boolean }>(
  'webhook_relay_lock',
  () => sql`select pg_try_advisory_xact_lock(7203415045) as locked`,
);

/** Whether there is anything to relay. Without webhooks, the relay runs no other statement. */
export const hasWork = statement<object, { events: boolean; replays: boolean }>(
  'webhook_relay_work',
  () => sql`
  select exists (select from webhook_outbox) as events, exists (select from webhook_replays) as replays`,
);

export interface OutboxRow {
  readonly type: string;
  readonly actor: string | null;
  readonly user_ids: string[];
  readonly object_ids: (string | null)[] | null;
  /** As text: arrays of bigint are not converted. */
  readonly sequences: string[] | null;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly created_at: string;
  readonly traceparent: string | null;
}

/**
 * The oldest rows up to the limits, and at least one. They are deleted by an array, which is computed once. Statistics from
 * a time when the outbox was empty would otherwise lead to a plan that computes the sum again for each waiting row.
 */
export const takeOutbox = statement<object, OutboxRow>(
  'webhook_outbox_take',
  () => sql`
  with oldest as (
    select id, created_at, cardinality(user_ids) as size from webhook_outbox order by created_at, id
    limit ${literal(limits.rows)}
  ),
  due as materialized (select id, created_at, size, sum(size) over (order by created_at, id) as total from oldest),
  taken as (
    delete from webhook_outbox where id = any (array(select id from due where total - size < ${literal(limits.events)}))
    returning *
  )
  select type, actor, user_ids, object_ids, sequences, data, created_at, traceparent from taken order by created_at, id`,
);

/** Raises the last event number of each user, in the order of the users. */
export const numberEvents = unprepared(
  statement<{ userIds: readonly string[]; counts: readonly number[] }, { user_id: string; last_sequence: number }>(
    'webhook_users_move',
    (p) => sql`
    insert into webhook_users as known (user_id, last_sequence)
    select user_id, count from unnest(${p.userIds}::uuid[], ${p.counts}::bigint[]) as given (user_id, count) order by user_id
    on conflict (user_id) do update set last_sequence = known.last_sequence + excluded.last_sequence
    returning user_id, last_sequence`,
  ),
);

/** @param events JSON of an array of `StoredEvent` */
export const insertEvents = statement<{ events: string }>(
  'webhook_events_insert',
  (p) => sql`
  insert into webhook_events (user_id, sequence, id, type, data, created_at, traceparent)
  select * from json_to_recordset(${p.events}::json)
    as event (user_id uuid, sequence bigint, id uuid, type text, data jsonb, created_at timestamptz, traceparent text)`,
);

/**
 * Inserts deliveries and their queues. A queue is due at once, unless the new deliveries wait for an earlier one. If a sender
 * has taken a queue, the time of the queue does not change: the sender sees the new `pending` when it returns the queue.
 * @param deliveries JSON of an array of `NewDelivery`
 * @param skipsOrder whether the deliveries are due at once, even if an earlier one fails
 */
export const insertDeliveries = statement<{ deliveries: string; skipsOrder: boolean }>(
  'webhook_deliveries_insert',
  (p) => sql`
  with inserted as (
    insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, created_at, next_attempt_at)
    select user_id, gen_random_uuid(), endpoint_id, sequence, event_id, type, db_now(),
           case when ${p.skipsOrder} then db_now() end
    from json_to_recordset(${p.deliveries}::json)
      as delivery (user_id uuid, endpoint_id uuid, sequence bigint, event_id uuid, type text)
    returning user_id, endpoint_id, sequence
  ),
  added as (
    select user_id, endpoint_id, count(*) as count, min(sequence) as first from inserted group by user_id, endpoint_id
  )
  insert into webhook_queues as known (user_id, endpoint_id, pending, due_at)
  select user_id, endpoint_id, count,
         (select db_now()) + case when not ${p.skipsOrder} and exists (
           select from webhook_deliveries d
           where d.user_id = added.user_id and d.endpoint_id = added.endpoint_id and d.state = 'pending' and not d.is_late
             and d.sequence < added.first) then ${literal(holdSeconds)} else 0 end * interval '1 second'
  from added order by user_id, endpoint_id
  on conflict (user_id, endpoint_id) do update
  set pending = known.pending + excluded.pending,
      due_at = case when known.lease is null then least(known.due_at, excluded.due_at) else known.due_at end`,
);

interface RepeatedEvents {
  readonly endpointId: string;
  /** Whether they are due at once, even if an earlier one fails. */
  readonly skipsOrder: boolean;
  readonly userIds: readonly string[];
  readonly sequences: readonly number[];
}

/**
 * Sets the pending deliveries of events, and the deliveries for which these wait, to due now. Leaves out queues that a sender has taken.
 * @returns the events with such a delivery, which need no further one
 */
export const retryPending = unprepared(
  statement<RepeatedEvents, { user_id: string; sequence: number }>(
    'webhook_deliveries_retry',
    (p) => sql`
  with target as materialized (select ${p.endpointId}::uuid as endpoint_id),
  wanted as materialized (
    select * from unnest(${p.userIds}::uuid[], ${p.sequences}::bigint[]) as event (user_id, sequence)),
  queue as materialized (
    select q.user_id, q.endpoint_id from target
    join webhook_queues q on q.endpoint_id = target.endpoint_id and q.user_id = any (${p.userIds}::uuid[])
    where q.lease is null order by q.user_id for update of q),
  retried as materialized (
    select d.user_id, d.endpoint_id, d.id, d.sequence from queue
    join wanted on wanted.user_id = queue.user_id
    join webhook_deliveries d on d.user_id = wanted.user_id and d.endpoint_id = queue.endpoint_id
      and d.sequence = wanted.sequence and d.state = 'pending'),
  holding as materialized (
    select first.user_id, queue.endpoint_id, first.id from queue cross join lateral (
      select user_id, id, sequence from webhook_deliveries
      where user_id = queue.user_id and endpoint_id = queue.endpoint_id and state = 'pending' and not is_late
      order by sequence, id limit 1) first
    where exists (select from wanted where wanted.user_id = first.user_id and wanted.sequence >= first.sequence)),
  due as (
    update webhook_deliveries d set next_attempt_at = (select db_now())
    from (select user_id, id from retried union select user_id, id from holding) now_due
    where d.user_id = now_due.user_id and d.id = now_due.id
      -- Null: the delivery waits for an earlier one.
      and coalesce(d.next_attempt_at > (select db_now()), ${p.skipsOrder})),
  woken as (
    update webhook_queues q set due_at = (select db_now())
    from (select user_id, endpoint_id from retried union select user_id, endpoint_id from holding) held
    where q.user_id = held.user_id and q.endpoint_id = held.endpoint_id)
  select distinct user_id, sequence from retried`,
  ),
);

/** An endpoint that gets new events. */
export interface Subscription {
  readonly id: string;
  readonly events: string[];
  readonly filter: string;
}

export const selectSubscriptions = statement<object, Subscription>(
  'webhook_subscriptions',
  () => sql`select id, events, filter from webhook_endpoints where enabled`,
);

export interface ReplayRow extends Subscription {
  readonly replay_id: string;
}

/**
 * The oldest replay, and its endpoint. A replay waits until the events before it have their numbers: it would otherwise leave
 * them out.
 */
export const selectReplay = statement<object, ReplayRow>(
  'webhook_replay_next',
  () => sql`
  select r.id as replay_id, e.id, e.events, e.filter
  from webhook_replays r join webhook_endpoints e on e.id = r.endpoint_id
  where not exists (select from webhook_outbox o where o.created_at < least(r.until_time, r.created_at))
  order by r.created_at, r.id limit 1`,
);

/** An event that is stored. */
export interface StoredEvent {
  readonly user_id: string;
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  /** The request that caused it, if it was traced. */
  readonly traceparent?: string | null | undefined;
}

/** Events that one step of a replay reads. */
export const replayStep = 1000;

export const selectReplayEvents = statement<{ replayId: string }, StoredEvent>(
  'webhook_replay_events',
  (p) => sql`
  select e.user_id, e.sequence, e.id, e.type, e.data, e.created_at
  from webhook_replays r cross join lateral (
    select * from webhook_events e
    where e.created_at >= r.from_time and e.created_at < r.until_time
      and (e.created_at, e.user_id, e.sequence) >
          (coalesce(r.at_time, '-infinity'), coalesce(r.at_user, '00000000-0000-0000-0000-000000000000'), coalesce(r.at_sequence, 0))
    order by e.created_at, e.user_id, e.sequence limit ${literal(replayStep)}) e
  where r.id = ${p.replayId}
  order by e.created_at, e.user_id, e.sequence`,
);

interface ReplayedTo {
  readonly replayId: string;
  readonly time: string;
  readonly userId: string;
  readonly sequence: number;
}

export const moveReplay = statement<ReplayedTo>(
  'webhook_replay_move',
  (p) => sql`
  update webhook_replays set at_time = ${p.time}, at_user = ${p.userId}, at_sequence = ${p.sequence}
  where id = ${p.replayId}`,
);

export const endReplay = statement<{ replayId: string }>(
  'webhook_replay_end',
  (p) => sql`delete from webhook_replays where id = ${p.replayId}`,
);
