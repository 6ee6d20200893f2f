import { UsageError } from '../errors.js';
import type { MaybePromise, WebStorageArea } from '../platform.js';

/**
 * Where the login is kept. Keys match `[A-Za-z0-9._-]+`, values are opaque text of up to 1 KiB. If a storage throws, the login
 * continues in memory, and `onError` of the client gets the error. If `get` throws when the client starts, the client tries again.
 *
 * @example
 * ```ts
 * import { createPostern, type PosternStorage } from '@postern/client';
 * // In a React Native app: import * as SecureStore from 'expo-secure-store';
 * declare const SecureStore: {
 *   getItemAsync(key: string): Promise<string | null>;
 *   setItemAsync(key: string, value: string): Promise<void>;
 *   deleteItemAsync(key: string): Promise<void>;
 * };
 *
 * const storage: PosternStorage = {
 *   get: (key) => SecureStore.getItemAsync(key),
 *   set: (key, value) => SecureStore.setItemAsync(key, value),
 *   delete: (key) => SecureStore.deleteItemAsync(key),
 * };
 * export const postern = createPostern({
 *   url: 'https://auth.example.com',
 *   storage,
 *   device: { make: 'Google', model: 'Pixel 9', os_name: 'Android' },
 * });
 * ```
 */
export interface PosternStorage {
  readonly get: (key: string) => MaybePromise<string | null>;
  readonly set: (key: string, value: string) => MaybePromise<void>;
  readonly delete: (key: string) => MaybePromise<void>;
  /**
   * For storages that can keep a key pair of WebCrypto that cannot be exported, such as IndexedDB. With both members, logins are
   * bound to such a key. Leave them out if your storage would have to write the key as text.
   */
  readonly getKey?: (key: string) => MaybePromise<object | null>;
  /** Keeps a key pair unless there is one already. @returns the one that is kept */
  readonly addKey?: (key: string, pair: object) => MaybePromise<object>;
}

/**
 * Keeps the login until the page or the process ends. For tests, kiosks and scripts.
 *
 * @example
 * ```ts
 * import { createPostern, memoryStorage } from '@postern/client';
 *
 * export const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
 * ```
 */
export function memoryStorage(): PosternStorage {
  const values = new Map<string, string>();
  const keys = new Map<string, object>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
    getKey: (key) => keys.get(key) ?? null,
    addKey(key, pair) {
      if (!keys.has(key)) keys.set(key, pair);
      return keys.get(key) ?? pair;
    },
  };
}

/**
 * Keeps the login in `localStorage` or `sessionStorage`. Every script of the page can read it there, also a malicious one.
 *
 * @example
 * ```ts
 * import { createPostern, webStorage } from '@postern/client';
 *
 * export const postern = createPostern({ url: 'https://auth.example.com', storage: webStorage('session') });
 * ```
 */
export function webStorage(area: 'local' | 'session' = 'local'): PosternStorage {
  if (area !== 'local' && area !== 'session') throw new UsageError("webStorage takes 'local' or 'session'.");
  const name = `${area}Storage` as const;
  const store = (): WebStorageArea => {
    const storage = (
      globalThis as { readonly localStorage?: WebStorageArea; readonly sessionStorage?: WebStorageArea }
    )[name];
    if (storage === undefined)
      throw new UsageError(`There is no ${name} here. Use memoryStorage() or a storage of your own.`);
    return storage;
  };
  return {
    get: (key) => store().getItem(key),
    set: (key, value) => store().setItem(key, value),
    delete: (key) => store().removeItem(key),
  };
}
