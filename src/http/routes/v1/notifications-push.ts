import { Type } from 'typebox';
import { DeliveryTrace, Mute, MuteInput } from '../../../contract/push.js';
import type { Push } from '../../../notifications/push/push.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, sessionOf } from '../../requests/route.js';

/** Routes for mutes and for delivery status. */
export function notificationPushRoutes(app: App, { push }: { push: Push }): void {
  muteRoutes(app, push);
  traceRoutes(app, push);
}

function muteRoutes(app: App, { mutes }: Push): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/mutes',
    schema: {
      operationId: 'listMutes',
      summary: 'List mutes',
      response: { 200: Type.Array(Mute, { description: 'All mutes, newest first.' }) },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      return reply.send(await mutes.list(sessionOf(request).user_id));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/notifications/mutes',
    schema: {
      operationId: 'addMute',
      summary: 'Mute notifications',
      description:
        'Notifications that match the filter stay in the inbox, but are not pushed. A user can have 100 mutes.',
      body: MuteInput,
      response: {
        200: { ...Mute, description: 'A mute with this filter exists already.' },
        201: { ...Mute, description: 'The new mute.' },
      },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const { mute, isNew } = await mutes.add(sessionOf(request).user_id, request.body.filter);
      return reply.code(isNew ? 201 : 200).send(mute);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/notifications/mutes/:id',
    schema: {
      operationId: 'removeMute',
      summary: 'Remove a mute',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The mute is removed.' }) },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request, reply) {
      await mutes.remove(sessionOf(request).user_id, pathId(request.params));
      return reply.code(204).send(null);
    },
  });
}

function traceRoutes(app: App, { traces }: Push): void {
  const description = 'Shows for each device the status of the push, or the reason why there is none.';
  const response = {
    200: { ...DeliveryTrace, description: 'The delivery status. Pushes are kept for 30 days.' },
  };
  app.route({
    method: 'GET',
    url: '/v1/notifications/:id/deliveries',
    schema: {
      operationId: 'traceNotification',
      summary: 'Get delivery status',
      description,
      params: IdParams,
      response,
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request, reply) {
      return reply.send(await traces.traceOf(pathId(request.params), sessionOf(request).user_id));
    },
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/notifications/:id/deliveries',
    schema: {
      operationId: 'traceUserNotification',
      summary: "Get delivery status of a user's notification",
      description,
      params: IdParams,
      response: { 200: { ...response[200] } },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request, reply) {
      return reply.send(await traces.traceOf(pathId(request.params)));
    },
  });
}
