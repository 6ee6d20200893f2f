import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../src/index.ts', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-size-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The code of a page that imports these names, minified, as a browser loads it. */
async function bundleOf(code: string): Promise<string> {
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, code);
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: folder,
    build: {
      ...{ write: false, target: 'es2022', minify: true },
      rollupOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
  return output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
}
const importing = (names: string) => bundleOf(`export { ${names} } from ${JSON.stringify(source)};`);

/** What an import may cost, compressed by gzip, in bytes. */
test.each<[string, number]>([
  ['isProblem', 200],
  ['createPostern, memoryStorage', 4500],
  ['createPostern, createLogin, indexedDbStorage', 7100],
  ['createPostern, memoryStorage, createInbox', 6300],
  ['createPostern, createLogin, memoryStorage, createInbox, createInboxView', 9450],
  ['createPostern, memoryStorage, createInboxCopy', 5450],
  ['createPostern, memoryStorage, createAccount', 6600],
  ['createPostern, memoryStorage, createDevices, registerPush, enableWebPush, startRecovery, startRegistration', 5550],
])('a page that imports %s loads less than %d bytes', async (names, limit) => {
  const { length } = gzipSync(await importing(names));
  expect(length).toBeLessThan(limit);
});

test('an import that is not used costs nothing', async () => {
  expect((await bundleOf(`import ${JSON.stringify(source)};`)).trim()).toBe('');
});
