import { System } from '../../../contract/operation/system.js';
import type { App } from '../../requests/route.js';

/** What `GET /admin/v1/system` tells. */
export interface SystemInformation {
  read(): Promise<System>;
}

/** A route about the processes, the database and the configuration. They are the business of operators, so it needs `admin`. */
export function adminSystemRoutes(app: App, { system }: { system: SystemInformation }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/system',
    schema: {
      operationId: 'getSystem',
      summary: 'Get the state of the system',
      description:
        'Version, processes, queue, database, migrations, effective settings without secrets, and the findings of the doctor, which are at most 30 seconds old.',
      tags: ['Administration'],
      response: { 200: { ...System, description: 'The state of the system.' } },
    },
    config: { access: { scope: 'admin' } },
    handler: () => system.read(),
  });
}
