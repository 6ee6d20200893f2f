import type { Core } from '../core.js';
import { platform } from '../platform.js';
import { deviceKey } from '../postern/login-storage.js';
import type { DeviceDescription } from '../types.js';
import type { DeviceInput } from '../wire.js';

/** This device, with its id if a login has stored one. */
export async function deviceOf({ device: description = deviceOfBrowser, storage }: Core): Promise<DeviceInput> {
  const id = await storage.get(deviceKey);
  return {
    ...(await (typeof description === 'function' ? description() : description)),
    ...(id !== null && { id }),
  };
}

/** The device of a login: with a key, if the storage can keep one. */
export async function loginDeviceOf(core: Core): Promise<DeviceInput> {
  const signer = await core.signer();
  // A browser that cannot keep keys, such as in a private window, must not keep the user from logging in.
  const jwk = await signer?.publicKey().catch(core.onError);
  return { ...(await deviceOf(core)), ...(jwk && { jwk }) };
}

/** The description of the device that the browser gives. */
function deviceOfBrowser(): DeviceDescription {
  const { navigator, screen } = platform();
  const os = navigator?.userAgentData?.platform ?? navigator?.platform;
  return { ...(os && { os_name: os }), ...(screen && { screen_width: screen.width, screen_height: screen.height }) };
}
