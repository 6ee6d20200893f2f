import { OutboxMessage } from '../../../contract/administration.js';
import { type Outbox, outboxFilterFields } from '../../../messages/outbox.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, callerOf, originOf, requireScope } from '../../requests/route.js';

/** Routes that list messages, and send a failed one again. Only `admin` sees codes: a code lets the reader log in as the user. */
export function adminOutboxRoutes(app: App, { outbox, idempotent }: { outbox: Outbox; idempotent: Idempotent }): void {
  listRoutes(app, {
    url: '/admin/v1/outbox',
    operationIds: ['listOutbox', 'getOutboxPage'],
    summary: 'List messages',
    description: 'Sent and queued messages. With the console provider, a key with the scope admin also sees the codes.',
    access: { scope: 'users:read' },
    item: OutboxMessage,
    pageTitle: 'OutboxMessagePage',
    sortable: ['created_at', 'updated_at'],
    filterFields: outboxFilterFields,
    filterExample: 'state:failed',
    read: (query, request) => outbox.list(query, { withCodes: callerOf(request).scopes.includes('admin') }),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/outbox/:id/retry',
    schema: {
      operationId: 'retryMessage',
      summary: 'Send a failed message again',
      description:
        'Queues the same message, with the same code, for its recipient. A message that is queued already stays as it is. A code can be sent again while it is valid and its login waits for it.',
      params: IdParams,
      response: { 200: { ...OutboxMessage, description: 'The queued message.' } },
    },
    config: {
      access: { scope: 'users:write' },
      recentProof: 'not-needed',
      idempotent: true,
      problems: ['not_found', 'message_not_failed', 'message_outdated', 'message_tried_too_often'],
    },
    async handler(request, reply) {
      const id = pathId(request.params);
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => {
          const { message, isChanged } = await outbox.retry(tx, id, originOf(request));
          if (!isChanged) requireScope(callerOf(request), 'users:read');
          return { status: 200, body: message };
        }),
      );
    },
  });
}
