// Compiles the service and the scripts of its pages: `node scripts/compile.mjs [folder]`, by default into dist/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'rolldown';

/**
 * Packages of many small files, which become part of the program. The others stay outside: some find files beside their own,
 * and the objects of some must be the same for the service and for another package.
 */
const joined = ['typebox', '@fastify/type-provider-typebox', 'libphonenumber-js'];

process.chdir(import.meta.dirname);
process.chdir('..');
const folder = process.argv[2] ?? 'dist';
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const outside = Object.keys(dependencies).filter((name) => !joined.includes(name));

// A few files load in less than half of the time of a thousand (decision 42). CI checks the types.
await build({
  input: { 'cli/bin': 'src/cli/bin.ts', 'cli/workers/worker': 'src/cli/workers/worker.ts', tools: 'src/tools.ts' },
  external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
  platform: 'node',
  tsconfig: false,
  output: {
    dir: folder,
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});

/** @param {string} path below packages/ */
const sourceOf = (path) => join(import.meta.dirname, '..', 'packages', path);
const pages = join(folder, 'pages');
const forBrowsers = /** @type {const} */ ({ platform: 'browser', tsconfig: false, transform: { target: 'es2022' } });

// A worker is a file of its own, whose name the script has to know.
const worker = await build({
  ...forBrowsers,
  input: { 'human-check-worker': sourceOf('client/src/human-check/human-check-worker.ts') },
  output: { dir: pages, format: 'esm', minify: true, entryFileNames: '[name]-[hash].js' },
});
const workerName = worker.output[0].fileName;

// The scripts of PAGES: the elements and the client, as apps get them.
await build({
  ...forBrowsers,
  input: Object.fromEntries(['sign-in', 'account', 'link'].map((name) => [`page-${name}`, `pages/src/${name}.ts`])),
  resolve: {
    alias: {
      '@postern/client/internal': sourceOf('client/src/internal.ts'),
      '@postern/client': sourceOf('client/src/index.ts'),
      '@postern/elements/sign-in': sourceOf('elements/src/sign-in/index.ts'),
      '@postern/elements/account': sourceOf('elements/src/account/index.ts'),
    },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
  plugins: [
    {
      name: 'worker',
      transform: (code) => code.replace('./human-check-worker.js', `./${workerName}`),
    },
  ],
  output: {
    dir: pages,
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: 'part-[hash].js',
  },
});
// Compressed once, at the best level.
const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
for (const name of readdirSync(pages)) {
  const content = readFileSync(join(pages, name));
  writeFileSync(join(pages, `${name}.br`), brotliCompressSync(content, best));
  writeFileSync(join(pages, `${name}.gz`), gzipSync(content, { level: 9 }));
}
