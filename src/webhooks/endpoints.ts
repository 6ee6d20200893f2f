import { changesBetween } from '../audit/changes.js';
import { recordServiceEvent } from '../audit/events.js';
import {
  type IssuedWebhook,
  type NewWebhook,
  type Webhook,
  type WebhookChange,
  webhookDisabledReasons,
  webhookEventTypes,
} from '../contract/webhooks.js';
import type { Database, Queryable } from '../database/database.js';
import { type ListRequest, type Page, readPage } from '../database/listing.js';
import { literal, sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { collectFilter } from '../lib/filter/parse.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { choiceError, type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { describeTime } from '../messages/notice-values.js';
import type { OperatorMails } from '../messages/operator-mails.js';
import { hasInboxEvents, isPattern, webhookFilterFields } from './catalogue.js';
import { encryptSecret, ensureSigningKey, newWebhookSecret } from './secrets.js';

/** The endpoints of webhooks. Methods with `tx` must run in a transaction, which must fail when they throw. */
export interface Webhooks {
  /** @throws Problem `validation_failed`, `too_many_webhooks` */
  create(tx: Queryable, input: NewWebhook, origin: Origin): Promise<IssuedWebhook>;
  list(request: ListRequest): Promise<Page<Webhook>>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<Webhook>;
  /** @throws Problem `not_found`, `validation_failed` */
  change(tx: Queryable, id: string, input: WebhookChange, origin: Origin): Promise<void>;
  /** @throws Problem `not_found` */
  remove(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /**
   * Replaces the secret. For 24 hours, requests are also signed with the previous one.
   * @returns the new secret
   * @throws Problem `not_found`
   */
  rotateSecret(tx: Queryable, id: string, origin: Origin): Promise<string>;
}

/** The maximum number of endpoints. It is small because each event is compared with all of them. */
const maxEndpoints = 50;

/** The fields that filter lists of endpoints. */
export const webhookListFields: FilterFields = {
  id: { kind: 'id' },
  url: { kind: 'string', like: true },
  description: { kind: 'string', like: true },
  enabled: { kind: 'enum', values: ['true', 'false'] },
  disabled_reason: { kind: 'enum', values: webhookDisabledReasons },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

/** The endpoints as the API shows them. */
const source = {
  columns: sql`
    id, url, events, filter, description, payload, enabled, disabled_reason, disabled_at,
    case when previous_secret_until > (select db_now()) then previous_secret_until end as previous_secret_until,
    least(1000, (select coalesce(sum(q.pending), 0) from webhook_queues q where q.endpoint_id = webhook_endpoints.id))::int as pending,
    last_success_at, last_failure_at, failing_since, last_error, created_at, updated_at`,
  from: sql`webhook_endpoints left join webhook_health on endpoint_id = id`,
  filterExpressions: { enabled: sql`enabled::text` },
};

const selectOne = statement<{ id: string }, Webhook>(
  'webhook_get',
  (p) => sql`select ${source.columns} from ${source.from} where id = ${p.id}`,
);

interface EndpointValues {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly filter: string;
  readonly description: string;
  readonly payload: string;
  readonly inbox: boolean;
}

/** Parallel requests wait here, so that each counts the endpoints of the earlier ones. No other lock uses this number. */
const lockEndpoints = statement<object>('webhooks_lock', () => sql`select pg_advisory_xact_lock(7203415044)`);

const insertEndpoint = statement<EndpointValues & { secret: Buffer }, { created_at: string }>(
  'webhook_insert',
  (p) => sql`
  insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, secret, created_at, updated_at)
  select ${p.id}, ${p.url}, ${p.description}, ${p.events}::text[], ${p.filter}, ${p.payload}, ${p.inbox}, ${p.secret}, now, now
  from (select db_now() as now) clock
  where (select count(*) from webhook_endpoints) < ${literal(maxEndpoints)}
  returning created_at`,
);

interface EndpointRow extends Required<Omit<NewWebhook, 'events'>> {
  readonly events: string[];
  readonly enabled: boolean;
}

const lockEndpoint = statement<{ id: string }, EndpointRow>(
  'webhook_lock',
  (p) => sql`
  select url, events, filter, description, payload, enabled from webhook_endpoints where id = ${p.id} for update`,
);

const updateEndpoint = statement<EndpointValues & { enabled: boolean }>(
  'webhook_update',
  (p) => sql`
  update webhook_endpoints
  set url = ${p.url}, events = ${p.events}::text[], filter = ${p.filter}, description = ${p.description},
      payload = ${p.payload}, has_inbox_events = ${p.inbox}, enabled = ${p.enabled}, updated_at = db_now(),
      disabled_reason = case when ${p.enabled} then null else coalesce(disabled_reason, 'operator') end,
      disabled_at = case when ${p.enabled} then null else coalesce(disabled_at, db_now()) end
  where id = ${p.id}`,
);

/** An endpoint that is enabled again has five days for its next success. */
const forgetFailures = statement<{ id: string }>(
  'webhook_forget_failures',
  (p) => sql`update webhook_health set failing_since = null where endpoint_id = ${p.id}`,
);

/** Deletes an endpoint, its state and its replays. The maintenance tasks remove its deliveries and queues. */
const deleteEndpoint = statement<{ id: string }, { url: string }>(
  'webhook_delete',
  (p) => sql`
  with health as (delete from webhook_health where endpoint_id = ${p.id}),
       replays as (delete from webhook_replays where endpoint_id = ${p.id})
  delete from webhook_endpoints where id = ${p.id} returning url`,
);

const replaceSecret = statement<{ id: string; secret: Buffer }, { id: string }>(
  'webhook_rotate',
  (p) => sql`
  update webhook_endpoints
  set previous_secret = secret, previous_secret_until = db_now() + interval '24 hours', secret = ${p.secret},
      updated_at = db_now()
  where id = ${p.id} returning id`,
);

interface DisableValues {
  readonly id: string;
  readonly reason: string;
}

const disableEndpoint = statement<DisableValues, { url: string; disabled_at: string }>(
  'webhook_disable',
  (p) => sql`
  update webhook_endpoints
  set enabled = false, disabled_reason = ${p.reason}, disabled_at = db_now(), updated_at = db_now()
  where id = ${p.id} and enabled returning url, disabled_at`,
);

/**
 * Disables an endpoint that is gone or has failed for five days, and writes mails to operators.
 * @returns false if it was disabled before
 */
export async function disableFailing(
  tx: Queryable,
  mails: OperatorMails,
  { id, reason }: { readonly id: string; readonly reason: 'gone' | 'failing' },
): Promise<boolean> {
  const [row] = await tx.query(disableEndpoint({ id, reason }));
  if (row === undefined) return false;
  const data = { webhook_id: id, url: row.url, reason };
  await recordServiceEvent(tx, { type: 'webhook.disabled', origin: { actor: 'system' }, data });
  const time = describeTime(row.disabled_at);
  await mails.write(tx, { kind: `webhook_${reason}`, values: { id, host: new URL(row.url).host, time } });
  return true;
}

/** @param options.checkUrl why a URL may not be called; undefined if it may */
export function createWebhooks(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly checkUrl: (url: string) => string | undefined;
}): Webhooks {
  const { database, keys, checkUrl } = options;
  const check = ({ url, events, filter }: Pick<EndpointValues, 'url' | 'events' | 'filter'>) => {
    const errors: FieldError[] = [];
    const reason = checkUrl(url);
    if (reason !== undefined) errors.push({ field: 'url', code: 'invalid_url', params: { reason } });
    for (const [index, pattern] of events.entries()) {
      if (!isPattern(pattern)) errors.push(choiceError(`events.${index}`, webhookEventTypes));
    }
    if (filter !== '') collectFilter(filter, webhookFilterFields, errors);
    throwIfErrors(errors);
  };
  const get = async (id: string) => {
    const [webhook] = await database.query(selectOne({ id }));
    if (webhook === undefined) throw new Problem('not_found');
    return webhook;
  };
  return {
    get,
    list: (request) => readPage<Webhook>(database, source, request),
    async create(tx, input, origin) {
      const { url, events, filter = '', description = '', payload = 'thin' } = input;
      check({ url, events, filter });
      const id = newId();
      const secret = newWebhookSecret();
      await tx.query(lockEndpoints({}));
      const values = { id, url, events, filter, description, payload, inbox: hasInboxEvents(events) };
      const [created] = await tx.query(insertEndpoint({ ...values, secret: encryptSecret(keys, id, secret) }));
      if (created === undefined) throw new Problem('too_many_webhooks', { params: { max: maxEndpoints } });
      await ensureSigningKey(tx, keys);
      const data = { webhook_id: id, url, events, filter, payload };
      await recordServiceEvent(tx, { type: 'webhook.created', origin, data });
      const { created_at } = created;
      const state = {
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        previous_secret_until: null,
        pending: 0,
      };
      const health = { last_success_at: null, last_failure_at: null, failing_since: null, last_error: null };
      const { inbox: _, ...stored } = values;
      return { ...stored, ...state, ...health, created_at, updated_at: created_at, secret };
    },
    async change(tx, id, input, origin) {
      const [before] = await tx.query(lockEndpoint({ id }));
      if (before === undefined) throw new Problem('not_found');
      const after = { ...before, ...input };
      check(after);
      await tx.query(updateEndpoint({ ...after, id, inbox: hasInboxEvents(after.events) }));
      if (after.enabled && !before.enabled) await tx.query(forgetFailures({ id }));
      const fields = ['url', 'events', 'filter', 'description', 'payload', 'enabled'] as const;
      const changes = changesBetween(fields, before, after);
      if (changes.length === 0) return;
      await recordServiceEvent(tx, { type: 'webhook.changed', origin, data: { webhook_id: id, changes } });
    },
    async remove(tx, id, origin) {
      // The next statement sees the replays that were requested before this lock.
      await tx.query(lockEndpoint({ id }));
      const [removed] = await tx.query(deleteEndpoint({ id }));
      if (removed === undefined) throw new Problem('not_found');
      await recordServiceEvent(tx, { type: 'webhook.deleted', origin, data: { webhook_id: id, url: removed.url } });
    },
    async rotateSecret(tx, id, origin) {
      const secret = newWebhookSecret();
      const [rotated] = await tx.query(replaceSecret({ id, secret: encryptSecret(keys, id, secret) }));
      if (rotated === undefined) throw new Problem('not_found');
      await recordServiceEvent(tx, { type: 'webhook.secret_rotated', origin, data: { webhook_id: id } });
      return secret;
    },
  };
}

/** `failing`: no success since the last failure. `disabled`: by Postern. `paused`: by an operator. */
const webhookStates = ['delivering', 'failing', 'disabled', 'paused'] as const;
type WebhookState = (typeof webhookStates)[number];

const countStates = statement<object, { state: WebhookState; count: number }>(
  'webhook_states',
  () => sql`
  select case when not enabled then case disabled_reason when 'operator' then 'paused' else 'disabled' end
              when failing_since is not null then 'failing'
              else 'delivering' end as state,
         count(*)::int as count
  from webhook_endpoints left join webhook_health on endpoint_id = id group by 1`,
);

/** The number of webhooks in each state. */
export async function readWebhookStates(handle: Queryable): Promise<[state: WebhookState, count: number][]> {
  const counted = new Map((await handle.query(countStates({}))).map(({ state, count }) => [state, count]));
  return webhookStates.map((state) => [state, counted.get(state) ?? 0]);
}
