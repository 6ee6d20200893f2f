import { UsageError } from '../errors.js';
import type { PosternStorage } from './storage.js';

// The part of IndexedDB that is used, so that the types need neither DOM nor workers.
interface DbRequest<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
}
interface OpenRequest extends DbRequest<Db> {
  onupgradeneeded: ((event: never) => unknown) | null;
}
interface Db {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: 'readonly' | 'readwrite'): Transaction;
  close(): void;
  onversionchange: ((event: never) => unknown) | null;
}
interface Transaction {
  objectStore(name: string): ObjectStore;
  readonly error: unknown;
  oncomplete: ((event: never) => unknown) | null;
  onabort: ((event: never) => unknown) | null;
}
/** The values of a database. */
export interface ObjectStore {
  get(key: string): DbRequest<unknown>;
  getAll(): DbRequest<unknown[]>;
  put(value: unknown, key: string): unknown;
  delete(key: string): unknown;
  clear(): unknown;
}

const storeName = 'values';

/** Opens a database with one store of values when it is first used. */
export function openValues(name: string) {
  let opened: Promise<Db> | undefined;

  function open(): Promise<Db> {
    opened ??= new Promise<Db>((resolve, reject) => {
      const { indexedDB } = globalThis as { readonly indexedDB?: { open(name: string): OpenRequest } };
      if (indexedDB === undefined) throw new UsageError('There is no IndexedDB here. Use memoryStorage() or your own.');
      const request = indexedDB.open(name);
      request.onupgradeneeded = () => request.result.createObjectStore(storeName);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        // Another tab deletes or upgrades the database: an open connection would block it.
        request.result.onversionchange = () => {
          request.result.close();
          opened = undefined;
        };
        resolve(request.result);
      };
    }).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  return {
    async read<T>(ask: (values: ObjectStore) => DbRequest<T>): Promise<T> {
      const db = await open();
      return new Promise((resolve, reject) => {
        const request = ask(db.transaction(storeName, 'readonly').objectStore(storeName));
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    },
    /** All changes of `change`, or none. */
    async write(change: (values: ObjectStore) => void): Promise<void> {
      const db = await open();
      return new Promise((resolve, reject) => {
        const transaction = db.transaction(storeName, 'readwrite');
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        change(transaction.objectStore(storeName));
      });
    },
  };
}

/**
 * Keeps the login in IndexedDB, where the service worker of the page finds it too. Every script of the page can read it there.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 *
 * export const postern = createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() });
 * ```
 */
export function indexedDbStorage(name = 'postern'): PosternStorage {
  const values = openValues(name);
  const getKey = async (key: string) => {
    const value = await values.read((store) => store.get(key));
    return typeof value === 'object' ? value : null;
  };
  return {
    async get(key) {
      const value = await values.read((store) => store.get(key));
      return typeof value === 'string' ? value : null;
    },
    set: (key, value) => values.write((store) => void store.put(value, key)),
    delete: (key) => values.write((store) => void store.delete(key)),
    getKey,
    // In one transaction: two tabs may log in at once.
    async addKey(key, pair) {
      await values.write((store) => {
        const request = store.get(key);
        request.onsuccess = () => {
          if (request.result === undefined) store.put(pair, key);
        };
      });
      return (await getKey(key)) ?? pair;
    },
  };
}
