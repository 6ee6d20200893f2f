import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Context, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserDevice } from '../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createUser, password } from '../../../test/support/users.js';
import type * as client from '../src/index.js';
import { createLogin, type Postern } from '../src/index.js';
import { reactNative, type Version } from './react-native-globals.js';
import { lastCode } from './support.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the modules of a phone do, as far as the example uses them. `kept` is the keychain. */
const modules = {
  'expo/fetch': 'export const fetch = globalThis.fetch;',
  'expo-secure-store': `export const kept = new Map();
    export const getItemAsync = async (key) => kept.get(key) ?? null;
    export const setItemAsync = async (key, value) => void kept.set(key, value);
    export const deleteItemAsync = async (key) => void kept.delete(key);`,
  'react-native': `export const listeners = new Set();
    export const AppState = { addEventListener: (_, listener) => { listeners.add(listener); return { remove: () => listeners.delete(listener) }; } };
    export const Platform = { OS: 'android', Version: 35 };`,
  'react-native-passkey': 'export const Passkey = { get: async () => ({}), create: async () => ({}) };',
};

test('the example for React Native keeps the login in the keychain, and finds it again after a restart', async () => {
  const app = await startTestApp({ PIN_POLICY: 'off' });
  const folder = await mkdtemp(join(tmpdir(), 'postern-react-native-'));
  const alias: Record<string, string> = { '@postern/client': join(root, 'packages/client/src/index.ts') };
  for (const [name, code] of Object.entries(modules)) {
    alias[name] = join(folder, `${name.replace('/', '-')}.js`);
    await writeFile(alias[name], code);
  }
  const example = await readFile(join(root, 'examples/react-native/postern.js'), 'utf8');
  const entry = join(folder, 'entry.js');
  const code = example.replace('https://auth.example.com', app.url);
  await writeFile(entry, `${code}\nexport { kept } from 'expo-secure-store';`);
  const outfile = join(folder, 'app.mjs');
  await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', outfile, alias });
  try {
    const { postern, kept }: { postern: Postern; kept: Map<string, string> } = await import(
      pathToFileURL(outfile).href
    );
    const user = await createUser(app);
    const start = createLogin(postern).start();
    expect((await start.password({ identity: user.username ?? '', password })).step).toBe('done');
    const path = `/admin/v1/users/${user.id}/devices`;
    const { body } = await app.api<UserDevice[]>('GET', path, { bearer: app.adminKey });
    expect(body).toMatchObject([{ os_name: 'android', os_version: '35' }]);
    expect([...kept.keys()].sort()).toEqual(['postern.device', 'postern.login']);
    postern.close();

    // A restart loses the memory of the app, and not the keychain.
    const again: { postern: Postern; kept: Map<string, string> } = await import(`${pathToFileURL(outfile).href}?again`);
    for (const [key, value] of kept) again.kept.set(key, value);
    expect(await again.postern.getSession()).toMatchObject({ user_id: user.id });
    await again.postern.logOut();
    expect([...again.kept.keys()]).toEqual(['postern.device']);
    again.postern.close();
  } finally {
    await rm(folder, { recursive: true });
    await app.close();
  }
});

describe.each<Version>(['0.76', '0.80', '0.86'])('with exactly the global objects of React Native %s', (version) => {
  let app: TestApp;
  let phone: Context;
  let api: typeof client;
  beforeAll(async () => {
    app = await startTestApp({ PIN_POLICY: 'off' });
    const entryPoints = [join(root, 'packages/client/src/index.ts')];
    // The syntax that Babel makes for Hermes.
    const options = { bundle: true, format: 'iife', globalName: 'api', target: 'es2017', write: false } as const;
    const { outputFiles } = await build({ ...options, entryPoints, logLevel: 'error' });
    phone = reactNative(version);
    runInContext(outputFiles[0]?.text ?? '', phone);
    api = phone.api;
  });
  afterAll(() => app?.close());

  const open = (options: object = {}): Postern => {
    const kept = new Map<string, string>();
    const storage = {
      get: async (key: string) => kept.get(key) ?? null,
      set: async (key: string, value: string) => void kept.set(key, value),
      delete: async (key: string) => void kept.delete(key),
    };
    return api.createPostern({ url: app.url, storage, timeout: 60_000, ...options });
  };
  async function signedInPhone(options: object = {}) {
    const user = await createUser(app, { email: `${crypto.randomUUID()}@example.com` });
    const postern = open(options);
    const done = await api
      .createLogin(postern)
      .start()
      .password({ identity: user.username ?? '', password });
    expect(done.step).toBe('done');
    return { user, postern };
  }

  test('a user signs in with a password or a code, reads, changes the account and signs out', async () => {
    const { user, postern } = await signedInPhone();
    expect(await postern.getSession()).toMatchObject({ user_id: user.id });
    const account = api.createAccount(postern);
    await account.update({ name: 'Ada' });
    expect(await (await postern.fetch(`${app.url}/v1/account`)).json()).toMatchObject({ name: 'Ada' });
    const posted = await postern.fetch(`${app.url}/v1/sessions/verify`, { method: 'POST', body: null });
    expect(posted.status).toBe(200);
    expect(await postern.logOut()).toEqual({ revoked: true });

    const again = open();
    const code = await api
      .createLogin(again)
      .start()
      .email({ identity: user.email ?? '' });
    if (code.step !== 'code') throw new Error(`No code was sent: ${JSON.stringify(code.issue)}`);
    expect((await code.submit({ code: await lastCode(app) })).step).toBe('done');
    again.close();
  });

  test('a storage that could keep a key signs in without one, and reports nothing', async () => {
    const errors: unknown[] = [];
    const storage = api.memoryStorage();
    const { postern } = await signedInPhone({ storage, onError: (error: unknown) => errors.push(error) });
    expect(await postern.getSession()).not.toBeNull();
    expect(errors).toEqual([]);
    postern.close();
  });

  test('the inbox is read, counted and followed by polling, and lists work in the loops of Babel', async () => {
    const { user, postern } = await signedInPhone();
    const publish = (description: string) =>
      app.api('POST', '/admin/v1/notifications', {
        bearer: app.adminKey,
        body: { user_id: user.id, notification_type: 'payment', description },
      });
    await publish('first');
    const inbox = api.createInbox(postern, { stream: 'poll' });
    expect((await inbox.list().page()).data).toMatchObject([{ description: 'first' }]);
    expect(await inbox.marker()).toMatchObject({ unread_count: 1 });
    type Iterators = Record<string, () => AsyncIterator<{ description: string }>>;
    const items = (inbox.list() as unknown as Iterators)['@@asyncIterator']?.();
    expect(await items?.next()).toMatchObject({ value: { description: 'first' } });
    const view = api.createInboxView(postern, inbox, { limit: 10 });
    const shown = new Promise<string[]>((resolve) => {
      view.subscribe(({ items: list }) => {
        if (list.length > 0) resolve(list.map(({ description }) => description));
      });
    });
    expect(await shown).toEqual(['first']);
    postern.close();
  });

  test('an aborted call rejects with an AbortError, because signals have no reason', async () => {
    const { postern } = await signedInPhone();
    const controller = new phone.AbortController();
    const { signal } = controller;
    const listed = api.createInbox(postern).list({ signal }).page();
    controller.abort();
    await expect(listed).rejects.toMatchObject({ name: 'AbortError' });
    await expect(postern.getSession({ signal })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(api.createInbox(postern).marker({ signal })).rejects.toMatchObject({ name: 'AbortError' });
    postern.close();
  });

  test('a passkey of the phone gets one signal for the login and the caller', async () => {
    let given: AbortSignal | undefined;
    const passkeys = {
      get: async (_: object, { signal }: { signal: AbortSignal }) => {
        given = signal;
        return new Promise(() => undefined);
      },
      create: async () => ({}),
    };
    const postern = open({ passkeys });
    const controller = new phone.AbortController();
    const login = api.createLogin(postern);
    void login.start().passkey({ signal: controller.signal });
    await expect.poll(() => given?.aborted).toBe(false);
    controller.abort();
    expect(given?.aborted).toBe(true);
    postern.close();
  });

  test('a session goes to Postern and to trusted origins only, whatever the address looks like', async () => {
    const sent: string[] = [];
    const fetchOfTest = async (input: string, init: object) => {
      if (input.startsWith(app.url)) return phone.fetch(input, init);
      sent.push(input);
      return new Response();
    };
    const { postern } = await signedInPhone({ fetch: fetchOfTest, trustedOrigins: ['https://api.example.com'] });
    await postern.fetch('https://api.example.com/x');
    await postern.fetch('https://api.example.com/x?y#z');
    expect(sent.length).toBe(2);
    for (const address of [
      'https://evil.example/',
      'https://api.example.com.evil.example/',
      'https://api.example.com@evil.example/',
      'https://api.example.com:1@evil.example/',
      'https://api.example.com\\@evil.example/',
      'https://api.example.com%2f@evil.example/',
      'https://api.example.com:444/',
      'http://api.example.com/',
      'HTTPS://evil.example/',
      'HTTPS://API.EXAMPLE.COM/\\@evil.example',
      'ftp://api.example.com/',
      'file:///etc/passwd',
      '//evil.example/',
      '/v1/devices',
    ])
      await expect(postern.fetch(address), address).rejects.toMatchObject({ kind: 'usage' });
    expect(sent.length).toBe(2);
    postern.close();
  });

  test.each([
    '',
    '/auth',
    'auth.example.com',
    'ftp://auth.example.com',
    'https://ada@auth.example.com',
    'https://auth.example.com/?x',
    'https://auth.example.com/#x',
  ])('the address "%s" is a usage error', (url) => {
    expect(() => open({ url })).toThrow(expect.objectContaining({ kind: 'usage' }));
  });
});
