import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
/** A command that prints more than 1 KB. */
const command = [program, 'completion', 'bash'];

beforeAll(buildService, BUILD_TIMEOUT);

/** @returns the exit code and what the command writes to standard error */
async function ended(child: ChildProcess): Promise<[unknown, string]> {
  let messages = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const [code] = await once(child, 'close');
  return [code, messages];
}

test('a file that takes only a part of the output is an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-output-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'output');
  // Two blocks of 512 bytes. Without the trap, the system ends the process.
  const script = `trap '' XFSZ; ulimit -f 2; exec "$@" > '${path}'`;
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  expect(await ended(child)).toEqual([1, 'The output could not be written: EFBIG: file too large, write\n']);
  expect((await stat(path)).size).toBeGreaterThan(0);
});

test.runIf(process.platform === 'linux')('a full device is an error', async () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const child = spawn(process.execPath, command, { stdio: ['ignore', full, 'pipe'] });
  expect(await ended(child)).toEqual([1, 'The output could not be written: ENOSPC: no space left on device, write\n']);
});

test('if the reader of the output has ended, the command ends without a message', async () => {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout?.destroy();
  expect(await ended(child)).toEqual([141, '']);
});
