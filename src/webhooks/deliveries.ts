import { recordServiceEvent } from '../audit/events.js';
import {
  type WebhookDelivery,
  type WebhookReplay,
  type WebhookReplayRequest,
  webhookDeliveryStates,
  webhookEventTypes,
} from '../contract/webhooks.js';
import type { Database, Queryable } from '../database/database.js';
import { type ListRequest, type Page, readPage } from '../database/listing.js';
import { bound, literal, sql, statement, unprepared } from '../database/sql.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { parseTime } from '../lib/times.js';
import { bodyOf } from './payload.js';
import { deliverAgain } from './relay.js';
import type { StoredEvent } from './relay-queries.js';

/** The deliveries of an endpoint, and their repetition. */
export interface WebhookDeliveries {
  /** @throws Problem `not_found` */
  list(endpointId: string, request: ListRequest): Promise<Page<WebhookDelivery>>;
  /**
   * Sends events of the last 30 days again: those of a time span, in steps, or those of some deliveries.
   * @throws Problem `not_found`, `validation_failed`
   */
  replay(endpointId: string, request: WebhookReplayRequest, origin: Origin): Promise<WebhookReplay>;
}

/** The fields that filter lists of deliveries. */
export const deliveryFilterFields: FilterFields = {
  id: { kind: 'id' },
  event_id: { kind: 'id' },
  user_id: { kind: 'id' },
  type: { kind: 'enum', values: webhookEventTypes },
  state: { kind: 'enum', values: webhookDeliveryStates },
  status: { kind: 'integer' },
  created_at: { kind: 'time' },
};

const columns = sql`
  id, endpoint_id, event_id, type, user_id, sequence, state, attempts, status, answer, error, duration_ms,
  last_attempt_at, next_attempt_at, created_at, event_data, event_time`;

type ListedRow = Omit<WebhookDelivery, 'request'> & {
  readonly event_data: StoredEvent['data'] | null;
  readonly event_time: string | null;
};

const findEndpoint = statement<{ id: string }, { id: string }>(
  'webhook_endpoint_find',
  (p) => sql`select id from webhook_endpoints where id = ${p.id}`,
);

/** While this lock is held, the endpoint is not deleted: a replay of a deleted endpoint would stay for ever. */
const keepEndpoint = statement<{ id: string }, { id: string }>(
  'webhook_endpoint_keep',
  (p) => sql`select id from webhook_endpoints where id = ${p.id} for key share`,
);

const insertReplay = statement<{ id: string; endpointId: string; from: string; until: string }>(
  'webhook_replay_insert',
  (p) => sql`
  insert into webhook_replays (id, endpoint_id, from_time, until_time, created_at)
  values (${p.id}, ${p.endpointId}, ${p.from}::timestamptz, ${p.until}::timestamptz, db_now())`,
);

/** The highest number of events that the answer to a replay contains. */
const maxCounted = 1000;

const countEvents = statement<{ from: string; until: string }, { count: number }>(
  'webhook_replay_count',
  (p) => sql`
  select count(*)::int as count from (
    select from webhook_events where created_at >= ${p.from}::timestamptz and created_at < ${p.until}::timestamptz
    limit ${literal(maxCounted)}) counted`,
);

const selectNow = statement<object, { now: string }>('webhook_replay_now', () => sql`select db_now() as now`);

const selectEventsOf = unprepared(
  statement<{ endpointId: string; ids: readonly string[] }, StoredEvent>(
    'webhook_replay_deliveries',
    (p) => sql`
    select distinct e.user_id, e.sequence, e.id, e.type, e.data, e.created_at
    from webhook_deliveries d join webhook_events e on e.user_id = d.user_id and e.sequence = d.sequence
    where d.endpoint_id = ${p.endpointId} and d.id = any (${p.ids}::uuid[])
    order by e.user_id, e.sequence`,
  ),
);

export function createWebhookDeliveries(database: Database): WebhookDeliveries {
  const assertExists = async (id: string) => {
    if ((await database.query(findEndpoint({ id }))).length === 0) throw new Problem('not_found');
  };
  const keep = async (tx: Queryable, id: string) => {
    if ((await tx.query(keepEndpoint({ id }))).length === 0) throw new Problem('not_found');
  };
  return {
    async list(endpointId, request) {
      await assertExists(endpointId);
      const source = {
        columns,
        from: sql`(
          select d.*, e.data as event_data, e.created_at as event_time
          from webhook_deliveries d left join webhook_events e on e.user_id = d.user_id and e.sequence = d.sequence
        ) listed`,
        where: sql`endpoint_id = ${bound(endpointId)}::uuid`,
      };
      const page = await readPage<ListedRow>(database, source, request);
      return { ...page, items: page.items.map(toDelivery) };
    },
    async replay(endpointId, request, origin) {
      await assertExists(endpointId);
      const id = newId();
      const { delivery_ids: ids, from, to } = request;
      if (ids !== undefined) {
        if (from !== undefined || to !== undefined) throw conflict();
        return database.transaction(async (tx) => {
          await keep(tx, endpointId);
          const events = await tx.query(selectEventsOf({ endpointId, ids }));
          // Without the endpoint's patterns and filter: they may have changed since the first delivery.
          await deliverAgain(tx, events, { id: endpointId, events: ['*'], filter: '' }, true);
          const data = { webhook_id: endpointId, events: events.length };
          await recordServiceEvent(tx, { type: 'webhook.replayed', origin, data });
          return { id, events: events.length };
        });
      }
      const [clock] = await database.query(selectNow({}));
      const range = readRange(from, to, clock?.now);
      const [counted] = await database.query(countEvents(range));
      await database.transaction(async (tx) => {
        await keep(tx, endpointId);
        await tx.query(insertReplay({ id, endpointId, ...range }));
        const data = { webhook_id: endpointId, from: range.from, to: range.until };
        await recordServiceEvent(tx, { type: 'webhook.replayed', origin, data });
      });
      return { id, events: counted?.count ?? 0 };
    },
  };
}

function conflict(): Problem {
  const params = { fields: 'from, to, delivery_ids' };
  return new Problem('validation_failed', { errors: [{ field: 'delivery_ids', code: 'conflicting_fields', params }] });
}

function readRange(from: string | undefined, to: string | undefined, now = ''): { from: string; until: string } {
  const errors: FieldError[] = [];
  if (from === undefined) errors.push({ field: 'from', code: 'required' });
  const [start, until] = [parseTime(from ?? ''), parseTime(to ?? now)];
  if (from !== undefined && start === undefined) errors.push({ field: 'from', code: 'invalid_time' });
  if (until === undefined) errors.push({ field: 'to', code: 'invalid_time' });
  if (to !== undefined && start !== undefined && until !== undefined && start >= until) {
    errors.push({ field: 'to', code: 'not_later', params: { field: 'from' } });
  }
  throwIfErrors(errors);
  return { from: start ?? '', until: until ?? '' };
}

/** `request` is the body of every attempt, without the resource of a full payload. */
function toDelivery({ event_data: data, event_time, ...row }: ListedRow): WebhookDelivery {
  const request =
    data === null || event_time === null ? null : bodyOf(row.endpoint_id, { ...row, data, created_at: event_time });
  return { ...row, request };
}
