import { limited, type MaybePromise, type Unsubscribe, type WebStorageArea, wait } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';
import { stopwatch } from '../time.js';

/** What the storage contains about a login. With a backend, `token` is empty. */
export interface StoredLogin {
  readonly token: string;
  readonly user_id: string;
  readonly device_id: string;
  /** The token is bound to the key of this device. */
  readonly is_bound?: boolean | undefined;
}

/** A storage that never rejects. */
export interface SafeStorage {
  get(key: string): Promise<string | null>;
  /** Whether the value was stored. */
  set(key: string, value: string): Promise<boolean>;
  delete(key: string): Promise<boolean>;
}

export const loginKey = 'postern.login';
/** The token of a logout that Postern does not know of yet. With a backend, it is a mark without a token. */
export const revokeKey = 'postern.revoke';
/** The id of the device. It stays after a logout. */
export const deviceKey = 'postern.device';
/** A call is replacing the token. The value is the time after which others stop waiting for it. */
export const replacingMark = 'postern.replacing';

/** A token that Postern must end. */
export type LoginToken = Pick<StoredLogin, 'token' | 'is_bound'>;

/** The time in milliseconds after which a storage that does not answer counts as failed. */
export const storageTimeoutMs = 10_000;

/** With a backend, nothing is stored or found. */
export const noStorage: PosternStorage = { get: () => null, set: () => undefined, delete: () => undefined };

/** `localStorage`, for the marks of a client whose backend keeps the login. It throws where there is none. */
export function pageStorage(base: string): PosternStorage {
  const area = () => (globalThis as unknown as { readonly localStorage: WebStorageArea }).localStorage;
  return {
    get: (key) => area().getItem(`${key} ${base}`),
    set: (key, value) => area().setItem(`${key} ${base}`, value),
    delete: (key) => area().removeItem(`${key} ${base}`),
  };
}

/** A storage that never rejects. It keeps in memory what it cannot store. */
export function safeStorage(storage: PosternStorage, onError?: (error: unknown) => void): SafeStorage {
  const memory = new Map<string, string>();
  async function attempt<T>(operation: () => MaybePromise<T>): Promise<T | undefined> {
    try {
      return await limited(operation(), storageTimeoutMs);
    } catch (error) {
      onError?.(error);
      return undefined;
    }
  }
  /** Whether a change was stored. */
  const change = async (operation: () => MaybePromise<void>) =>
    (await attempt(async () => {
      await operation();
      return true;
    })) ?? false;
  return {
    get: async (key) => memory.get(key) ?? (await attempt(() => storage.get(key))) ?? null,
    async set(key, value) {
      memory.set(key, value);
      const isStored = await change(() => storage.set(key, value));
      if (isStored) memory.delete(key);
      return isStored;
    },
    delete(key) {
      memory.delete(key);
      return change(() => storage.delete(key));
    },
  };
}

/** The login in the storage. Rejects if the storage cannot be read. */
export async function readLogin(storage: PosternStorage): Promise<StoredLogin | undefined> {
  const text = await storage.get(loginKey);
  try {
    const login = JSON.parse(text ?? 'null');
    return typeof login?.token === 'string' ? login : undefined;
  } catch {
    return undefined;
  }
}

export const writeLogin = (storage: SafeStorage, login: StoredLogin) => storage.set(loginKey, JSON.stringify(login));

/** Whether the page has no such storage, so that it has no login in it either. */
export const isRefusal = (error: unknown) => /Security|Postern/.test((error as Partial<Error> | null)?.name ?? '');

/**
 * Reads the storage. A read that fails does not mean that there is no login, so it is repeated after 1, 2, 4 … seconds, and
 * when the page resumes. Rejects with the last error after `limit` milliseconds, or when the storage is refused.
 */
export async function readWithRetries(
  read: () => Promise<void>,
  limit: number,
  { onResume, requireOpen }: { onResume(wake: () => void): Unsubscribe; requireOpen(): void },
): Promise<void> {
  const elapsed = stopwatch();
  for (let pause = 1000; ; pause *= 2) {
    requireOpen();
    try {
      return await read();
    } catch (error) {
      const left = limit - elapsed();
      if (isRefusal(error) || left <= 0) throw error;
      await wait(Math.min(pause, left), undefined, onResume);
    }
  }
}
