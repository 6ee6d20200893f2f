import { coreOf } from './core.js';
import { type List, type ListQuery, listOf } from './lists.js';
import type { Abortable } from './platform.js';
import type { DeviceDescription, Postern } from './types.js';
import type { Device } from './wire.js';

/** The devices on which the user is signed in. `current` as an id is the device of this session. */
export interface Devices {
  readonly list: (query?: ListQuery<'created_at' | 'updated_at'>) => List<Device>;
  readonly get: (id: string, options?: Abortable) => Promise<Device>;
  /** Replaces the whole description. */
  readonly describe: (id: string, description: DeviceDescription, options?: Abortable) => Promise<Device>;
  /** Signs the device out: its next request is refused. For the current device, use `postern.logOut`. */
  readonly remove: (id: string, options?: Abortable) => Promise<void>;
}

/**
 * Lists and signs out the devices of the user.
 *
 * @example
 * ```ts
 * import { createDevices, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const devices = createDevices(postern);
 * for await (const { id, model, current } of devices.list()) {
 *   if (!current && model === 'A lost phone') await devices.remove(id);
 * }
 * ```
 */
export function createDevices(postern: Postern): Devices {
  const core = coreOf(postern);
  const pathOf = (id: string) => `/v1/devices/${encodeURIComponent(id)}`;
  return {
    list: (query = {}) => listOf(core, '/v1/devices', query),
    get: (id, { signal } = {}) => core.call({ path: pathOf(id), signal }),
    describe: (id, body, { signal } = {}) => core.call({ method: 'PUT', path: pathOf(id), body, signal }),
    async remove(id, { signal } = {}) {
      await core.call({ method: 'DELETE', path: pathOf(id), signal });
      // If it was this device, the client finds out at once that it is signed out.
      await postern.getSession({ fresh: true });
    },
  };
}
