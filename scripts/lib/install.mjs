import { accessSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { hasCode, PrepareError } from './errors.mjs';
import { run } from './run.mjs';
import { replaceFolder } from './swap.mjs';

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean, devOptional?: boolean, link?: boolean, os?: string[], cpu?: string[] }} LockedPackage */

/**
 * Installs the packages of package-lock.json. Not in place: `npm ci` deletes node_modules first, so a failure (no network, a
 * kill) would leave no packages.
 *
 * @param {string} root the project's folder
 * @param {string} side an empty folder on the same file system
 * @param {boolean} tools whether to install the packages of developers too
 * @throws {PrepareError}
 */
export async function install(root, side, tools) {
  const reason = existsSync(join(root, 'node_modules')) ? 'packages changed' : 'first start, about 15 s';
  console.error(`Installing packages (${reason})…`);
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    if (existsSync(join(root, name))) copyFileSync(join(root, name), join(side, name));
  }
  const npm = npmCommand();
  const ok = await run(npm.command, [...npm.args, ...npmOptions(root, side, tools)], { cwd: side, quiet: true });
  if (!ok) {
    throw new PrepareError(
      'Installing the packages failed. See the message of npm above. It must be able to reach a package registry.',
    );
  }
  replaceFolder(join(root, 'node_modules'), join(side, 'node_modules'));
}

/**
 * Whether npm's record of the installed packages matches the lock file, as after `npm ci`. Optional packages may be missing: the
 * lock file lists those of all platforms. The folder may be a copy from another platform. `package.json` does not count: only the lock
 * file says what to install.
 *
 * @param {string} root
 * @param {boolean} tools
 */
export function isInstalled(root, tools) {
  /** @type {Record<string, LockedPackage>} */
  const locked = readJson(join(root, 'package-lock.json')).packages ?? {};
  /** @type {Record<string, LockedPackage> | undefined} */
  const installed = readJson(join(root, 'node_modules', '.package-lock.json')).packages;
  if (installed === undefined) return false;
  for (const [path, { link, optional, dev, devOptional }] of Object.entries(locked)) {
    const isNeeded = path.startsWith('node_modules/') && !link && !optional && (tools || !(dev || devOptional));
    if (isNeeded && !(path in installed)) return false;
  }
  for (const [path, { version, integrity, os, cpu }] of Object.entries(installed)) {
    const isLocked = version === locked[path]?.version && integrity === locked[path]?.integrity;
    if (!isLocked || os?.includes(process.platform) === false || cpu?.includes(process.arch) === false) return false;
  }
  return true;
}

/**
 * @param {string} path
 * @returns {Record<string, any>} empty where there is no such file
 */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return {};
    throw error;
  }
}

/** The npm that runs this script, or else the one on the PATH. Other package managers set the variable too. */
function npmCommand() {
  const path = process.env.npm_execpath ?? '';
  return /^npm-cli\.c?js$/.test(basename(path))
    ? { command: process.execPath, args: [path] }
    : { command: 'npm', args: [] };
}

/**
 * @param {string} root
 * @param {string} side
 * @param {boolean} tools
 */
function npmOptions(root, side, tools) {
  // Without workspaces: the packages in packages/ have no dependencies, and `side` does not contain their folders.
  const options = [
    'ci',
    tools ? '--include=dev' : '--omit=dev',
    '--workspaces=false',
    '--ignore-scripts',
    '--prefer-offline',
  ];
  options.push('--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error');
  // npm's default pauses before its retries, 10 s and 60 s, would delay the error without a network.
  options.push('--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=5000');
  // `npm --prefix X start` sets its prefix in the environment. A command line option overrides it.
  options.push('--prefix', side);
  return canWriteDefaultCache() ? options : [...options, '--cache', join(root, '.npm-cache')];
}

/** False for a read-only or missing HOME, and for a cache that an earlier `sudo npm` left to root. */
function canWriteDefaultCache() {
  try {
    const cache = process.env.npm_config_cache ?? join(homedir(), '.npm');
    for (const path of [cache, join(cache, '_cacache', 'tmp'), join(cache, '_cacache', 'content-v2')]) {
      mkdirSync(path, { recursive: true });
      accessSync(path, constants.W_OK);
    }
    return true;
  } catch {
    return false;
  }
}
