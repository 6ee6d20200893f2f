import type { Abortable, List, ListQuery } from '@postern/client';
import { listOf } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import { type OnceOptions, onceHeader } from '../publishing/idempotency.js';
import type { ApiKey, AuditEvent, IssuedApiKey, NewApiKey, OutboxMessage } from '../wire.js';
import { createUsers, type Users } from './users.js';

/** The work of operators, with an API key that has the scopes. */
export interface Administration {
  readonly users: Users;
  readonly keys: {
    /** The answer has the key. It is shown only once. */
    readonly create: (
      key: Omit<NewApiKey, 'expires_at'> & { readonly expires_at?: string | Date | undefined },
      options: OnceOptions,
    ) => Promise<IssuedApiKey>;
    readonly list: (query?: ListQuery) => List<ApiKey>;
    readonly revoke: (id: string, options?: Abortable) => Promise<void>;
  };
  /** The audit events. */
  readonly events: (query?: ListQuery) => List<AuditEvent>;
  /** Messages with codes and notices, and their states. */
  readonly outbox: (query?: ListQuery) => List<OutboxMessage>;
}

export function createAdministration(connection: Connection): Administration {
  const { call } = connection;
  const keysPath = '/admin/v1/keys';
  return {
    users: createUsers(connection),
    keys: {
      async create({ expires_at: end, ...key }, options) {
        const body = {
          ...key,
          ...(end !== undefined && { expires_at: end instanceof Date ? end.toISOString() : end }),
        };
        const { signal } = options;
        return call<IssuedApiKey>({ method: 'POST', path: keysPath, body, headers: onceHeader(options), signal });
      },
      list: (query = {}) => listOf(connection, keysPath, query),
      revoke: async (id, { signal } = {}) =>
        call<void>({ method: 'DELETE', path: `${keysPath}/${encodeURIComponent(id)}`, signal }),
    },
    events: (query = {}) => listOf(connection, '/admin/v1/events', query),
    outbox: (query = {}) => listOf(connection, '/admin/v1/outbox', query),
  };
}
