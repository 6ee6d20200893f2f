// Builds the package of the current folder, or those of the folders in the arguments, into its dist/: the compiled sources with their
// types. `npm pack` runs it. Packages that it depends on are built first, because their types are there.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lib/lock.mjs';
import { prepare } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { replaceFolder } from './lib/swap.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');

/** The folders that are built. @type {Set<string>} */
const built = new Set();

/**
 * Compiles beside dist/ and then replaces it, because a running app may read dist/.
 * @param {string} folder @returns {Promise<boolean>} whether it compiled
 */
async function build(folder) {
  if (built.has(folder)) return true;
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    if (!(await build(resolve(folder, '..', name.replace('@postern/', ''))))) return false;
  }
  const side = join(folder, '.prepare-dist');
  // A build that was killed may have left them.
  for (const left of [side, `${side}-old`]) rmSync(left, { recursive: true, force: true });
  if (!(await run(process.execPath, [compiler, '-p', '.', '--outDir', side], { cwd: folder }))) return false;
  for (const name of ['inbox/shared/worker.js', 'human-check/human-check-worker.js'])
    await joinModules(join(side, name));
  copyWithoutDirective(join(side, 'index.js'), join(side, 'module.js'));
  replaceFolder(join(folder, 'dist'), side);
  built.add(folder);
  return true;
}

/**
 * Bundlers with server components need the directive 'use client', and the others warn about it, so they get a copy without it.
 * @param {string} file @param {string} copy
 */
function copyWithoutDirective(file, copy) {
  const code = readFileSync(file, 'utf8');
  const directive = "'use client';";
  // The lines stay, so the source map is that of both.
  if (code.startsWith(directive)) writeFileSync(copy, code.slice(directive.length));
}

/** Writes a worker and its modules into one file, because apps copy it. @param {string} file */
async function joinModules(file) {
  if (!existsSync(file)) return;
  const { build: bundle } = await import('esbuild');
  const options = { bundle: true, minify: true, allowOverwrite: true };
  await bundle({ entryPoints: [file], outfile: file, format: 'esm', target: 'es2022', ...options });
  // An app copies one file. A browser would look for its map in vain.
  rmSync(`${file}.map`);
}

// `npm start` installs only what the service needs.
if (!existsSync(join(root, 'node_modules/esbuild'))) await prepare(root, { tools: true });
/** @param {string} owner */
const onWait = (owner) => console.error(`Waiting for process ${owner}, which is building packages…`);
await withLock(join(root, '.prepare-packages-lock'), onWait, async () => {
  const folders = process.argv.length > 2 ? process.argv.slice(2).map((folder) => resolve(folder)) : [process.cwd()];
  for (const folder of folders) if (!(await build(folder))) process.exitCode = 1;
});
