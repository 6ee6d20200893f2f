import type { Core, StoredLogin } from '../core.js';
import { deviceKey, loginKey, revokeKey, writeLogin } from '../postern/login-storage.js';

/** Stores a new login. @param onDone called when somebody is signed in, before the listeners of the client */
export async function storeLogin(
  { requireOpen, held, storage, usesBackend, marks, tabs }: Core,
  { token = '', user_id, device_id, is_bound }: Omit<StoredLogin, 'token'> & { readonly token?: string | undefined },
  onDone: () => void,
): Promise<void> {
  requireOpen();
  const next = { token, user_id, device_id, ...(is_bound && { is_bound }) };
  await held.inOrder(async () => {
    const [isStored] = await Promise.all([
      writeLogin(storage, next),
      storage.set(deviceKey, device_id),
      // The token of a logout may be that of another user: the next start revokes it.
      usesBackend && marks.delete(revokeKey),
    ]);
    // The next start must not find the login of a former user.
    if (!isStored) await storage.delete(loginKey);
    held.set(next, 'ended', undefined, onDone);
    held.isStored = isStored;
    tabs.notify('login');
  });
}
