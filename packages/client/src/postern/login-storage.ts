import type { SafeStorage, StoredLogin } from '../core.js';
import type { MaybePromise } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';

const loginKey = 'postern.login';
const revokeKey = 'postern.revoke';
/** The id of the device. It stays after a logout. */
export const deviceKey = 'postern.device';

/** A token that Postern must end. */
export type HeldToken = Pick<StoredLogin, 'token' | 'is_bound'>;

/** The storage of the app. If it fails, the login goes on in memory. With a backend nothing is stored, and nothing is found. */
export function safeStorage(
  storage: 'backend' | PosternStorage,
  onError: ((error: unknown) => void) | undefined,
): SafeStorage {
  async function attempt<T>(act: (store: PosternStorage) => MaybePromise<T>): Promise<T | null> {
    if (storage === 'backend') return null;
    try {
      return await act(storage);
    } catch (error) {
      onError?.(error);
      return null;
    }
  }
  return {
    get: (key) => attempt((store) => store.get(key)),
    set: (key, value) => attempt((store) => store.set(key, value)),
    delete: (key) => attempt((store) => store.delete(key)),
  };
}

export async function readLogin(storage: SafeStorage): Promise<StoredLogin | undefined> {
  try {
    const read = JSON.parse((await storage.get(loginKey)) ?? 'null');
    return typeof read?.token === 'string' ? read : undefined;
  } catch {
    return undefined;
  }
}

export const writeLogin = (storage: SafeStorage, login: StoredLogin) => storage.set(loginKey, JSON.stringify(login));

/** @param unended the token of the login, if Postern must still end it */
export async function removeLogin(storage: SafeStorage, unended?: HeldToken): Promise<void> {
  if (unended !== undefined) await storage.set(revokeKey, JSON.stringify(unended));
  await storage.delete(loginKey);
}

/** The token of a logout whose request was lost. */
export async function readUnended(storage: SafeStorage): Promise<HeldToken | undefined> {
  const text = await storage.get(revokeKey);
  if (text === null) return undefined;
  // Earlier versions stored the token alone.
  return text.startsWith('{') ? JSON.parse(text) : { token: text };
}

export const removeUnended = (storage: SafeStorage) => storage.delete(revokeKey);
