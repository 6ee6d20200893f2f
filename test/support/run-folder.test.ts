import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeAbandoned } from './run-folder.js';

/** More than the largest process id of Linux. */
const nobody = 2 ** 22 + 1;

test('the data of killed runs is removed, and that of runs that go on and all other files stay', async () => {
  const place = await mkdtemp(join(tmpdir(), 'postern-places-'));
  onTestFinished(() => rm(place, { recursive: true }));
  const kept = [`postern-test-${process.pid}-abc`, 'postern-test-abc', `postern-test-image-${nobody}-abc`];
  for (const name of [...kept, `postern-test-${nobody}-abc`]) {
    await mkdir(join(place, name, 'postgres'), { recursive: true });
    await writeFile(join(place, name, 'postgres/PG_VERSION'), '18');
  }
  await removeAbandoned(place);
  expect((await readdir(place)).sort()).toEqual(kept.sort());
});
