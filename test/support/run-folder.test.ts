import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { removeAbandoned } from './run-folder.js';

/** More than the largest process id of Linux. */
const nobody = 2 ** 22 + 1;

test('the data of killed runs is removed, also with a file system in it, and that of runs that go on and all other files stay', async () => {
  const place = await mkdtemp(join(tmpdir(), 'postern-places-'));
  onTestFinished(() => rm(place, { recursive: true }));
  const kept = [`postern-test-${process.pid}-abc`, 'postern-test-abc', `postern-test-image-${nobody}-abc`];
  const killed = `postern-test-${nobody}-abc`;
  for (const name of [...kept, killed]) {
    await mkdir(join(place, name, 'postgres/disk'), { recursive: true });
    await writeFile(join(place, name, 'postgres/PG_VERSION'), '18');
  }
  // Only root may mount. For others the folder has no file system in it.
  await promisify(execFile)('mount', ['-t', 'tmpfs', 'tmpfs', join(place, killed, 'postgres/disk')]).catch(
    () => undefined,
  );
  await removeAbandoned(place);
  expect((await readdir(place)).sort()).toEqual(kept.sort());
});
