// Storages that fail, hang or refuse, and pages whose data was cleared.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createUser, password } from '../../../../test/support/users.js';
import { createLogin, memoryStorage, type Postern, type PosternStorage } from '../../src/index.js';
import { clientOf, createNetwork, signedIn, withFastTime } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

/** Records each state of a client. */
function statesOf(postern: Postern): string[] {
  const states: string[] = [];
  postern.subscribe(({ status }) => states.push(status));
  return states;
}
const logIn = async (postern: Postern, username: string | null) =>
  (
    await createLogin(postern)
      .start()
      .password({ identity: username ?? '', password })
  ).step;
const until = (what: string, is: () => boolean) => eventually(what, async () => (is() ? true : undefined));

describe('a storage whose reads fail', () => {
  test('keeps the client starting until a read succeeds, and never says that nobody is signed in', async () => {
    // Fast time also shortens the limit of ten seconds for a read: by five, so that a busy machine keeps it.
    withFastTime(5);
    const kept = memoryStorage();
    const { user, postern: first } = await signedIn(app, { storage: kept });
    first.close();
    let reads = 0;
    const storage: PosternStorage = {
      ...kept,
      get(key) {
        if (key !== 'postern.login') return kept.get(key);
        reads += 1;
        if (reads < 3) throw new Error('the disk is busy');
        return kept.get(key);
      },
    };
    const errors: unknown[] = [];
    const postern = clientOf(app, { storage, onError: (error) => errors.push(error) });
    const states = statesOf(postern);
    const waiting = postern.getSession();
    await until('the second read', () => reads === 2);
    expect(states).toEqual(['starting']);
    expect(await waiting).toMatchObject({ user_id: user.id });
    expect([states, errors]).toEqual([['starting', 'signed_in'], []]);
    postern.close();
  });

  test('is read again when the app comes to the foreground', async () => {
    const kept = memoryStorage();
    const { user, postern: first } = await signedIn(app, { storage: kept });
    first.close();
    const wakers = new Set<() => void>();
    let reads = 0;
    let isBroken = true;
    const postern = clientOf(app, {
      storage: {
        ...kept,
        get(key) {
          reads += 1;
          return isBroken ? Promise.reject(new Error('locked')) : kept.get(key);
        },
      },
      onResume(wake) {
        wakers.add(wake);
        return () => wakers.delete(wake);
      },
    });
    const ready = postern.ready();
    await until('the pause', () => wakers.size > 0);
    const before = reads;
    isBroken = false;
    for (const wake of [...wakers]) wake();
    expect(await ready).toMatchObject({ status: 'signed_in', user_id: user.id });
    expect(reads).toBeGreaterThan(before);
    postern.close();
  });

  test.each<[string, () => Promise<never>]>([
    ['fail', () => Promise.reject(new Error('the disk is gone'))],
    ['never end', () => new Promise(() => {})],
  ])('that %s for ten seconds, the client goes on in memory, and onError gets it once', async (_name, get) => {
    withFastTime();
    const errors: unknown[] = [];
    const network = createNetwork();
    const user = await createUser(app);
    const storage = { get, set: () => new Promise<never>(() => {}), delete: () => undefined };
    const postern = clientOf(app, { storage, fetch: network.fetch, onError: (error) => errors.push(error) });
    const states = statesOf(postern);
    await expect(postern.ready()).rejects.toThrow(/the disk is gone|hangs/);
    expect([states, errors.length, network.sent]).toEqual([['starting'], 1, []]);
    await expect(postern.getSession()).rejects.toThrow();
    expect(await logIn(postern, user.username)).toBe('done');
    expect(await postern.getSession()).toMatchObject({ user_id: user.id });
    expect(states).toEqual(['starting', 'signed_in']);
    postern.close();
  });

  test('does not sign out a client whose token Postern refuses, because another tab may have stored a newer one', async () => {
    const kept = memoryStorage();
    let isBroken = false;
    const storage: PosternStorage = {
      ...kept,
      get: (key) => (isBroken ? Promise.reject(new Error('locked')) : kept.get(key)),
    };
    const { postern, user } = await signedIn(app, { storage });
    const states = statesOf(postern);
    isBroken = true;
    await app.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: app.adminKey });
    await expect(postern.getSession({ fresh: true })).rejects.toMatchObject({ code: 'invalid_authentication_token' });
    expect(states).toEqual(['signed_in']);
    isBroken = false;
    expect(await postern.getSession({ fresh: true })).toBeNull();
    expect(states).toEqual(['signed_in', 'signed_out']);
    postern.close();
  });
});

/** A storage that the policy of the page or the user refuses. */
const refused = (): PosternStorage => {
  const refuse = () => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  return { get: refuse, set: refuse, delete: refuse };
};
/** A storage that is full: it can be read. */
const full = (): PosternStorage => ({
  get: () => null,
  set: () => Promise.reject(new DOMException('full', 'QuotaExceededError')),
  delete: () => undefined,
});

describe.each<[string, () => PosternStorage]>([
  ['refused', refused],
  ['full', full],
])('a storage that is %s', (_name, storage) => {
  test('keeps the login of each tab in its memory', async () => {
    const [ada, bob] = [await createUser(app), await createUser(app)];
    const errors: unknown[] = [];
    const tabs = [1, 2].map(() => clientOf(app, { storage: storage(), onError: (error) => errors.push(error) }));
    const [first, second] = tabs as [Postern, Postern];
    expect(await first.ready()).toEqual({ status: 'signed_out', reason: 'never_signed_in' });
    await second.ready();
    expect(await logIn(first, ada.username)).toBe('done');
    expect(await logIn(second, bob.username)).toBe('done');
    await second.logOut();
    // A message of the other tab would have arrived by now.
    const channel = new BroadcastChannel(`postern ${app.url}`);
    const arrived = new Promise((resolve) => {
      channel.onmessage = resolve;
    });
    expect(await logIn(second, bob.username)).toBe('done');
    await arrived;
    expect(first.current).toMatchObject({ status: 'signed_in', user_id: ada.id });
    expect(await first.getSession({ fresh: true })).toMatchObject({ user_id: ada.id });
    expect(second.current).toMatchObject({ status: 'signed_in', user_id: bob.id });
    expect(errors.length).toBeGreaterThan(0);
    channel.close();
    for (const tab of tabs) tab.close();
  });

  test('lets the next login be on the same device', async () => {
    const user = await createUser(app);
    const postern = clientOf(app, { storage: storage() });
    await logIn(postern, user.username);
    const before = (await postern.getSession())?.device_id;
    await postern.logOut();
    await logIn(postern, user.username);
    expect((await postern.getSession())?.device_id).toBe(before);
    postern.close();
  });
});

test('after the data of the site was cleared, the tab goes on, and a new login is stored again', async () => {
  const values = new Map<string, string>();
  const storage: PosternStorage = {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
  };
  const { postern, user } = await signedIn(app, { storage });
  values.clear();
  expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
  await postern.logOut();
  expect(await logIn(postern, user.username)).toBe('done');
  expect(JSON.parse(values.get('postern.login') ?? 'null')).toMatchObject({ user_id: user.id });
  const next = clientOf(app, { storage });
  expect(await next.ready()).toMatchObject({ status: 'signed_in', user_id: user.id });
  for (const client of [postern, next]) client.close();
});

test('a login that cannot be stored does not leave the login of a former user in the storage', async () => {
  const values = new Map<string, string>();
  let isFull = false;
  const storage: PosternStorage = {
    get: (key) => values.get(key) ?? null,
    set(key, value) {
      if (isFull) throw new Error('full');
      values.set(key, value);
    },
    delete: (key) => void values.delete(key),
  };
  const { postern } = await signedIn(app, { storage });
  const next = await createUser(app);
  isFull = true;
  expect(await logIn(postern, next.username)).toBe('done');
  expect(values.has('postern.login')).toBe(false);
  postern.close();
});

describe('tabs agree', () => {
  /** A storage whose reads and changes take a moment, as those of IndexedDB do. */
  function slowStorage() {
    const kept = memoryStorage();
    const later = async <T>(work: () => T): Promise<T> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return work();
    };
    const storage: PosternStorage = {
      get: (key) => later(() => kept.get(key) as string | null),
      set: (key, value) => later(() => void kept.set(key, value)),
      delete: (key) => later(() => void kept.delete(key)),
    };
    return { kept, storage };
  }

  test('if one loads while another one signs out, whatever the order', async () => {
    for (let delay = 0; delay < 16; delay += 1) {
      const { storage } = slowStorage();
      const { postern } = await signedIn(app, { storage });
      const leaving = postern.logOut();
      await new Promise((resolve) => setTimeout(resolve, delay));
      const loading = clientOf(app, { storage });
      loading.subscribe(() => undefined);
      await leaving;
      await until('the other tab', () => loading.current.status === 'signed_out');
      for (const client of [postern, loading]) client.close();
    }
  });

  test('if one signs in while another one signs out, whatever the order', async () => {
    const user = await createUser(app);
    for (let delay = 0; delay < 30; delay += 3) {
      const { kept, storage } = slowStorage();
      const { postern: first } = await signedIn(app, { storage });
      const second = clientOf(app, { storage });
      await second.ready();
      const entering = logIn(second, user.username);
      await new Promise((resolve) => setTimeout(resolve, delay * 10));
      await Promise.all([entering, first.logOut()]);
      const stored = () => JSON.parse((kept.get('postern.login') as string | null) ?? 'null')?.user_id;
      const userOf = ({ current }: Postern) => ('user_id' in current ? current.user_id : undefined);
      await until('both tabs', () => userOf(first) === stored() && userOf(second) === stored());
      for (const client of [first, second]) client.close();
    }
  });

  test('if the server ends the login and one of them notices', async () => {
    const storage = memoryStorage();
    const { postern, user } = await signedIn(app, { storage });
    const other = clientOf(app, { storage });
    await other.ready();
    await app.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: app.adminKey });
    expect(await postern.getSession({ fresh: true })).toBeNull();
    await until('the other tab', () => other.current.status === 'signed_out');
    expect(other.current).toEqual({ status: 'signed_out', reason: 'ended' });
    for (const client of [postern, other]) client.close();
  });

  test('if one comes back from the cache of the browser, where it got no messages', async () => {
    const listeners = new Map<string, (event: { persisted: boolean }) => void>();
    vi.stubGlobal('addEventListener', (type: string, listener: () => void) => listeners.set(type, listener));
    vi.stubGlobal('removeEventListener', () => undefined);
    vi.stubGlobal(
      'BroadcastChannel',
      class {
        postMessage() {}
        close() {}
      },
    );
    try {
      const storage = memoryStorage();
      const { postern } = await signedIn(app, { storage });
      await storage.delete('postern.login');
      listeners.get('pageshow')?.({ persisted: false });
      expect(postern.current.status).toBe('signed_in');
      listeners.get('pageshow')?.({ persisted: true });
      await until('the tab', () => postern.current.status === 'signed_out');
      postern.close();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
