import type { Abortable, List, ListQuery } from '@postern/client';
import { listOf } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import { type OnceOptions, onceHeader } from '../publishing/idempotency.js';
import type { ApiKey, AuditEvent, IssuedApiKey, NewApiKey, OutboxMessage } from '../wire.js';
import { createUsers, type Users } from './users.js';
import { createWebhooks, type Webhooks } from './webhooks.js';

/** Operations of the admin API. Each needs an API key that has the scope of its route. */
export interface Administration {
  readonly users: Users;
  readonly keys: {
    /** Creates an API key. Only this answer contains the key itself. */
    readonly create: (
      key: Omit<NewApiKey, 'expires_at'> & { readonly expires_at?: string | Date | undefined },
      options: OnceOptions,
    ) => Promise<IssuedApiKey>;
    /** Lists the API keys, without the keys themselves. */
    readonly list: (query?: ListQuery) => List<ApiKey>;
    /** Makes the API key with this id invalid. */
    readonly revoke: (id: string, options?: Abortable) => Promise<void>;
  };
  readonly webhooks: Webhooks;
  /** Lists the audit events. */
  readonly events: (query?: ListQuery) => List<AuditEvent>;
  /** Lists the messages that contain codes and notices, with the state of each message. */
  readonly outbox: (query?: ListQuery) => List<OutboxMessage>;
}

export function createAdministration(connection: Connection): Administration {
  const { call } = connection;
  const keysPath = '/admin/v1/keys';
  return {
    users: createUsers(connection),
    keys: {
      async create({ expires_at: expiresAt, ...key }, options) {
        const body = {
          ...key,
          ...(expiresAt !== undefined && {
            expires_at: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt,
          }),
        };
        const { signal } = options;
        return call<IssuedApiKey>({ method: 'POST', path: keysPath, body, headers: onceHeader(options), signal });
      },
      list: (query = {}) => listOf(connection, keysPath, query),
      revoke: async (id, { signal } = {}) =>
        call<void>({ method: 'DELETE', path: `${keysPath}/${encodeURIComponent(id)}`, signal }),
    },
    webhooks: createWebhooks(connection),
    events: (query = {}) => listOf(connection, '/admin/v1/events', query),
    outbox: (query = {}) => listOf(connection, '/admin/v1/outbox', query),
  };
}
