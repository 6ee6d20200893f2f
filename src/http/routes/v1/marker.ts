import { Marker, MarkerInput } from '../../../contract/changes.js';
import type { Markers } from '../../../notifications/marker.js';
import { type App, sessionOf } from '../../route.js';

/** Up to where a user has read. */
export function markerRoutes(app: App, { markers }: { markers: Markers }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/marker',
    schema: {
      operationId: 'getMarker',
      summary: 'Get the marker',
      description: 'Up to where the user has read, on whatever device, and how many notifications are behind it.',
      tags: ['Notifications'],
      response: { 200: { ...Marker, description: 'The marker; `updated_at` is null before the first.' } },
    },
    config: { access: 'session' },
    handler: async (request, reply) => reply.send(await markers.read(sessionOf(request).user_id)),
  });

  app.route({
    method: 'PUT',
    url: '/v1/notifications/marker',
    schema: {
      operationId: 'moveMarker',
      summary: 'Move the marker',
      description:
        'To a sequence, or to one of the notifications. It never moves back, and never beyond what there is; streams of the user get the event `marker`.',
      tags: ['Notifications'],
      body: MarkerInput,
      response: { 200: { ...Marker, description: 'The marker as it is now.' } },
    },
    config: { access: 'session' },
    handler: async (request, reply) => reply.send(await markers.move(sessionOf(request).user_id, request.body)),
  });
}
