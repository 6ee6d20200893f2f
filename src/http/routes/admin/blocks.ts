import { Type } from 'typebox';
import { Block, NewBlock } from '../../../contract/block.js';
import type { Handle } from '../../../database/database.js';
import { type Blocks, blockFilterFields } from '../../../limits/admission/blocks.js';
import { listRoutes } from '../../lists/list-routes.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, callerAddress, originOf } from '../../requests/route.js';

/** Routes that block addresses. Within two seconds, all instances refuse requests from a blocked address. */
export function adminBlockRoutes(app: App, services: { blocks: Blocks; database: Handle }): void {
  const { blocks, database } = services;
  app.route({
    method: 'POST',
    url: '/admin/v1/blocks',
    schema: {
      operationId: 'createBlock',
      summary: 'Block an address',
      description:
        'Requests from the address or range are refused with 403, address_blocked, on all instances within two seconds. Their open streams end. A block of the same range is replaced.',
      body: NewBlock,
      response: { 201: { ...Block, description: 'The block.' } },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed' },
    async handler(request, reply) {
      const caller = { ...originOf(request), callerAddress: callerAddress(request) };
      const block = await database.transaction((tx) => blocks.create(tx, request.body, caller));
      await blocks.refresh();
      return reply.code(201).send(block);
    },
  });

  listRoutes(app, {
    url: '/admin/v1/blocks',
    operationIds: ['listBlocks', 'getBlockPage'],
    summary: 'List blocked addresses',
    description: 'Blocks that have ended are listed for 30 days.',
    access: { scope: 'admin' },
    item: Block,
    pageTitle: 'BlockPage',
    sortable: ['created_at'],
    filterFields: blockFilterFields,
    filterExample: 'address:like:203.0.113.',
    read: blocks.list,
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/blocks/:id',
    schema: {
      operationId: 'deleteBlock',
      summary: 'Unblock an address',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The block is deleted.' }) },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => blocks.remove(tx, id, originOf(request)));
      await blocks.refresh();
      return reply.code(204).send(null);
    },
  });
}
