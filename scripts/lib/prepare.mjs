import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, PrepareError } from './errors.mjs';
import { install } from './install.mjs';
import { withLock } from './lock.mjs';
import { run } from './run.mjs';
import { replaceFolder } from './swap.mjs';

/**
 * A build product, its sources, and the file for the digest of the sources. `make` works in the empty folder `side`, which
 * then replaces the old product, so there is never a partial product. `make` makes the first of the variants. A product of any of
 * them is fresh.
 * @typedef {{ stamp: string, sources: string[], variants: string[], make: (root: string, side: string) => Promise<void> }} Product
 */

// Without the version of Node.js: the native packages use N-API, so one install works with all versions.
const platform = `${process.platform} ${process.arch}`;

/** What the scripts of the pages consist of. */
const scriptsOfPages = ['packages/client/src', 'packages/elements/src'];

/** @param {boolean} tools @returns {Product[]} */
const productsWith = (tools) => [
  {
    stamp: 'node_modules/.postern-install',
    sources: ['package.json', 'package-lock.json'],
    // The packages of developers include those of the service.
    variants: tools ? [`${platform} development`] : [`${platform} service`, `${platform} development`],
    make: (root, side) => install(root, side, tools),
  },
  {
    stamp: 'dist/.postern-build',
    sources: ['src', 'pages/src', ...scriptsOfPages, 'scripts/compile.mjs', 'package-lock.json'],
    variants: [''],
    make: build,
  },
];

/**
 * Installs the packages and builds dist/, each only if its sources have changed. If several processes start at once, one
 * works and the others wait. It never prompts. On failure it prints the reason and ends the process.
 *
 * @param {string} root the project's folder
 * @param {{ tools: boolean }} options `tools`: also the packages of developers, which the service does not need
 */
export async function prepare(root, { tools }) {
  const products = productsWith(tools);
  try {
    if (products.every((product) => isFresh(root, product))) return;
    /** @param {string} owner */
    const onWait = (owner) => console.error(`Waiting for process ${owner}, which is preparing this folder…`);
    await withLock(join(root, '.prepare-lock'), onWait, async () => {
      removeLeftovers(root);
      for (const product of products) await makeIfStale(root, product);
    });
  } catch (error) {
    // Taking the lock is the first write, so it fails if the folder is not writable.
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
  // Before the build: if a source changes during the build, the next start builds again.
  const digest = digestOf(root, product, product.variants[0] ?? '');
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
 * @param {string} side a folder next to dist: the relative paths in the source maps stay correct when it becomes dist
 */
async function build(root, side) {
  console.error('Building…');
  const ok = await run(process.execPath, [join('scripts', 'compile.mjs'), side], { cwd: root });
  if (!ok) throw new PrepareError('The build failed. See the message of the compiler above.');
  replaceFolder(join(root, 'dist'), side);
}

/**
 * @param {string} root
 * @param {Product} product
 */
function isFresh(root, product) {
  try {
    const stamp = readFileSync(join(root, product.stamp), 'utf8');
    return product.variants.some((variant) => digestOf(root, product, variant) === stamp);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/**
 * A digest of content, not of times: a checkout, a copy or a container image changes times. Hashing some hundred files takes a
 * few milliseconds.
 *
 * @param {string} root
 * @param {Product} product
 * @param {string} variant
 */
function digestOf(root, { sources }, variant) {
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
  // Editors leave dangling symbolic links beside an open file.
  const entries = readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => !entry.isSymbolicLink());
  const names = entries.map((entry) => entry.name).sort();
  return names.flatMap((name) => filesAt(root, join(path, name)));
}

/** Removes the files of processes that were killed. @param {string} root */
function removeLeftovers(root) {
  for (const name of readdirSync(root)) {
    if (/^\.prepare-\d/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}
