import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

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

test('output to a full disk is an error, and not an output that lacks its end', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [program, 'completion', 'bash'], { stdio: ['ignore', full, 'pipe'] });
  expect(await ended(child)).toEqual([1, 'The output could not be written: ENOSPC: no space left on device, write\n']);
});

test('if the reader of the output has ended, the command ends without a message', async () => {
  const child = spawn(process.execPath, [program, 'completion', 'bash'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  expect(await ended(child)).toEqual([1, '']);
});
