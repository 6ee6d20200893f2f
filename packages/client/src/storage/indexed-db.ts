import { UsageError } from '../errors.js';
import { limited } from '../platform.js';
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
  onclose: ((event: never) => unknown) | null;
}
interface Transaction {
  objectStore(name: string): ObjectStore;
  abort(): void;
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
/** The times in milliseconds after which a database without an answer is opened again: the first time, and after a failure. */
const [limitMs, shortLimitMs] = [3000, 1000];

/** Opens a database with one store of values when it is first used, and again if the browser has closed it or it hangs. */
export function openValues(name: string) {
  let opened: Promise<Db> | undefined;
  let limit = limitMs;

  function open(): Promise<Db> {
    const forget = () => {
      if (opened === opening) opened = undefined;
    };
    const opening: Promise<Db> = new Promise<Db>((resolve, reject) => {
      const { indexedDB } = globalThis as { readonly indexedDB?: { open(name: string): OpenRequest } };
      if (indexedDB === undefined) throw new UsageError('There is no IndexedDB here. Use memoryStorage() or your own.');
      const request = indexedDB.open(name);
      request.onupgradeneeded = () => request.result.createObjectStore(storeName);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const db = request.result;
        // Another tab deletes or upgrades the database: an open connection would block it.
        db.onversionchange = () => {
          db.close();
          forget();
        };
        // The browser has closed it, such as to clear the data of the site.
        db.onclose = forget;
        resolve(db);
      };
    });
    return opening;
  }

  async function attempt<T>(mode: 'readonly' | 'readwrite', work: (values: ObjectStore) => T): Promise<T> {
    opened ??= open();
    const used = opened;
    let transaction: Transaction | undefined;
    let isOver = false;
    const run = async (): Promise<T> => {
      const db = await used;
      return new Promise((resolve, reject) => {
        // A database that opens too late must change nothing.
        if (isOver) return;
        transaction = db.transaction(storeName, mode);
        const result = work(transaction.objectStore(storeName));
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = () => reject(transaction?.error);
      });
    };
    try {
      const result = await limited(run(), limit);
      limit = limitMs;
      return result;
    } catch (error) {
      isOver = true;
      if (opened === used) opened = undefined;
      try {
        transaction?.abort();
      } catch {
        // It has ended already.
      }
      void used.then((db) => db.close()).catch(() => undefined);
      throw error;
    }
  }
  const transact: typeof attempt = (mode, work) =>
    attempt(mode, work)
      .catch(() => attempt(mode, work))
      .catch((error) => {
        // A login makes many calls, and must not wait that long for each of them.
        limit = shortLimitMs;
        throw error;
      });

  return {
    read: async <T>(ask: (values: ObjectStore) => DbRequest<T>): Promise<T> => (await transact('readonly', ask)).result,
    /** All changes of `change`, or none. */
    write: (change: (values: ObjectStore) => void): Promise<void> => transact('readwrite', change),
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
