import { DeviceToken, DeviceTokenInput, PushKey, tokenTypes } from '../../../contract/push.js';
import type { DevicePushTokens } from '../../../devices/push-tokens.js';
import { Problem } from '../../../lib/problem.js';
import type { Push } from '../../../notifications/push/push.js';
import { type App, sessionOf } from '../../requests/route.js';

/** Routes that register push tokens. */
export function deviceTokenRoutes(
  app: App,
  { pushTokens, push }: { pushTokens: DevicePushTokens; push: Pick<Push, 'publicKey'> },
): void {
  app.route({
    method: 'POST',
    url: '/v1/devices/tokens',
    schema: {
      operationId: 'registerPushToken',
      summary: "Register a push token for the session's device",
      description:
        'Replaces an earlier token of this type. If another device has the same token, that device loses it.',
      body: DeviceTokenInput,
      response: {
        200: { ...DeviceToken, description: 'The device had this token already.' },
        201: { ...DeviceToken, description: 'The token is registered.' },
      },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const { type, token } = request.body;
      const { user_id, device_id } = sessionOf(request);
      const isNew = await pushTokens.register({ user_id, device_id }, type, token);
      const enabled = pushTokens.isEnabled(type);
      return reply.code(isNew ? 201 : 200).send({ type, device_id, channel: tokenTypes[type], enabled });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/push/key',
    schema: {
      operationId: 'getPushKey',
      summary: 'Get the VAPID public key',
      description: 'The key with which a browser subscribes to push.',
      response: { 200: { ...PushKey, description: 'The key of this installation.' } },
    },
    config: { access: 'public', problems: ['not_found'] },
    async handler(_request, reply) {
      if (push.publicKey === undefined) throw new Problem('not_found');
      return reply.send({ public_key: push.publicKey });
    },
  });
}
