import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, PrepareError } from './errors.mjs';
import { install } from './install.mjs';
import { withLock } from './lock.mjs';
import { run } from './run.mjs';
import { replaceFolder } from './swap.mjs';

/**
 * What is made, from what, and where the digest of what it was made from is kept. `make` works in the empty folder
 * `side`, which then takes the old product's place: whatever happens meanwhile, there is never half a product.
 * @typedef {{ stamp: string, sources: string[], variant: string, make: (root: string, side: string) => Promise<void> }} Product
 */

/** @type {Product[]} */
const products = [
  {
    stamp: 'node_modules/.postern-install',
    sources: ['package.json', 'package-lock.json'],
    // Not Node's version: the native packages are built on N-API, so one install serves them all.
    variant: `${process.platform} ${process.arch}`,
    make: install,
  },
  {
    stamp: 'dist/.postern-build',
    sources: ['src', 'migrations', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
    variant: '',
    make: build,
  },
];

/**
 * Installs the packages and builds dist/, each only when what it is made from has changed since. Any number of
 * processes may do this at once: one works, the others wait. Asks nothing. On failure it says why and ends the process.
 *
 * @param {string} root the project's folder
 */
export async function prepare(root) {
  try {
    if (products.every((product) => isFresh(root, product))) return;
    /** @param {string} owner */
    const onWait = (owner) => console.error(`Waiting for process ${owner}, which is preparing this folder…`);
    await withLock(join(root, '.prepare-lock'), onWait, async () => {
      removeLeftovers(root);
      for (const product of products) await makeIfStale(root, product);
    });
  } catch (error) {
    // The lock is the first thing that is written.
    if (hasCode(error, 'EACCES', 'EROFS')) console.error(`Installing and building need to write in ${root}: ${error}`);
    else if (error instanceof PrepareError) console.error(error.message);
    else throw error;
    process.exit(error instanceof PrepareError ? error.exitCode : 1);
  }
}

/**
 * @param {string} root
 * @param {Product} product
 */
async function makeIfStale(root, product) {
  if (isFresh(root, product)) return;
  // Taken first: an edit made meanwhile leaves the product stale instead of passing as built.
  const digest = digestOf(root, product);
  const side = join(root, `.prepare-${process.pid}`);
  mkdirSync(side);
  try {
    await product.make(root, side);
  } finally {
    rmSync(side, { recursive: true, force: true });
  }
  writeFileSync(join(root, product.stamp), digest);
}

/**
 * @param {string} root
 * @param {string} side beside dist, so that the relative paths in the source maps hold there
 */
async function build(root, side) {
  console.error('Building…');
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  const ok = await run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', side], { cwd: root });
  if (!ok) throw new PrepareError('Building failed; the compiler says why above.');
  replaceFolder(join(root, 'dist'), side);
}

/**
 * @param {string} root
 * @param {Product} product
 */
function isFresh(root, product) {
  try {
    return readFileSync(join(root, product.stamp), 'utf8') === digestOf(root, product);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/**
 * By content, not by time: a checkout, a copy or a container's image changes times at will. Hashing some hundred files
 * takes a few milliseconds.
 *
 * @param {string} root
 * @param {Product} product
 */
function digestOf(root, { sources, variant }) {
  const hash = createHash('sha256').update(variant);
  for (const path of sources.flatMap((source) => filesAt(root, source))) {
    const content = readFileSync(join(root, path));
    hash.update(`\0${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {string} path of a file or a folder
 * @returns {string[]} the path itself, or those of all files below it, in a stable order
 */
function filesAt(root, path) {
  if (statSync(join(root, path)).isFile()) return [path];
  // Editors leave symbolic links to nowhere beside a file in work.
  const entries = readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => !entry.isSymbolicLink());
  const names = entries.map((entry) => entry.name).sort();
  return names.flatMap((name) => filesAt(root, join(path, name)));
}

/** What killed predecessors left behind. @param {string} root */
function removeLeftovers(root) {
  for (const name of readdirSync(root)) {
    if (/^\.prepare-\d/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}
