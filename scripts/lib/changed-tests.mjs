import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';

/**
 * What tests read or run without importing it, and these tests, or a module that they all import. Vitest follows imports only.
 * @type {{ changed: RegExp, touched: RegExp }[]}
 */
const readers = [
  // The built service, which runs as a process of its own, and the tests of names and texts in its sources.
  {
    changed: /^(src|migrations|console\/built)\//,
    touched: /^test\/(support\/process\.ts|deploy\/|docs\/|http\/openapi\/)/,
  },
  { changed: /^migrations\//, touched: /^test\/support\/database\.ts|^test\/(database|schema)\// },
  {
    changed: /^console\//,
    touched: /^test\/(browser\/console\/|console\/|docs\/|http\/routes\/console\/|scripts\/console)/,
  },
  {
    changed: /^(docs|deploy|examples)\/|\.md$/,
    touched: /^test\/(docs|deploy|browser|proxies)\/|\/examples\.test\.ts$/,
  },
  { changed: /^docs\/openapi\.json$/, touched: /^test\/support\/(conformance|openapi)\.ts|^test\/http\/openapi\// },
  {
    changed: /^packages\//,
    touched: /\/examples\.test\.ts$|^test\/(docs|browser|deploy)\/|^packages\/.*\/test\/react-native/,
  },
  { changed: /^(bench|deploy)\//, touched: /^test\/(docs|deploy)\// },
  { changed: /^(scripts|\.ci)\/|^\.dependency-cruiser\.cjs$/, touched: /^test\/(scripts|docs)\// },
];

/** Files on which every test depends. */
const everything =
  /^(package(-lock)?\.json|vitest\.config\.ts|tsconfig.*\.json|test\/support\/(global-setup|run-folder)\.ts|scripts\/test\.mjs)$/;

/** Files on which no test depends. */
const nothing = /^(\.github\/|LICENSE$|\.gitignore$|biome\.json$|knip\.json$)/;

/** @param {string} root @param {string[]} args @returns {string[]} the lines that git prints */
const git = (root, ...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).split('\n').filter(Boolean);

/**
 * The files that differ from a commit, also those that git does not know yet.
 * @param {string} root the project's folder
 * @param {string} since a commit, such as `HEAD` or `main`. Changes on its branch do not count.
 */
export function changedFiles(root, since) {
  const [base = since] = git(root, 'merge-base', since, 'HEAD');
  return [...git(root, 'diff', '--name-only', base), ...git(root, 'ls-files', '--others', '--exclude-standard')];
}

/**
 * The files whose importers test a change: the changed files, and for those that tests read without an import, these tests.
 * @param {string[]} changed paths in the project
 * @param {string[]} files the paths of all tests and of the modules that they share
 * @returns {string[] | undefined} undefined if all tests have to run
 */
export function touchedFiles(changed, files) {
  const touched = new Set(changed);
  for (const path of changed) {
    if (nothing.test(path)) continue;
    const rules = readers.filter((rule) => rule.changed.test(path));
    const isTest = /^(packages\/[^/]+\/)?test\//.test(path);
    if (everything.test(path) || (rules.length === 0 && !isTest)) return undefined;
    for (const file of files) {
      // A test reads what lies beside it, such as a certificate.
      const isBeside = isTest && !path.endsWith('.ts') && file.startsWith(`${dirname(path)}/`);
      if (isBeside || rules.some((rule) => rule.touched.test(file))) touched.add(file);
    }
  }
  return [...touched];
}

/** The paths of all tests and of the modules that they share. @param {string} root */
export const testFiles = (root) => git(root, 'ls-files', '--cached', '--others', 'test/*.ts', 'packages/*/test/*.ts');
