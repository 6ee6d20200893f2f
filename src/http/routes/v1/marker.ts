import { Marker, MarkerInput } from '../../../contract/changes.js';
import type { ReadPositions } from '../../../notifications/inbox/read-position.js';
import { type App, sessionOf } from '../../requests/route.js';

/** Routes for the read position of a user; the API calls it the marker. */
export function markerRoutes(app: App, { markers }: { markers: ReadPositions }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/marker',
    schema: {
      operationId: 'getMarker',
      summary: 'Get the read position (marker)',
      description: "The user's read position, shared by all devices, and the number of unread notifications.",
      response: { 200: { ...Marker, description: 'The read position. `updated_at` is null if it was never set.' } },
    },
    config: { access: 'session' },
    handler: async (request, reply) => reply.send(await markers.read(sessionOf(request).user_id)),
  });

  app.route({
    method: 'PUT',
    url: '/v1/notifications/marker',
    schema: {
      operationId: 'moveMarker',
      summary: 'Move the read position (marker)',
      description:
        'Moves it to a sequence or to a notification. It never moves back, and never beyond the last notification. The streams of the user get the event `marker`.',
      body: MarkerInput,
      response: { 200: { ...Marker, description: 'The new read position.' } },
    },
    config: { access: 'session' },
    handler: async (request, reply) => reply.send(await markers.move(sessionOf(request).user_id, request.body)),
  });
}
