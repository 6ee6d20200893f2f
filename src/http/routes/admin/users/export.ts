import type { Exports } from '../../../../users/export.js';
import { exportSchema, sendExport } from '../../../requests/export-answer.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import type { App } from '../../../requests/route.js';

/** A route that exports all data of a user, for operators. */
export function adminUserExportRoutes(app: App, { exports }: { exports: Exports }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id/export',
    schema: {
      operationId: 'exportUser',
      summary: "Download all of a user's data",
      description: 'The same file as the user gets with GET /v1/account/export.',
      params: IdParams,
      response: { 200: exportSchema },
    },
    config: {
      access: { scope: 'users:read' },
      recentProof: 'needed',
      hasNoHandlerTimer: true,
      problems: ['not_found', 'too_many_requests'],
    },
    async handler(request, reply) {
      await sendExport(request, reply, exports, pathId(request.params));
    },
  });
}
