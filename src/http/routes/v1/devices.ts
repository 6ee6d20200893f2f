import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { UserDevice } from '../../../contract/administration.js';
import { Device, DeviceDescription, RemovedDevice } from '../../../contract/device.js';
import { type Devices, deviceFilterFields } from '../../../devices/devices.js';
import { listRoutes } from '../../lists/list-routes.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf, sessionOf } from '../../requests/route.js';

/** The two forms of each route: for the device of the session, and for the device in the path. */
const targets = [
  { url: '/v1/devices/current', name: 'CurrentDevice', label: 'the device of this session', params: Type.Object({}) },
  { url: '/v1/devices/:id', name: 'Device', label: 'one of your devices', params: IdParams },
] as const;

/** Routes for a user's own devices. */
export function deviceRoutes(app: App, { devices }: { devices: Devices }): void {
  listRoutes(app, {
    url: '/v1/devices',
    operationIds: ['listDevices', 'getDevicePage'],
    summary: 'List your devices',
    description: 'Devices on which a login was approved, without removed ones.',
    access: 'session',
    item: Device,
    pageTitle: 'DevicePage',
    sortable: ['created_at', 'updated_at'],
    filterFields: deviceFilterFields,
    filterExample: 'os_name:iOS',
    async read(query, request) {
      const page = await devices.list(sessionOf(request).user_id, query);
      return { ...page, items: page.items.map((device) => toDevice(device, request)) };
    },
  });
  for (const target of targets) deviceRoute(app, devices, target);
}

function deviceRoute(app: App, devices: Devices, { url, name, label, params }: (typeof targets)[number]): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: `get${name}`,
      summary: `Get ${label}`,
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
      summary: `Describe ${label}`,
      description: 'Replaces the whole description. A missing member becomes null. Push tokens are kept.',
      params,
      body: DeviceDescription,
      response: { 200: { ...Device, description: 'The changed device.' } },
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
      summary: `Remove ${label}`,
      description:
        'Ends its tokens, sessions, streams and push at once, on every instance. Logins on it that are not finished fail. You can remove the device of the current session: that session ends.',
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

/** @throws Problem `not_found` if the text in the path is no id */
function deviceIdOf(request: FastifyRequest): string {
  const params = request.params as { readonly id?: string };
  return params.id === undefined ? sessionOf(request).device_id : pathId({ id: params.id });
}

function toDevice(device: UserDevice, request: FastifyRequest): Device {
  return { ...device, current: device.id === sessionOf(request).device_id };
}
