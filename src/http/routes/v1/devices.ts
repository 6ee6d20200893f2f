import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Devices, deviceFilterFields } from '../../../authentication/devices/devices.js';
import type { UserDevice } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import { Device, DeviceDescription, RemovedDevice } from '../../../contract/device.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, originOf, sessionOf } from '../../route.js';

const sortable = ['created_at', 'updated_at'] as const;

/** Which device a route is about: the one of the session, or the one that the path names. */
const targets = [
  { url: '/v1/devices/current', name: 'CurrentDevice', what: 'the device of this session', params: Type.Object({}) },
  { url: '/v1/devices/:id', name: 'Device', what: "one of one's own devices", params: IdParams },
] as const;

/** A user's own devices: what they are, and getting rid of one. */
export function deviceRoutes(app: App, { devices }: { devices: Devices }): void {
  app.route({
    method: 'GET',
    url: '/v1/devices',
    schema: {
      operationId: 'listDevices',
      summary: "List one's own devices",
      description: 'Those on which a login was approved and that were not removed since.',
      tags: ['Devices'],
      querystring: ListQuery(sortable, 'os_name:iOS'),
      response: { 200: Type.Array(Device, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const query = readListQuery(request.query, sortable, deviceFilterFields);
      const page = await devices.list(sessionOf(request).user_id, query);
      const items = page.items.map((device) => toDevice(device, request));
      return sendPage(reply, '/v1/devices', query, { ...page, items });
    },
  });
  for (const target of targets) deviceRoute(app, devices, target);
}

function deviceRoute(app: App, devices: Devices, { url, name, what, params }: (typeof targets)[number]): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: `get${name}`,
      summary: `Get ${what}`,
      tags: ['Devices'],
      params,
      response: { 200: { ...Device, description: 'The device.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      return toDevice(await devices.get(sessionOf(request).user_id, deviceIdOf(request)), request);
    },
  });

  app.route({
    method: 'PUT',
    url,
    schema: {
      operationId: `put${name}`,
      summary: `Describe ${what}`,
      description: 'Replaces the whole description: what is missing is null from then on. Push tokens stay.',
      tags: ['Devices'],
      params,
      body: DeviceDescription,
      response: { 200: { ...Device, description: 'The device as it is described now.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      const { user_id } = sessionOf(request);
      return toDevice(await devices.describe(user_id, deviceIdOf(request), request.body, originOf(request)), request);
    },
  });

  app.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: `delete${name}`,
      summary: `Remove ${what}`,
      description:
        'Ends its tokens, sessions and streams at once and on every instance, and its push; logins that are under way on it fail. The device of the session that asks may be removed too: then that session has ended.',
      tags: ['Devices'],
      params,
      response: { 200: { ...RemovedDevice, description: 'The device was removed.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      const id = deviceIdOf(request);
      await devices.remove(sessionOf(request).user_id, id, originOf(request));
      return { id };
    },
  });
}

/** @throws Problem `not_found`: a text that is no id names nothing. */
function deviceIdOf(request: FastifyRequest): string {
  const params = request.params as { readonly id?: string };
  return params.id === undefined ? sessionOf(request).device_id : pathId({ id: params.id });
}

function toDevice(device: UserDevice, request: FastifyRequest): Device {
  return { ...device, current: device.id === sessionOf(request).device_id };
}
