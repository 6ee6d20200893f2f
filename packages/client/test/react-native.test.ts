import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import type { UserDevice } from '../../../src/contract/administration.js';
import { startTestApp } from '../../../test/support/app.js';
import { createUser, password } from '../../../test/support/users.js';
import { createLogin, type Postern } from '../src/index.js';

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
