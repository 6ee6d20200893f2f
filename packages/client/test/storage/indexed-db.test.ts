import { afterEach, describe, expect, test, vi } from 'vitest';
import { indexedDbStorage } from '../../src/index.js';
import * as time from '../../src/time.js';

/** How the next databases behave: `hangs` never opens, `silent` opens, and its transactions do not end. */
type Fault = 'hangs' | 'silent' | 'refuses';

/** As much of IndexedDB as the storage uses. `values` is what is stored. */
function fakeIndexedDb(faults: Fault[] = []) {
  const values = new Map<string, unknown>();
  const databases: ReturnType<typeof database>[] = [];
  function database(fault: Fault | undefined) {
    let isClosed = false;
    const db = {
      onclose: null as (() => void) | null,
      onversionchange: null as (() => void) | null,
      createObjectStore: () => undefined,
      close() {
        isClosed = true;
      },
      /** The browser closes the database, such as when the user clears the data of the site. */
      end(tellsPage: boolean) {
        isClosed = true;
        values.clear();
        if (tellsPage) db.onclose?.();
      },
      transaction() {
        if (isClosed) throw new DOMException('The database connection is closing.', 'InvalidStateError');
        const changes: (() => void)[] = [];
        let isOver = false;
        const transaction = {
          error: null as unknown,
          oncomplete: null as (() => void) | null,
          onabort: null as (() => void) | null,
          abort() {
            isOver = true;
          },
          objectStore: () => ({
            get(key: string) {
              return { result: values.get(key), onsuccess: null };
            },
            put: (value: unknown, key: string) => void changes.push(() => values.set(key, value)),
            delete: (key: string) => void changes.push(() => values.delete(key)),
          }),
        };
        setTimeout(() => {
          if (fault === 'silent' || isOver) return;
          for (const change of changes) change();
          transaction.oncomplete?.();
        });
        return transaction;
      },
    };
    return db;
  }
  const indexedDB = {
    open() {
      const fault = faults.shift();
      const db = database(fault);
      databases.push(db);
      const request = { result: db, error: null as unknown, onsuccess: null as (() => void) | null, onerror: null };
      if (fault === 'refuses') throw new DOMException('denied', 'SecurityError');
      if (fault !== 'hangs') setTimeout(() => request.onsuccess?.());
      return request;
    },
  };
  vi.stubGlobal('indexedDB', indexedDB);
  return { values, databases };
}
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Shortens the first waits, which are for a database that hangs. Others have their whole time, also on a busy machine. @returns all times, in milliseconds */
function shortenWaits(count: number): number[] {
  const limits: number[] = [];
  const { startTimer } = time;
  vi.spyOn(time, 'startTimer').mockImplementation((end, milliseconds) => {
    limits.push(milliseconds);
    return startTimer(end, limits.length <= count ? milliseconds / 100 : milliseconds);
  });
  return limits;
}

describe('a storage in IndexedDB', () => {
  test.each([true, false])('opens a database again that the browser has closed (with an event: %s)', async (tells) => {
    const { values, databases } = fakeIndexedDb();
    const storage = indexedDbStorage();
    await storage.set('a', '1');
    databases[0]?.end(tells);
    expect(await storage.get('a')).toBeNull();
    await storage.set('a', '2');
    expect([await storage.get('a'), [...values]]).toEqual(['2', [['a', '2']]]);
    expect(databases).toHaveLength(2);
  });

  test.each<Fault>(['hangs', 'silent'])('opens a database again that %s, for reads and for changes', async (fault) => {
    const { values, databases } = fakeIndexedDb([fault]);
    shortenWaits(1);
    const storage = indexedDbStorage();
    await storage.set('a', '1');
    expect([...values]).toEqual([['a', '1']]);
    expect(await storage.get('a')).toBe('1');
    expect(databases).toHaveLength(2);
  });

  test('gives up a database that hangs twice, and tries again at the next call', async () => {
    const { databases } = fakeIndexedDb(['hangs', 'hangs']);
    shortenWaits(2);
    const storage = indexedDbStorage();
    await expect(storage.get('a')).rejects.toThrow('The storage hangs.');
    expect(await storage.get('a')).toBeNull();
    expect(databases).toHaveLength(3);
  });

  test('that has hung delays a login no longer, which makes many calls', async () => {
    fakeIndexedDb(Array.from({ length: 8 }, () => 'hangs'));
    const storage = indexedDbStorage();
    const limits = shortenWaits(8);
    for (let call = 0; call < 4; call += 1) await expect(storage.get('a')).rejects.toThrow('The storage hangs.');
    // The next one works, and further ones have the whole time again.
    expect(await storage.get('a')).toBeNull();
    expect(await storage.get('a')).toBeNull();
    expect(limits).toEqual([3000, 3000, ...Array.from({ length: 7 }, () => 1000), 3000]);
  });

  test('uses one connection for calls at the same time', async () => {
    const { databases } = fakeIndexedDb();
    const storage = indexedDbStorage();
    await Promise.all([storage.set('a', '1'), storage.set('b', '2'), storage.get('a')]);
    expect(databases).toHaveLength(1);
  });

  test('passes on why the browser refuses it', async () => {
    fakeIndexedDb(['refuses', 'refuses']);
    await expect(indexedDbStorage().get('a')).rejects.toThrow('denied');
  });
});
