import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Tests of the whole service or of the console, and helpers of tests. They mirror no file of src. */
const unmirrored = [
  'acceptance',
  'browser',
  'clients',
  'console',
  'deploy',
  'docs',
  'faults',
  'proxies',
  'scripts',
  'security',
  'support',
];

/**
 * Checks the layout of test/: each test file is at the mirrored path of its source file, with a name that begins with the
 * name of that file.
 *
 * @param {string} root the project's folder
 * @returns {string[]} the errors, as sentences
 */
export function layoutErrors(root) {
  return testsIn(root, 'test')
    .filter((path) => !unmirrored.includes(path.split('/')[1] ?? ''))
    .filter((path) => !hasSource(root, path))
    .map((path) => `no-source: ${path} mirrors no file of src`);
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]} every test file below the folder
 */
function testsIn(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return testsIn(root, path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/**
 * @param {string} root
 * @param {string} path
 */
function hasSource(root, path) {
  const folder = dirname(path).replace(/^test/, 'src');
  const name = basename(path, '.test.ts');
  const sources = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  return sources.some((source) => {
    const own = source.replace(/\.ts$/, '');
    return name === own || name.startsWith(`${own}-`);
  });
}
