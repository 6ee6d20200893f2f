import { literal, sql, statement, unprepared } from '../database/sql.js';
import { soonSeconds } from './schedule.js';

/** Seconds after which another sender may take a queue: its sender must have died. Longer than a run and its last attempt. */
export const leaseSeconds = 30;
/** Deliveries of a queue that a sender takes at a time, in the order of their events. It is higher than the number of deliveries that can be late. */
const maxTaken = 50;

/** Where and how deliveries are sent. */
export interface SendingEndpoint {
  readonly id: string;
  readonly url: string;
  readonly payload: 'thin' | 'full';
  readonly secret: Buffer;
  /** Null: only the current secret signs. */
  readonly previous_secret: Buffer | null;
}

/** The endpoints with deliveries that are due. */
export const selectDueEndpoints = statement<object, { id: string }>(
  'webhook_endpoints_due',
  () => sql`
  select id from webhook_endpoints e
  where enabled and exists (
    select from webhook_queues q where q.endpoint_id = e.id and q.due_at <= (select db_now()))`,
);

export const selectEndpoint = statement<{ id: string }, SendingEndpoint & { enabled: boolean }>(
  'webhook_endpoint_send',
  (p) => sql`
  select id, url, payload, secret, enabled,
         case when previous_secret_until > (select db_now()) then previous_secret end as previous_secret
  from webhook_endpoints where id = ${p.id}`,
);

interface TakeValues {
  readonly endpointId: string;
  readonly lease: string;
  readonly limit: number;
}

/** A pending delivery of a queue that was taken. Null `id`: the queue has no pending delivery. Times are seconds. */
export interface TakenRow {
  readonly user_id: string;
  /** The number of pending deliveries of the queue. */
  readonly pending: number;
  readonly id: string | null;
  readonly sequence: number;
  readonly event_id: string;
  readonly type: string;
  readonly is_late: boolean;
  readonly attempts: number;
  readonly age: number;
  readonly due_in: number;
  /** Whether it has a time of its own at which it is due, and this time has come: its repetition was requested, or it is retried. */
  readonly is_due: boolean;
  /** Null: the event was removed, because it is too old. */
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly created_at: string | null;
  readonly traceparent?: string | null;
}

const deliveryColumns = sql`id, sequence, event_id, type, is_late, attempts, first_attempt_at, next_attempt_at`;

/**
 * Takes queues that are due. Those that another sender takes at the moment are skipped. Of each
 * queue, it reads the first deliveries. If the first one fails and holds the later ones, it also reads those whose repetition was
 * requested, wherever they stand. Planned at each use: tables grow fast.
 * After the first step, the endpoint is a column of that step and not a parameter. For a new endpoint that the statistics
 * do not contain yet, the planner expects one row, and would read all rows of the endpoint for each user.
 */
export const takeQueues = unprepared(
  statement<TakeValues, TakenRow>(
    'webhook_queues_take',
    (p) => sql`
    with due as materialized (
      select user_id, endpoint_id from webhook_queues
      where endpoint_id = ${p.endpointId}::uuid and due_at <= (select db_now())
      order by due_at limit ${p.limit} for update skip locked
    ),
    taken as (
      update webhook_queues q
      set lease = ${p.lease}, due_at = (select db_now()) + ${literal(leaseSeconds)} * interval '1 second'
      from due where q.user_id = due.user_id and q.endpoint_id = due.endpoint_id
      returning q.user_id, q.endpoint_id, q.pending
    )
    select taken.user_id, taken.pending, d.id, d.sequence, d.event_id, d.type, d.is_late, d.attempts, d.age, d.due_in, d.is_due,
           e.data, e.created_at, e.traceparent
    from taken left join lateral (
      select id, sequence, event_id, type, is_late, attempts,
             coalesce(extract(epoch from (select db_now()) - first_attempt_at), 0)::float8 as age,
             coalesce(extract(epoch from next_attempt_at - (select db_now())), 0)::float8 as due_in,
             coalesce(next_attempt_at <= (select db_now()), false) as is_due
      from (
        (select ${deliveryColumns} from webhook_deliveries
         where user_id = taken.user_id and endpoint_id = taken.endpoint_id and state = 'pending'
         order by sequence, id limit ${literal(maxTaken)})
        union
        (select ${deliveryColumns} from webhook_deliveries
         where user_id = taken.user_id and endpoint_id = taken.endpoint_id and state = 'pending'
           and next_attempt_at <= (select db_now()) and taken.pending > ${literal(maxTaken)} and 0 < (
             select attempts from webhook_deliveries
             where user_id = taken.user_id and endpoint_id = taken.endpoint_id and state = 'pending' and not is_late
             order by sequence, id limit 1)
         order by sequence, id limit ${literal(maxTaken)})) pending) d on true
    left join lateral (
      select data, created_at, traceparent from webhook_events
      where user_id = taken.user_id and sequence = d.sequence limit 1) e on true
    order by taken.user_id, d.sequence, d.id`,
  ),
);

/** What a sender did with a delivery. */
export interface SettledDelivery {
  readonly user_id: string;
  readonly id: string;
  readonly state: string;
  readonly is_late: boolean;
  /** Seconds until the next attempt; null: none. */
  readonly delay: number | null;
  /** Whether there was an attempt. */
  readonly attempted: boolean;
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

/** A queue that a sender returns. */
export interface ReturnedQueue {
  readonly user_id: string;
  /** The number of deliveries that were pending when the sender took the queue. */
  readonly taken: number;
  /** The number of deliveries that are no longer pending. */
  readonly done: number;
  /** Seconds until it is due. If deliveries were added since it was taken, it is due at once. */
  readonly due_in: number;
}

/**
 * Writes results and returns queues, or removes those without pending deliveries. If another sender has taken a queue in
 * the meantime, the results are dropped, because that sender delivers again. Queues are locked in the same order as when
 * events are numbered, to avoid deadlocks. `held` has the newest count of a queue: events may have been added since it was
 * taken. Planned at each use: a plan from a time when the tables were empty reads all queues for each result. Each delivery
 * is found by its whole key. `state = 'pending'` would allow the index of pending deliveries, and among millions of deliveries
 * the planner expects none that is pending: it would read this whole index for each result. The endpoint is a column of
 * `target` and not a parameter, as in `takeQueues`.
 * @param queues and results: JSON of arrays of `ReturnedQueue` and `SettledDelivery`
 */
export const settleQueues = unprepared(
  statement<{ endpointId: string; lease: string; queues: string; results: string }>(
    'webhook_queues_settle',
    (p) => sql`
  with target as materialized (select ${p.endpointId}::uuid as endpoint_id),
  returned as (
    select * from json_to_recordset(${p.queues}::json) as queue (user_id uuid, taken int, done int, due_in float8)
  ),
  held as materialized (
    select q.user_id, q.endpoint_id, q.pending - r.done as pending,
           case when q.pending > r.taken then 0 else r.due_in end as due_in
    from target cross join returned r
    join webhook_queues q on q.user_id = r.user_id and q.endpoint_id = target.endpoint_id and q.lease = ${p.lease}::uuid
    order by q.user_id for update of q
  ),
  released as (
    update webhook_queues q
    set pending = held.pending, lease = null, due_at = (select db_now()) + held.due_in * interval '1 second'
    from held where held.pending > 0 and q.user_id = held.user_id and q.endpoint_id = held.endpoint_id
  ),
  removed as (
    delete from webhook_queues q
    using held where held.pending <= 0 and q.user_id = held.user_id and q.endpoint_id = held.endpoint_id
  ),
  settled as materialized (
    select r.* from held join json_to_recordset(${p.results}::json) as r (
      user_id uuid, id uuid, state text, is_late boolean, delay float8, attempted boolean, status int, answer text, error text,
      duration_ms int) on r.user_id = held.user_id
  )
  update webhook_deliveries d
  set state = r.state, is_late = r.is_late, attempts = d.attempts + r.attempted::int,
      first_attempt_at = case when r.attempted then coalesce(d.first_attempt_at, now) else d.first_attempt_at end,
      last_attempt_at = case when r.attempted then now else d.last_attempt_at end,
      next_attempt_at = case when r.attempted then now + r.delay * interval '1 second'
                        when r.state = 'pending' then d.next_attempt_at end,
      status = case when r.attempted then r.status else d.status end,
      answer = case when r.attempted then r.answer else d.answer end,
      error = coalesce(r.error, case when r.attempted then null else d.error end),
      duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end
  from settled r, (select db_now() as now) clock
  where d.user_id = r.user_id and d.id = r.id and d.state not in ('delivered', 'failed')`,
  ),
);

interface HeldQueues {
  readonly endpointId: string;
  readonly lease: string;
  readonly userIds: readonly string[];
}

/** Locks queues that a sender has taken, so that no delivery is added to them until the transaction ends. */
export const lockQueues = statement<HeldQueues>(
  'webhook_queues_lock',
  (p) => sql`
  select from webhook_queues
  where endpoint_id = ${p.endpointId} and user_id = any (${p.userIds}::uuid[]) and lease = ${p.lease}
  order by user_id for update`,
);

/**
 * Counts the pending deliveries of queues, and returns the queues or removes those without any. The maintenance removes old
 * deliveries and does not change these counts. Call it after `lockQueues`, in the same transaction: this statement sees
 * all deliveries that were added before the lock.
 */
export const recountQueues = statement<HeldQueues>(
  'webhook_queues_recount',
  (p) => sql`
  with counted as materialized (
    select q.user_id, q.endpoint_id, (
      select count(*)::int from webhook_deliveries d
      where d.user_id = q.user_id and d.endpoint_id = q.endpoint_id and d.state = 'pending') as pending
    from webhook_queues q
    where q.endpoint_id = ${p.endpointId} and q.user_id = any (${p.userIds}::uuid[]) and q.lease = ${p.lease}
  ),
  removed as (
    delete from webhook_queues q
    using counted c where c.pending = 0 and q.user_id = c.user_id and q.endpoint_id = c.endpoint_id
  )
  update webhook_queues q set pending = c.pending, lease = null, due_at = db_now()
  from counted c where c.pending > 0 and q.user_id = c.user_id and q.endpoint_id = c.endpoint_id`,
);

/**
 * Returns the queues that a sender has taken and no longer works on, because it did not learn that it took them, or could not
 * store what it did with them.
 */
export const returnLease = statement<{ endpointId: string; lease: string }>(
  'webhook_lease_return',
  (p) => sql`
  update webhook_queues set lease = null, due_at = db_now() where (user_id, endpoint_id) in (
    select user_id, endpoint_id from webhook_queues where endpoint_id = ${p.endpointId} and lease = ${p.lease}
    order by user_id for update)`,
);

/** Queues that one success moves at most. */
const maxMoved = 1000;

/**
 * An endpoint that accepts events is not down. So the events that wait for a long pause, and hold later events of their users,
 * are retried within a minute. A pause that the endpoint has requested with Retry-After is longer than the planned one,
 * and stays.
 * @param plannedSeconds the longest planned pause after each number of attempts, from 1
 */
export const retrySoon = unprepared(
  statement<{ id: string; plannedSeconds: readonly number[] }>(
    'webhook_retry_soon',
    (p) => sql`
  with target as materialized (select ${p.id}::uuid as endpoint_id),
  waiting as materialized (
    select q.user_id, q.endpoint_id from target
    join webhook_queues q on q.endpoint_id = target.endpoint_id
      and q.due_at > (select db_now()) + interval '1 minute' and q.lease is null
    order by q.due_at limit ${literal(maxMoved)}),
  held as materialized (
    select q.user_id, q.endpoint_id from waiting
    join webhook_queues q on q.user_id = waiting.user_id and q.endpoint_id = waiting.endpoint_id
    where q.lease is null order by q.user_id for update of q skip locked),
  moved as (
    update webhook_deliveries d
    set next_attempt_at = greatest(
      (select db_now()), d.last_attempt_at + (${literal(soonSeconds)} + 8 * random()) * interval '1 second')
    from held cross join lateral (
      select user_id, id, attempts, last_attempt_at, next_attempt_at from webhook_deliveries
      where user_id = held.user_id and endpoint_id = held.endpoint_id and state = 'pending' and not is_late
      order by sequence, id limit 1) first
    where d.user_id = first.user_id and d.id = first.id and first.attempts > 0
      and extract(epoch from first.next_attempt_at - first.last_attempt_at) <=
          (${p.plannedSeconds}::float8[])[least(first.attempts, cardinality(${p.plannedSeconds}::float8[]))]
    returning d.user_id, d.endpoint_id, d.next_attempt_at)
  update webhook_queues q set due_at = least(q.due_at, moved.next_attempt_at)
  from moved where q.user_id = moved.user_id and q.endpoint_id = moved.endpoint_id`,
  ),
);

export const recordSuccess = statement<{ id: string }>(
  'webhook_health_success',
  (p) => sql`
  insert into webhook_health (endpoint_id, last_success_at) select id, db_now() from webhook_endpoints where id = ${p.id}
  on conflict (endpoint_id) do update set last_success_at = excluded.last_success_at, failing_since = null`,
);

/** @returns whether the endpoint has had no success for five days */
export const recordFailure = statement<{ id: string; error: string }, { has_failed: boolean }>(
  'webhook_health_failure',
  (p) => sql`
  insert into webhook_health as known (endpoint_id, last_failure_at, failing_since, last_error)
  select id, now, now, ${p.error} from webhook_endpoints, (select db_now() as now) clock where id = ${p.id}
  on conflict (endpoint_id) do update
  set last_failure_at = excluded.last_failure_at, last_error = excluded.last_error,
      failing_since = coalesce(known.failing_since, excluded.failing_since)
  returning failing_since < last_failure_at - interval '5 days' as has_failed`,
);
