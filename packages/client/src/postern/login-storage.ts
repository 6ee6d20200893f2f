import type { SafeStorage, StoredLogin } from '../core.js';
import type { MaybePromise } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';

const loginKey = 'postern.login';
const revokeKey = 'postern.revoke';
/** The id of the device. It stays after a logout. */
export const deviceKey = 'postern.device';

/** A token that Postern must end. */
export type LoginToken = Pick<StoredLogin, 'token' | 'is_bound'>;

/** The storage of the app. If it fails, the login continues in memory. With a backend, nothing is stored or found. */
export function safeStorage(
  storage: 'backend' | PosternStorage,
  onError: ((error: unknown) => void) | undefined,
): SafeStorage {
  async function attempt<T>(operation: (store: PosternStorage) => MaybePromise<T>): Promise<T | null> {
    if (storage === 'backend') return null;
    try {
      return await operation(storage);
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
    const login = JSON.parse((await storage.get(loginKey)) ?? 'null');
    return typeof login?.token === 'string' ? login : undefined;
  } catch {
    return undefined;
  }
}

export const writeLogin = (storage: SafeStorage, login: StoredLogin) => storage.set(loginKey, JSON.stringify(login));

/** @param tokenToRevoke the token of the login, if Postern must still end it */
export async function removeLogin(storage: SafeStorage, tokenToRevoke?: LoginToken): Promise<void> {
  if (tokenToRevoke !== undefined) await storage.set(revokeKey, JSON.stringify(tokenToRevoke));
  await storage.delete(loginKey);
}

/** The token of a logout whose request was lost. */
export async function readTokenToRevoke(storage: SafeStorage): Promise<LoginToken | undefined> {
  const text = await storage.get(revokeKey);
  if (text === null) return undefined;
  // Earlier versions stored the token alone.
  return text.startsWith('{') ? JSON.parse(text) : { token: text };
}

export const removeTokenToRevoke = (storage: SafeStorage) => storage.delete(revokeKey);
