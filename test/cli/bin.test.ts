import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

beforeAll(buildService, BUILD_TIMEOUT);

test('output to a full disk is an error, and not an output that lacks its end', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [program, 'completion', 'bash'], { stdio: ['ignore', full, 'pipe'] });
  const [message, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([code, message]).toEqual([1, 'The output could not be written: ENOSPC: no space left on device, write\n']);
});

test('if the reader of the output has ended, the command ends without a message', async () => {
  const child = spawn(process.execPath, [program, 'completion', 'bash'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [message, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([code, message]).toEqual([1, '']);
});
