import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What `.ci/run` prints at its end for these reports of Vitest, one for each run. */
function sumUp(reports: Readonly<Record<string, object | undefined>>) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-sum-up-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [run, testResults] of Object.entries(reports)) {
    writeFileSync(join(folder, `${run}.command`), 'CI_FULL=1 npm test --\n');
    if (testResults) writeFileSync(join(folder, `${run}.json`), JSON.stringify({ testResults }));
  }
  const args = ['scripts/ci/sum-up.mjs', folder, ...Object.keys(reports)];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

const file = (status: string, assertionResults: readonly object[], message = '') => ({
  ...{ name: join(root, 'test/a.test.ts'), status, message, assertionResults },
});
const passed = { status: 'passed', fullName: 'b passes' };

test('all that passed is a total of all runs', () => {
  const { status, lines } = sumUp({ one: [file('passed', [passed, passed])], two: [file('passed', [passed])] });
  expect({ status, lines }).toEqual({ status: 0, lines: ['3 passed, 0 failed'] });
});

test('a failed test is named with its message and the command that repeats it alone', () => {
  const failed = { status: 'failed', fullName: "it's (not) here", failureMessages: ['Error: no\nat 1\nat 2\nat 3'] };
  const { status, lines } = sumUp({ browser: [file('failed', [passed, failed])] });
  expect(lines).toEqual([
    "FAILED: browser: test/a.test.ts > it's (not) here",
    ...['    Error: no', '    at 1', '    at 2'],
    "    Repeat: CI_FULL=1 npm test -- test/a.test.ts -t 'it'\\''s \\(not\\) here'",
    '1 passed, 1 failed',
  ]);
  expect(status).toBe(1);
});

test.each([
  ['a file that could not be loaded', [file('failed', [], 'SyntaxError')], 'SyntaxError'],
  ['a test that did not run', [file('passed', [{ status: 'skipped', fullName: 'x' }])], 'did not run'],
  ['a run without a report', undefined, 'the run ended without a report'],
  ['a run of no file', [], 'the run had no tests'],
])('%s is a failure', (_, testResults, message) => {
  const { status, lines } = sumUp({ one: testResults });
  expect(lines.join('\n')).toContain(message);
  expect(lines.at(-1)).toMatch(/ 1 failed$/);
  expect(status).toBe(1);
});
