import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changedFiles, testFiles, touchedFiles } from '../../scripts/lib/changed-tests.mjs';

const root = join(import.meta.dirname, '../..');
const touchedBy = (path: string) => touchedFiles([path], testFiles(root));

test.each([
  ['src/login/login.ts', ['test/support/process.ts', 'test/docs/log-messages.test.ts'], 'test/scripts/prepare.test.ts'],
  ['migrations/0008_new.sql', ['test/support/database.ts', 'test/schema/migrate.test.ts'], 'test/lib/ids.test.ts'],
  ['docs/guide.md', ['test/docs/commands.test.ts', 'test/docs/links.test.ts'], 'test/support/process.ts'],
  ['packages/client/src/index.ts', ['test/deploy/packed-packages.test.ts'], 'test/support/process.ts'],
  ['packages/client/README.md', ['packages/server/test/examples.test.ts'], 'test/support/process.ts'],
  ['scripts/lib/lock.mjs', ['test/scripts/prepare.test.ts'], 'test/support/process.ts'],
  ['test/delivery/self-signed.pem', ['test/delivery/outbound.test.ts'], 'test/docs/links.test.ts'],
  ['console/src/main.tsx', ['test/scripts/console-build.test.ts'], 'test/support/process.ts'],
])('a change of %s also runs tests that do not import it', (path, expected, untouched) => {
  const touched = touchedBy(path);
  expect(touched).toEqual(expect.arrayContaining([path, ...expected]));
  expect(touched).not.toContain(untouched);
});

test('a changed test runs alone', () => {
  expect(touchedBy('test/lib/ids.test.ts')).toEqual(['test/lib/ids.test.ts']);
});

test.each(['package-lock.json', 'vitest.config.ts', 'test/support/global-setup.ts', 'a-new-folder/file.txt'])(
  'a change of %s runs all tests',
  (path) => expect(touchedBy(path)).toBeUndefined(),
);

test('a change of a workflow runs no test', () => {
  expect(touchedBy('.github/workflows/ci.yml')).toEqual(['.github/workflows/ci.yml']);
});

test('changes are those since the commit at which the branch began, with files that are not committed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-changed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const commit = (path: string) => {
    write(path, path);
    git('add', '.');
    git('commit', '-qm', path);
  };
  git('init', '-q', '-b', 'main');
  commit('first');
  git('checkout', '-qb', 'topic');
  commit('src/on-topic.ts');
  git('checkout', '-q', 'main');
  commit('src/on-main.ts');
  git('checkout', '-q', 'topic');
  write('first', 'changed');
  write('test/new.test.ts', 'new');
  expect(changedFiles(folder, 'HEAD').sort()).toEqual(['first', 'test/new.test.ts']);
  expect(changedFiles(folder, 'main').sort()).toEqual(['first', 'src/on-topic.ts', 'test/new.test.ts']);
});
