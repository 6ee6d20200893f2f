import type { Core } from '../core.js';
import { deviceKey } from '../postern/login-storage.js';
import { loadPart } from '../transport.js';
import type { DeviceInput } from '../wire.js';

/** This device, with its id if a login has stored one. */
export async function deviceOf({ device: description = loadedDescription, storage }: Core): Promise<DeviceInput> {
  const id = await storage.get(deviceKey);
  return {
    ...(await (typeof description === 'function' ? description() : description)),
    ...(id !== null && { id }),
  };
}

/** The device of a login: with a key, if the storage can keep one. */
export async function loginDeviceOf(core: Core): Promise<DeviceInput> {
  const signer = await core.tokens.signer();
  // A browser that cannot keep keys, such as in a private window, must not keep the user from logging in.
  const jwk = await signer?.publicKey().catch(core.onError);
  return { ...(await deviceOf(core)), ...(jwk && { jwk }) };
}

/** Loaded at the first login, and left out if it cannot be loaded. */
const loadedDescription = () =>
  loadPart(() => import('./browser-device.js')).then(
    ({ deviceOfBrowser }) => deviceOfBrowser(),
    () => ({}),
  );
