import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** Leaves out what a page loads only when it first uses it, as a bundler that splits code does. */
const withoutLaterParts: Plugin = {
  name: 'without-later-parts',
  setup({ onResolve }) {
    onResolve({ filter: /^/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined));
  },
};

/** Leaves out what only logins at a provider by redirect load, and what a service with a human check asks for. */
const withoutRareParts: Plugin = {
  name: 'without-rare-parts',
  setup({ onResolve }) {
    onResolve({ filter: /\/(redirect-steps|link-step|human-check|sha256)\.js$/ }, ({ path }) => ({
      path,
      external: true,
    }));
  },
};

/** The code of a page, minified, as a browser loads it. */
async function bundleOf(contents: string, plugins: Plugin[] = []): Promise<string> {
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: source }, bundle: true, minify: true, format: 'esm', target: 'es2022' },
    ...{ legalComments: 'none', write: false, logLevel: 'error', plugins },
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild built nothing.');
  return file.text;
}
const compressed = (code: string) => gzipSync(code, { level: 9 }).length;
const core = 'createPostern, createLogin, memoryStorage, createInbox, createInboxView';

/** What an import may cost at the start of a page, compressed by gzip, in bytes. */
test.each<[string, number]>([
  ['isProblem', 200],
  ['createPostern, memoryStorage', 5900],
  ['createPostern, createLogin, indexedDbStorage', 7300],
  [core, 8000],
  [`${core}, createItemsView`, 11_400],
  ['createPostern, memoryStorage, createItemStates', 6850],
  ['createPostern, memoryStorage, createInboxCopy', 7350],
  ['createPostern, memoryStorage, createPreferences', 7000],
  ['createPostern, memoryStorage, createTopics', 6400],
  ['createPostern, memoryStorage, createAccount', 8350],
  ['createPostern, memoryStorage, createDevices, registerPush, enableWebPush, startRecovery, startRegistration', 7700],
])('a page that imports %s loads less than %d bytes', async (names, limit) => {
  expect(compressed(await bundleOf(`export { ${names} } from './index.js';`, [withoutLaterParts]))).toBeLessThan(limit);
});

test('the core can list notifications without loading more', async () => {
  const first = await bundleOf(`export { ${core} } from './index.js';`, [withoutLaterParts]);
  expect(first).toContain('next_cursor!==null');
  expect(first).toContain('"/v1/notifications"');
});

test('what the core loads later costs less than 8750 bytes', async () => {
  const all = compressed(await bundleOf(`export { ${core} } from './index.js';`, [withoutRareParts]));
  const first = compressed(await bundleOf(`export { ${core} } from './index.js';`, [withoutLaterParts]));
  expect(all - first).toBeLessThan(8750);
});

test('what a login by redirect and a human check load beside it costs less than 3800 bytes', async () => {
  const all = compressed(await bundleOf(`export { ${core} } from './index.js';`));
  const others = compressed(await bundleOf(`export { ${core} } from './index.js';`, [withoutRareParts]));
  expect(all - others).toBeLessThan(3800);
});

test('a page that uses no states loads no code for them', async () => {
  const code = await bundleOf(`export { ${core}, createInboxCopy } from './index.js';`, [withoutLaterParts]);
  expect(code).not.toMatch(/notifications\/(states|counts|seen)|archived/);
  expect(await bundleOf(`export { ${core} } from './index.js';`)).not.toMatch(/\/(states|counts|seen)\b|archived/);
});

test('a page that shows no preferences loads no code for them', async () => {
  expect(await bundleOf(`export { ${core}, createItemsView } from './index.js';`)).not.toContain('/v1/preferences');
});

test('an import that is not used costs nothing', async () => {
  expect((await bundleOf(`import './index.js';`)).trim()).toBe('');
});
