import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, PrepareError } from './errors.mjs';
import { install, isInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { run } from './run.mjs';
import { replaceFolder } from './swap.mjs';

/** What dist/ is made of. The scripts of the pages contain the packages. */
const sources = [
  'src',
  'pages/src',
  'packages/client/src',
  'packages/elements/src',
  'scripts/compile.mjs',
  'package-lock.json',
];
/** The file for the digest of the sources. */
const stamp = 'dist/.postern-build';

/**
 * Installs the packages and builds dist/, each only if it is out of date. Both are made in a folder beside, which then replaces
 * the old one, so there is never a partial one. If several processes start at once, one works and the others wait. It never
 * prompts. On failure it prints the reason and ends the process.
 *
 * @param {string} root the project's folder
 * @param {{ tools: boolean }} options `tools`: also the packages of developers, which the service does not need
 */
export async function prepare(root, { tools }) {
  try {
    if (isInstalled(root, tools) && isBuilt(root)) return;
    /** @param {string} owner */
    const onWait = (owner) => console.error(`Waiting for process ${owner}, which is preparing this folder…`);
    await withLock(join(root, '.prepare-lock'), onWait, async () => {
      removeLeftovers(root);
      if (!isInstalled(root, tools)) await beside(root, (side) => install(root, side, tools));
      if (!isBuilt(root)) await beside(root, (side) => build(root, side));
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
 * @param {(side: string) => Promise<void>} make gets an empty folder, on the same file system and as deep as dist/, so that the
 *   relative paths in source maps stay correct
 */
async function beside(root, make) {
  const side = join(root, `.prepare-${process.pid}`);
  mkdirSync(side);
  try {
    await make(side);
  } finally {
    rmSync(side, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {string} side
 */
async function build(root, side) {
  console.error('Building…');
  // Before the build: if a source changes during the build, the next start builds again.
  const digest = digestOf(root);
  const ok = await run(process.execPath, [join('scripts', 'compile.mjs'), side], { cwd: root });
  if (!ok) throw new PrepareError('The build failed. See the message of the compiler above.');
  replaceFolder(join(root, 'dist'), side);
  writeFileSync(join(root, stamp), digest);
}

/** @param {string} root */
function isBuilt(root) {
  try {
    return readFileSync(join(root, stamp), 'utf8') === digestOf(root);
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
 */
function digestOf(root) {
  const hash = createHash('sha256');
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
