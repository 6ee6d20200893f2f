import { Type } from 'typebox';
import { type Outbox, outboxFilterFields } from '../../../authentication/messages/outbox.js';
import { OutboxMessage } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import type { QueryParameters } from '../../list-query.js';
import { type App, callerOf } from '../../route.js';

const sortable = ['created_at', 'updated_at'] as const;
const readQuery = (query: QueryParameters) => readListQuery(query, sortable, outboxFilterFields);

/** What was sent. Support sees whether a message went out; its code would let the reader in as the user. */
export function adminOutboxRoutes(app: App, { outbox }: { outbox: Outbox }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/outbox',
    schema: {
      operationId: 'listOutbox',
      summary: 'List messages',
      description:
        'What was sent, or is about to be. With the console provider, a key with the scope admin sees the codes.',
      tags: ['Administration'],
      querystring: ListQuery(sortable, 'state:failed'),
      response: { 200: Type.Array(OutboxMessage, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: { scope: 'users:read' }, checkQuery: readQuery },
    async handler(request, reply) {
      const query = readQuery(request.query);
      const withCodes = callerOf(request).scopes.includes('admin');
      return sendPage(reply, '/admin/v1/outbox', query, await outbox.list(query, { withCodes }));
    },
  });
}
