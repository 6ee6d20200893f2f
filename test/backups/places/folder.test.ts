import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createBackupFolder } from '../../../src/backups/places/folder.js';
import { listStored } from '../../../src/backups/places/place.js';

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

test('a backup replaces no file: one that is there is found before the content is read, and a later one at the end', async () => {
  const folder = await createFolder();
  const path = join(folder, 'one.tar');
  const store = createBackupFolder(folder);
  let reads = 0;
  async function* content() {
    reads += 1;
    await writeFile(path, 'written meanwhile');
    yield Buffer.from('a backup');
  }
  for (let time = 1; time <= 2; time += 1)
    await expect(store.write('one.tar', content())).rejects.toThrow(`${path} exists already`);
  expect([reads, await readFile(path, 'utf8'), await readdir(folder)]).toEqual([1, 'written meanwhile', ['one.tar']]);
});

const nameOf = (day: number) => `postern-7-2026010${day}T000000Z.tar`;

test('files that are no regular files are not listed as backups, and reading them fails at once', async () => {
  const folder = await createFolder();
  const path = (name: string) => join(folder, name);
  const store = createBackupFolder(folder);
  await writeFile(path(nameOf(1)), 'a backup');
  await symlink(path(nameOf(1)), path(nameOf(2)));
  execFileSync('mkfifo', [path(nameOf(3)), path(`.${nameOf(3)}.part`)]);
  await mkdir(path(nameOf(4)));
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(path(nameOf(5)), resolve));
  onTestFinished(() => void socket.close());
  await symlink('/dev/zero', path(nameOf(6)));
  await symlink(path(nameOf(3)), path(nameOf(7)));
  await symlink(path('nothing'), path(nameOf(8)));

  expect(await listStored(store)).toEqual([nameOf(1), nameOf(2)]);
  for (const day of [1, 2]) expect(await buffer(store.read(nameOf(day)))).toEqual(Buffer.from('a backup'));
  for (const day of [3, 4, 5, 6, 7])
    await expect(buffer(store.read(nameOf(day))), nameOf(day)).rejects.toThrow(`${path(nameOf(day))} is not a file.`);
  await expect(buffer(store.read(nameOf(8)))).rejects.toThrow('There is no backup');
  await utimes(path(`.${nameOf(3)}.part`), new Date(0), new Date(0));
  await store.removeAbandoned('postern-');
});
