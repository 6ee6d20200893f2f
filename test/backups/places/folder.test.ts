import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createBackupFolder } from '../../../src/backups/places/folder.js';

async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'postern-folder-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function* pieces(count: number, last?: Error) {
  for (let piece = 0; piece < count; piece += 1) yield Buffer.alloc(1_000_000);
  if (last !== undefined) throw last;
}

/** Mounts a file system of 4 MiB if the account may. Otherwise, the same error comes from the content. */
function mountSmallDisk(folder: string): { readonly content: AsyncGenerator<Buffer>; readonly mount: RegExp } {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    return { content: pieces(4, error), mount: /\/.*/ };
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return { content: pieces(10), mount: new RegExp(folder) };
}

test('a backup on a full disk names the folder, the mount and the space, and leaves no file', async () => {
  const folder = await createFolder();
  const { content, mount } = mountSmallDisk(folder);
  const backups = join(folder, 'backups');
  const failure = await createBackupFolder(backups)
    .write('one.tar', content)
    .catch((error: Error) => error.message);
  expect(failure).toMatch(
    new RegExp(
      `^The disk of ${backups}, mounted at ${mount.source}, is full: [\\d.]+ of [\\d.]+ MB are free after 4.0 MB of the backup`,
    ),
  );
  expect(await readdir(backups)).toEqual([]);
});

test('another failure of the content stays as it is', async () => {
  const folder = await createFolder();
  const write = createBackupFolder(folder).write('one.tar', pieces(1, new Error('the database is away')));
  await expect(write).rejects.toThrow(/^the database is away$/);
});
