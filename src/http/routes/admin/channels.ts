import { Type } from 'typebox';
import { Channel, ChannelChange } from '../../../contract/channel.js';
import type { Handle } from '../../../database/database.js';
import type { Channels } from '../../../notifications/channels/channels.js';
import { type App, memberOf, originOf } from '../../requests/route.js';

const access = { scope: 'notifications:configure' } as const;

/** Routes that hold the steps of a channel without a restart. Within two seconds, all instances use a change. */
export function adminChannelRoutes(
  app: App,
  { channels, database }: { readonly channels: Channels; readonly database: Handle },
): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/channels',
    schema: {
      operationId: 'listChannels',
      summary: 'List the channels of notifications',
      response: { 200: Type.Array(Channel, { description: 'push, email and sms.' }) },
    },
    config: { access },
    handler: async () => channels.list(),
  });

  app.route({
    method: 'PUT',
    url: '/admin/v1/channels/:name',
    schema: {
      operationId: 'putChannel',
      summary: 'Pause a channel of notifications, or end its pause',
      description:
        'While a channel is paused, its steps wait. What is too late when the pause ends expires. Codes and notices go on. Postern pauses email by itself after too many complaints or hard bounces.',
      params: Type.Object({ name: Type.String({ maxLength: 255 }) }),
      body: ChannelChange,
      response: { 200: { ...Channel, description: 'The channel.' } },
    },
    config: {
      access,
      recentProof: {
        when: 'paused is false',
        applies: (request) => memberOf(request, 'paused') !== true,
      },
      problems: ['not_found'],
    },
    async handler(request) {
      const channel = await database.transaction((tx) =>
        channels.set(tx, request.params.name, request.body.paused, originOf(request)),
      );
      await channels.refresh();
      return channel;
    },
  });
}
