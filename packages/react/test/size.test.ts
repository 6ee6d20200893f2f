import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const source = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-react-size-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The minified code of a page without React. */
async function bundleOf(code: string): Promise<string> {
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, code);
  const result = await build({
    ...{ configFile: false, logLevel: 'silent', root: folder },
    resolve: {
      alias: [
        { find: '@postern/client/internal', replacement: source('client/src/internal.ts') },
        { find: '@postern/client', replacement: source('client/src/index.ts') },
        { find: '@postern/react', replacement: source('react/src/index.ts') },
      ],
    },
    build: {
      ...{ write: false, target: 'es2022', minify: true },
      rollupOptions: { input: entry, preserveEntrySignatures: 'strict', external: ['react'] },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
  return output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
}

/** The size of the client in a page that uses everything that the hooks use. */
const client = `export { createPostern, memoryStorage, createLogin, createInbox, createInboxView, createItemsView, createDevices, createAccount, createPreferences, enableStepUp } from '@postern/client';`;
const sizeOf = async (code: string) => gzipSync(await bundleOf(code)).length;
let clientSize: number;
beforeAll(async () => {
  clientSize = await sizeOf(client);
});

/** What hooks may cost on top of the client, compressed by gzip, in bytes. */
test.each<[string, number]>([
  ['PosternProvider, useSession', 750],
  ['PosternProvider, useLogin, useCountdown', 780],
  ['PosternProvider, useInbox, useUnreadCount', 1500],
  ['PosternProvider, useDevices', 1200],
  ['PosternProvider, useItems, useInboxCounts', 1500],
  ['PosternProvider, usePreferences', 850],
  [
    'PosternProvider, usePostern, useSession, useLogin, useCountdown, useInbox, useUnreadCount, useItems, useInboxCounts, usePreferences, useDevices, usePasskeys, useActivity, useAccount, ProofProvider, useProver',
    3800,
  ],
])('the import of %s adds less than %d bytes', async (names, limit) => {
  const added = (await sizeOf(`${client}\nexport { ${names} } from '@postern/react';`)) - clientSize;
  expect(added).toBeLessThan(limit);
});

test('an import that is not used costs nothing', async () => {
  expect((await bundleOf(`import '@postern/react';`)).trim()).toBe('');
});

test('a page that uses one hook does not load the code of others', async () => {
  const code = await bundleOf(`export { PosternProvider, useSession } from '@postern/react';`);
  expect(code).not.toMatch(/\/v1\/(notifications|devices|account)/);
});
