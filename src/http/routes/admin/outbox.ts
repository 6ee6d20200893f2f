import { OutboxMessage } from '../../../contract/administration.js';
import { type Outbox, outboxFilterFields } from '../../../messages/outbox.js';
import { listRoutes } from '../../lists/list-routes.js';
import { type App, callerOf } from '../../requests/route.js';

/** Lists sent and queued messages. Only `admin` sees codes: a code lets the reader log in as the user. */
export function adminOutboxRoutes(app: App, { outbox }: { outbox: Outbox }): void {
  listRoutes(app, {
    url: '/admin/v1/outbox',
    operationIds: ['listOutbox', 'getOutboxPage'],
    summary: 'List messages',
    description: 'Sent and queued messages. With the console provider, a key with the scope admin also sees the codes.',
    tag: 'Administration',
    access: { scope: 'users:read' },
    item: OutboxMessage,
    pageTitle: 'OutboxMessagePage',
    sortable: ['created_at', 'updated_at'],
    filterFields: outboxFilterFields,
    filterExample: 'state:failed',
    read: (query, request) => outbox.list(query, { withCodes: callerOf(request).scopes.includes('admin') }),
  });
}
