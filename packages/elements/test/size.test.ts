import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-elements-size-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The scripts of a page, minified: the one that it loads first, with its imports, and those that it loads when it needs them. */
async function scriptsOf(code: string) {
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, code);
  const alias = (find: string, path: string) => ({ find, replacement: join(packages, path) });
  const result = await build({
    ...{ configFile: false, logLevel: 'silent', root: folder },
    resolve: {
      alias: [
        alias('@postern/client/internal', 'client/src/internal.ts'),
        alias('@postern/client', 'client/src/index.ts'),
      ],
    },
    build: {
      ...{ write: false, target: 'es2022', minify: true, modulePreload: false },
      rollupOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
  const chunks = output.output.flatMap((chunk) => (chunk.type === 'chunk' ? [chunk] : []));
  const later = new Set(chunks.flatMap(({ dynamicImports }) => dynamicImports));
  // A part that only later scripts share is loaded with them.
  const start = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of start)
    for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) start.add(next);
  const first = chunks.filter(({ fileName }) => start.has(fileName)).map(({ code: text }) => text);
  return { first: first.join('\n'), later: [...later] };
}
const importing = (...imports: readonly (readonly [names: string, path: string])[]) =>
  scriptsOf(
    imports.map(([names, path]) => `export { ${names} } from ${JSON.stringify(join(packages, path))};`).join('\n'),
  );
const client = ['createPostern, indexedDbStorage', 'client/src/index.ts'] as const;

/** What a page loads with the client, compressed by gzip, in bytes. */
test.each<[string, number, string]>([
  ['defineInbox', 15_360, 'elements/src/inbox/index.ts'],
  ['defineSignIn', 21_000, 'elements/src/sign-in/index.ts'],
  ['defineAccount', 20_050, 'elements/src/account/index.ts'],
  ['definePreferences', 17_300, 'elements/src/preferences/index.ts'],
  ['defineStepUp', 14_400, 'elements/src/step-up/index.ts'],
])(
  'a page with %s and the client loads less than %d bytes, and Spanish only when it is used',
  async (names, limit, path) => {
    const { first, later } = await importing(client, [names, path]);
    expect(gzipSync(first).length).toBeLessThan(limit);
    expect(later.length).toBeGreaterThan(0);
    expect(first).not.toContain('Cargando');
  },
);

test('what `tabs`, `archive` and `snooze` add to the inbox costs less than 4000 bytes, beside the states of the client', async () => {
  const { outputFiles } = await bundle({
    ...{ entryPoints: [join(packages, 'elements/src/inbox/items.ts')], bundle: true, minify: true, format: 'esm' },
    ...{ target: 'es2022', legalComments: 'none', write: false, logLevel: 'error' },
    // What the inbox loads anyway.
    external: ['@postern/*', '../base/*', './icons.js'],
  });
  const [file] = outputFiles;
  expect(gzipSync(file?.text ?? '').length).toBeGreaterThan(1000);
  expect(gzipSync(file?.text ?? '').length).toBeLessThan(4000);
});

test('an import that is not used costs nothing', async () => {
  const { first } = await scriptsOf(`import ${JSON.stringify(join(packages, 'elements/src/index.ts'))};`);
  expect(first.trim()).toBe('');
});
