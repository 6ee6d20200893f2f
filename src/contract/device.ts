import { type Static, Type } from 'typebox';
import { exampleDevice, UserDevice } from './administration.js';
import { DeviceInput } from './authentication.js';
import { Id } from './common.js';

const { make, model, os_name, os_version, sdk_version, screen_width, screen_height } = DeviceInput.properties;

/** The description of a device, with the same rules as at login. A missing member becomes null. */
export const DeviceDescription = Type.Object(
  { make, model, os_name, os_version, sdk_version, screen_width, screen_height },
  {
    title: 'DeviceDescription',
    examples: [{ make: 'Apple', model: 'iPhone', os_name: 'iOS', os_version: '18.1', screen_width: 1179 }],
  },
);
export type DeviceDescription = Static<typeof DeviceDescription>;

/** One of the caller's own devices. */
export const Device = Type.Object(
  {
    ...UserDevice.properties,
    current: Type.Boolean({ description: 'Whether it is the device of the current session.' }),
  },
  { title: 'Device', examples: [{ ...exampleDevice, current: true }] },
);
export type Device = Static<typeof Device>;

export const RemovedDevice = Type.Object({ id: Id }, { title: 'RemovedDevice', examples: [{ id: exampleDevice.id }] });
