import { execFileSync } from 'node:child_process';
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createBackupFolder } from '../../../src/backups/places/folder.js';
import { listStored } from '../../../src/backups/places/place.js';
import { temporaryFolder } from '../../cli/command.js';

const nameOf = (day: number) => `postern-7-2026010${day}T000000Z.tar`;

it('files that are no regular files are not listed as backups, and reading them fails at once', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const path = (name: string) => join(folder.path, name);
  const store = createBackupFolder(folder.path);
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
