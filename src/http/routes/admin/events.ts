import { eventFilterFields } from '../../../audit/event-list.js';
import { Event } from '../../../contract/administration.js';
import type { Activity } from '../../../users/activity.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { App } from '../../requests/route.js';

/** A route that lists audit events. It shows the actions of operators and keys, so it needs `admin`. */
export function adminEventRoutes(app: App, { activity }: { activity: Activity }): void {
  listRoutes(app, {
    url: '/admin/v1/events',
    operationIds: ['listEvents', 'getEventPage'],
    summary: 'List audit events',
    description: 'Events of all accounts, deleted ones included, and of API keys.',
    tag: 'Administration',
    access: { scope: 'admin' },
    item: Event,
    pageTitle: 'AuditEventPage',
    sortable: ['created_at'],
    filterFields: eventFilterFields,
    filterExample: 'type:user.locked',
    read: activity.list,
  });
}
