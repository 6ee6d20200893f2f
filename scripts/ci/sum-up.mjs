// node sum-up.mjs <folder> <run...>: prints each failed test of the runs with the command that repeats it, and then the totals of
// all runs. The folder has two files for each run: the report of Vitest, `<run>.json`, and the command, `<run>.command`. A run
// without a report, a test file that could not be loaded and a test that did not run are failures.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [folder, ...runs] = process.argv.slice(2);

/** @param {string} run @param {string} extension */
function read(run, extension) {
  const path = `${folder}/${run}.${extension}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** @param {string | undefined} message */
const firstLines = (message) => (message ?? '').trim().split('\n').slice(0, 3).join('\n    ');

/** One word for a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** `-t` of Vitest takes a regular expression. @param {string} title */
const pattern = (title) => quoted(title.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));

let [passed, failed] = [0, 0];
for (const run of runs) {
  const report = read(run, 'json');
  const files = report === undefined ? [] : JSON.parse(report).testResults;
  if (files.length === 0) {
    failed += 1;
    console.log(`FAILED: ${run}: the run ${report === undefined ? 'ended without a report' : 'had no tests'}`);
  }
  const command = read(run, 'command')?.trim();
  for (const { name, status, message, assertionResults } of files) {
    const path = relative(process.cwd(), name);
    const passedHere = assertionResults.filter((test) => test.status === 'passed').length;
    passed += passedHere;
    failed += assertionResults.length - passedHere || (status === 'failed' ? 1 : 0);
    if (message) console.log(`FAILED: ${run}: ${path}\n    ${firstLines(message)}\n    Repeat: ${command} ${path}`);
    for (const { status, fullName, failureMessages } of assertionResults) {
      if (status === 'passed') continue;
      const why = status === 'failed' ? firstLines(failureMessages?.[0]) : 'did not run';
      console.log(
        `FAILED: ${run}: ${path} > ${fullName}\n    ${why}\n    Repeat: ${command} ${path} -t ${pattern(fullName)}`,
      );
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
