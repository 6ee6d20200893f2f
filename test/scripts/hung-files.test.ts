import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postern-hung-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs test files in a Vitest of their own. @param seconds the longest time of a file. After half of it, the reporter names the file */
async function run(seconds: number, files: Readonly<Record<string, string>>, ...options: string[]) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { test } from '${vitest}/dist/index.js';\n${text}`);
  }
  const reporter = join(root, 'scripts/lib/hung-files.mjs');
  const args = ['run', '--root', folder, '--pool=forks', '--reporter=default', `--reporter=${reporter}`, ...options];
  const child = spawn(process.execPath, [join(vitest, 'vitest.mjs'), ...args], {
    cwd: folder,
    env: { ...process.env, HUNG_FILE_SECONDS: `${seconds}`, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  return { code, output };
}

test('a file that blocks its thread is named and ended, and the run fails', async () => {
  // One worker runs the larger file first. So the reporter measures the time of the other one after it has ended the first.
  const files = {
    'blocked.test.js': "test('never ends', () => { for (;;); });",
    'other.test.js': "test('passes', () => {});",
  };
  const { code, output } = await run(12, files, '--maxWorkers=1');
  expect(output).toMatch(/blocked\.test\.js has run for \d+ s/);
  expect(output).toContain('All workers are killed');
  expect(output).toMatch(/other\.test\.js \(1 test\)/);
  expect(code).toBe(1);
});

test('a global setup that does not end is named, and the run fails', async () => {
  writeFileSync(join(folder, 'vitest.config.js'), "export default { test: { globalSetup: './setup.js' } };");
  writeFileSync(join(folder, 'setup.js'), 'export default () => new Promise(() => setInterval(() => {}, 1000));');
  const { code, output } = await run(6, { 'quick.test.js': "test('passes', () => {});" });
  expect(output).toMatch(/The global setup has run for \d+ s/);
  expect(code).toBe(1);
});

test('files that end in time are not named', async () => {
  const { code, output } = await run(60, { 'quick.test.js': "test('passes', () => {});" });
  expect(output).not.toContain('has run for');
  expect(code).toBe(0);
});
