import { constants } from 'node:fs';
import { open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { imageFiles, type Rendition } from '../../contract/image.js';
import { syncFolder } from '../../lib/files.js';
import { parseId } from '../../lib/ids.js';
import { createPrivateFolder, writePrivateFile } from '../../lib/private-file.js';
import { Problem } from '../../lib/problem.js';
import type { ImageStorage, Renditions, StoredFile } from '../../notifications/images/storage.js';
import { createLongUnsettledFinder } from './long-unsettled.js';

export interface ImageDiskOptions {
  /** The folder of all files. It is created with the first image. */
  readonly folder: string;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow?: () => number;
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Stores images as files that only their owner can read: `ab/cd/abcd…/card.jpg`, so that no folder gets large. An
 * image's folder is renamed to its final name when all its files are complete and on disk. The folder `unsettled` has
 * an empty file for each unsettled image (see `ImageStorage`). The age of this file is counted in memory and not read
 * from its status, so a change of the system clock does not change the age.
 */
export function createImageDisk({
  folder,
  monotonicNow: now = () => performance.now(),
}: ImageDiskOptions): ImageStorage {
  const pathOf = (id: string) => join(folder, id.slice(0, 2), id.slice(2, 4), id);
  const draftOf = (id: string) => join(folder, 'drafts', id);
  const unsettledFolder = join(folder, 'unsettled');
  const unsettledPathOf = (id: string) => join(unsettledFolder, id);
  const findLongUnsettled = createLongUnsettledFinder(now);

  async function markUnsettled(id: string): Promise<void> {
    await createPrivateFolder(unsettledFolder);
    await writeFile(unsettledPathOf(id), '', { mode: 0o600 });
    await syncFolder(unsettledFolder);
  }

  async function remove(id: string): Promise<void> {
    for (const path of [draftOf(id), pathOf(id), unsettledPathOf(id)]) await rm(path, { recursive: true, force: true });
  }

  return {
    async put(id, renditions) {
      try {
        await markUnsettled(id);
        await writeAll(draftOf(id), renditions);
        await moveTo(pathOf(id), draftOf(id));
      } catch (error) {
        await remove(id).catch(() => undefined);
        throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
      }
    },
    open: (id, rendition) => openFile(join(pathOf(id), imageFiles[rendition])),
    markSettled: (id) => rm(unsettledPathOf(id), { force: true }),
    markUnsettled,
    remove,
    async longUnsettled() {
      const names = await readdir(unsettledFolder).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return findLongUnsettled(names.filter((name) => parseId(name) === name));
    },
  };
}

async function writeAll(folder: string, renditions: Renditions): Promise<void> {
  for (const [rendition, file] of Object.entries(imageFiles)) {
    await writePrivateFile(join(folder, file), renditions[rendition as Rendition], { replace: true });
  }
  await syncFolder(folder);
}

async function moveTo(path: string, draft: string): Promise<void> {
  const parent = dirname(path);
  await createPrivateFolder(parent);
  await rename(draft, path);
  // The parent folders may be new too.
  for (const folder of [parent, dirname(parent), dirname(dirname(parent))]) await syncFolder(folder);
}

/** Opens regular files only, and follows no symbolic link in the last component (O_NOFOLLOW of open(2)). */
async function openFile(path: string): Promise<StoredFile | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const status = await file.stat();
    if (status.isFile()) return { size: status.size, content: file.createReadStream() };
    await file.close();
    return undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
  }
}
