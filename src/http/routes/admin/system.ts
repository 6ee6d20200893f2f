import { System } from '../../../contract/operation/system.js';
import type { App } from '../../requests/route.js';

/** Reads the answer of `GET /admin/v1/system`. */
export interface SystemInformation {
  read(): Promise<System>;
}

/** A route about the processes, the database and the configuration. Only operators need them, so it demands `admin`. */
export function adminSystemRoutes(app: App, { system }: { system: SystemInformation }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/system',
    schema: {
      operationId: 'getSystem',
      summary: 'Get the state of the system',
      description:
        'Version, processes, queue, database, migrations, effective settings without secrets, and the findings of the doctor, which are at most 30 seconds old.',
      response: { 200: { ...System, description: 'The state of the system.' } },
    },
    config: { access: { scope: 'admin' } },
    handler: () => system.read(),
  });
}
