import type { Exports } from '../../../authentication/users/export.js';
import { exportSchema, sendExport } from '../../export-answer.js';
import { IdParams, pathId } from '../../path-id.js';
import type { App } from '../../route.js';

/** Everything of one user, for who must hand it out. */
export function adminUserExportRoutes(app: App, { exports }: { exports: Exports }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id/export',
    schema: {
      operationId: 'exportUser',
      summary: 'Download everything that is stored of a user',
      description: 'What the user gets by GET /v1/account/export.',
      tags: ['Administration'],
      params: IdParams,
      response: { 200: exportSchema },
    },
    config: { access: { scope: 'users:read' }, isBounded: true, problems: ['not_found', 'too_many_requests'] },
    async handler(request, reply) {
      await sendExport(request, reply, exports, pathId(request.params));
    },
  });
}
