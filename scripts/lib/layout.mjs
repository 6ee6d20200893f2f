import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const maxFiles = 16;
const minLines = 15;
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
 * Checks the layout of src/, test/ and packages/: at most 16 files directly in a folder; no file under 15 lines without a type; each test
 * file at the mirrored path of its source file, with a name that begins with the name of that file.
 *
 * @param {string} root the project's folder
 * @returns {string[]} the errors, as sentences
 */
export function layoutErrors(root) {
  const packages = existsSync(join(root, 'packages')) ? readdirSync(join(root, 'packages')) : [];
  return [
    ...folderErrors(root, 'src'),
    ...packages.flatMap((name) => folderErrors(root, `packages/${name}/src`)),
    ...mirrorErrors(root),
  ];
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function folderErrors(root, folder) {
  const entries = existsSync(join(root, folder)) ? readdirSync(join(root, folder), { withFileTypes: true }) : [];
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const tooMany = files.length > maxFiles ? [`too-many-files: ${folder} has ${files.length}, at most ${maxFiles}`] : [];
  const small = files.filter((name) => isTooSmall(readFileSync(join(root, folder, name), 'utf8')));
  return [
    ...tooMany,
    ...small.map((name) => `too-small: ${folder}/${name} has under ${minLines} lines and defines no type`),
    ...entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => folderErrors(root, `${folder}/${name}`)),
  ];
}

/** @param {string} text */
function isTooSmall(text) {
  return text.trimEnd().split('\n').length < minLines && !/^export (?:interface|type|class) /m.test(text);
}

/**
 * @param {string} root
 * @returns {string[]}
 */
function mirrorErrors(root) {
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
