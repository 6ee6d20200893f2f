import type { Abortable, List, ListQuery } from '@postern/client';
import { listOf } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import { type OnceOptions, onceHeader } from '../publishing/idempotency.js';
import type { WebhookEventType } from '../webhooks/events.js';
import type {
  IssuedWebhook,
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookReplay,
  WebhookSecret,
  WebhookTest,
} from '../wire.js';

/** A type of events, the types of a group, or all types. */
export type WebhookEventPattern =
  | WebhookEventType
  | `${WebhookEventType extends `${infer Group}.${string}` ? Group : never}.*`
  | '*';

type WithPatterns<T> = Omit<T, 'events'> & { readonly events: readonly WebhookEventPattern[] };

/** The events of a time, or those of some deliveries. */
export type WebhookReplayRange =
  | { readonly from: string | Date; readonly to?: string | Date | undefined; readonly delivery_ids?: never }
  | { readonly delivery_ids: readonly string[]; readonly from?: never };

/** Webhooks, with an API key that has the scope `webhooks:write`. */
export interface Webhooks {
  /** Creates a webhook. Only this answer contains its secret. */
  readonly create: (webhook: WithPatterns<NewWebhook>, options: OnceOptions) => Promise<IssuedWebhook>;
  /** Null if there is no such webhook. */
  readonly get: (id: string, options?: Abortable) => Promise<Webhook | null>;
  readonly list: (query?: ListQuery) => List<Webhook>;
  /** Changes only the members that are present. `enabled: true` starts a disabled webhook again. */
  readonly change: (id: string, change: Partial<WithPatterns<WebhookChange>>, options?: Abortable) => Promise<Webhook>;
  readonly delete: (id: string, options?: Abortable) => Promise<void>;
  /** Sends an example of an event once, `user.created` by default, and returns the answer of your server. */
  readonly test: (
    id: string,
    options?: Abortable & { readonly type?: WebhookEventType | undefined },
  ) => Promise<WebhookTest>;
  /** Replaces the secret. For 24 hours, both secrets sign. */
  readonly rotateSecret: (id: string, options?: Abortable) => Promise<WebhookSecret>;
  readonly deliveries: (id: string, query?: ListQuery) => List<WebhookDelivery>;
  /** Sends events again. They keep their ids. */
  readonly replay: (id: string, range: WebhookReplayRange, options?: Abortable) => Promise<WebhookReplay>;
}

const timeText = (time: string | Date | undefined) => (time instanceof Date ? time.toISOString() : time);

export function createWebhooks(connection: Connection): Webhooks {
  const path = '/admin/v1/webhooks';
  const { call, find } = connection;
  const webhookPath = (id: string, suffix = '') => `${path}/${encodeURIComponent(id)}${suffix}`;
  const post = async <T>(to: string, body: object | undefined, { signal }: Abortable = {}) =>
    call<T>({ method: 'POST', path: to, body, signal });

  return {
    create: async (webhook, options) =>
      call<IssuedWebhook>({
        method: 'POST',
        path,
        body: webhook,
        headers: onceHeader(options),
        signal: options.signal,
      }),
    get: async (id, { signal } = {}) => find<Webhook>({ path: webhookPath(id), signal }),
    list: (query = {}) => listOf(connection, path, query),
    change: async (id, change, { signal } = {}) =>
      call<Webhook>({ method: 'PATCH', path: webhookPath(id), body: change, signal }),
    delete: async (id, { signal } = {}) => call<void>({ method: 'DELETE', path: webhookPath(id), signal }),
    test: async (id, { type, signal } = {}) =>
      post<WebhookTest>(webhookPath(id, '/test'), type === undefined ? {} : { type }, { signal }),
    rotateSecret: async (id, options) => post<WebhookSecret>(webhookPath(id, '/rotate-secret'), undefined, options),
    deliveries: (id, query = {}) => listOf(connection, webhookPath(id, '/deliveries'), query),
    async replay(id, range, options) {
      const body =
        range.delivery_ids === undefined
          ? { from: timeText(range.from), ...(range.to !== undefined && { to: timeText(range.to) }) }
          : { delivery_ids: range.delivery_ids };
      return post<WebhookReplay>(webhookPath(id, '/replay'), body, options);
    },
  };
}
