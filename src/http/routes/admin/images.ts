import { Image, ImageInput } from '../../../contract/notification.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { Idempotent } from '../../idempotent.js';
import type { App } from '../../route.js';

/** Images that notifications show. */
export function adminImageRoutes(
  app: App,
  { notifications, idempotent }: { notifications: Notifications; idempotent: Idempotent },
): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/images',
    schema: {
      operationId: 'createImage',
      summary: 'Add an image by its URL',
      description: 'The image stays where it is hosted: its three URLs are that URL.',
      tags: ['Administration'],
      body: ImageInput,
      response: { 201: { ...Image, description: 'The image, for `image_id` of notifications.' } },
    },
    config: { access: { scope: 'notifications:write' }, idempotent: true },
    handler: async (request, reply) =>
      idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await notifications.createImage(tx, request.body.url) })),
      ),
  });
}
