import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createImageDisk } from '../../../src/delivery/storage/disk.js';
import type { ImageStorage } from '../../../src/notifications/images/storage.js';
import { createImageFolder } from '../../support/image-fixtures.js';
import { problemOf } from '../../support/inbox.js';

const renditions = { card: Buffer.from('card'), full: Buffer.from('full'), thumbnail: Buffer.from('thumbnail') };
const hour = 3_600_000;

let folder: string;
let now: number;
let disk: ImageStorage;
beforeEach(async () => {
  const imageFolder = await createImageFolder();
  onTestFinished(imageFolder.remove);
  folder = imageFolder.path;
  now = 1000;
  disk = createImageDisk({ folder, monotonicNow: () => now });
});

const placeOf = (id: string) => join(folder, id.slice(0, 2), id.slice(2, 4), id);

async function content(id: string, rendition: keyof typeof renditions): Promise<string | undefined> {
  const file = await disk.open(id, rendition);
  return file && (await buffer(file.content)).toString();
}

describe('images on disk', () => {
  it('are three files that only their owner can read, in folders of two levels', async () => {
    const id = crypto.randomUUID();
    await disk.put(id, renditions);
    expect(await content(id, 'card')).toBe('card');
    expect(await content(id, 'full')).toBe('full');
    const thumbnail = await disk.open(id, 'thumbnail');
    expect(thumbnail?.size).toBe(9);
    thumbnail?.content.destroy();
    expect((await readdir(placeOf(id))).sort()).toEqual(['card.jpg', 'full.jpg', 'thumbnail.jpg']);

    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(6);
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('do not exist before they are stored or after they are removed, and can be removed repeatedly', async () => {
    const id = crypto.randomUUID();
    expect(await disk.open(id, 'card')).toBeUndefined();
    await disk.remove(id);
    await disk.put(id, renditions);
    await disk.remove(id);
    await disk.remove(id);
    expect(await disk.open(id, 'card')).toBeUndefined();
    expect(await disk.longUnsettled()).toEqual([]);
  });

  it('cannot lead out of their folder by a symbolic link', async () => {
    const id = crypto.randomUUID();
    await disk.put(id, renditions);
    const secret = join(dirname(folder), 'secret');
    await writeFile(secret, 'secret');
    await rm(join(placeOf(id), 'card.jpg'));
    await symlink(secret, join(placeOf(id), 'card.jpg'));
    await rm(join(placeOf(id), 'full.jpg'));
    await mkdir(join(placeOf(id), 'full.jpg'));
    expect([await disk.open(id, 'card'), await disk.open(id, 'full')]).toEqual([undefined, undefined]);
    expect(await content(id, 'thumbnail')).toBe('thumbnail');
  });

  it('are stored completely or not at all if one file cannot be written', async () => {
    const id = crypto.randomUUID();
    // Blocks the last file.
    await mkdir(join(folder, 'drafts', id, 'thumbnail.jpg', 'x'), { recursive: true });
    const problem = await problemOf(disk.put(id, renditions));
    expect([problem.code, problem.options.retryAfter]).toEqual(['storage_unavailable', 1]);
    expect(await disk.open(id, 'card')).toBeUndefined();
    expect(await readdir(join(folder, 'drafts'))).toEqual([]);
    expect(await readdir(join(folder, 'unsettled'))).toEqual([]);
  });

  it('are unsettled until they are marked as settled, and are listed as long unsettled after an hour', async () => {
    const [settled, left, again] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    for (const id of [settled, left, again]) await disk.put(id, renditions);
    await disk.markSettled(settled);
    await disk.markSettled(again);
    expect(await disk.longUnsettled()).toEqual([]);
    now += hour / 2;
    await disk.markUnsettled(again);
    expect(await disk.longUnsettled()).toEqual([]);
    now += hour / 2 + 1;
    expect(await disk.longUnsettled()).toEqual([left]);
    now += hour;
    expect((await disk.longUnsettled()).sort()).toEqual([left, again].sort());
    await disk.markSettled(left);
    await disk.markSettled(left);
    expect(await disk.longUnsettled()).toEqual([again]);
    expect(await content(left, 'card')).toBe('card');
  });

  it('that a killed process has left are found by the next process, including unfinished files', async () => {
    const id = crypto.randomUUID();
    await disk.markUnsettled(id);
    await mkdir(join(folder, 'drafts', id), { recursive: true });
    await writeFile(join(folder, 'drafts', id, 'card.jpg.123'), 'ca');
    await writeFile(join(folder, 'unsettled', 'something else'), '');
    const next = createImageDisk({ folder, monotonicNow: () => now });
    expect(await next.longUnsettled()).toEqual([]);
    now += hour + 1;
    expect(await next.longUnsettled()).toEqual([id]);
    await next.remove(id);
    expect(await readdir(join(folder, 'drafts'))).toEqual([]);
    expect(await readFile(join(folder, 'unsettled', 'something else'), 'utf8')).toBe('');
  });
});
