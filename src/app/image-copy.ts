import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import { type CopyResult, copyImage } from '../delivery/storage/copy.js';
import { createImageDisk } from '../delivery/storage/disk.js';
import { existingImages, uploadedImages } from '../notifications/images/uploads.js';
import { imageFolderOf } from './base/backup-source.js';
import { openImageStorage } from './base/image-storage.js';

export type CopyCounts = Record<CopyResult, number>;

export interface ImageCopyOptions {
  /** Whether to remove images from the disk that are in the bucket. */
  readonly deletes: boolean;
  /** Called after each step. */
  readonly onProgress: (counts: CopyCounts) => void;
  /** Stops after the current step. */
  readonly signal: AbortSignal;
}

/** Images of one step. */
const batch = 50;
/** Images that are copied at a time. */
const parallel = 4;

/**
 * Copies all uploaded images from the disk to the configured bucket. It can be stopped at any time: a further run compares
 * the images that are in the bucket, and copies the others.
 * @throws Error if an image differs after it was copied
 */
export async function copyImagesToBucket(
  database: Database,
  config: Config,
  { deletes, onProgress, signal }: ImageCopyOptions,
): Promise<CopyCounts> {
  const from = createImageDisk({ folder: imageFolderOf(config) });
  const { storage: to, close } = await openImageStorage(config);
  const counts: CopyCounts = { copied: 0, present: 0, missing: 0 };

  async function copyStep(ids: readonly string[]): Promise<void> {
    const copied: string[] = [];
    for (let start = 0; start < ids.length; start += parallel) {
      const group = ids.slice(start, start + parallel);
      const results = await Promise.all(group.map((id) => copyImage(id, { from, to })));
      results.forEach((result, at) => {
        counts[result] += 1;
        const id = group[at];
        if (result === 'copied' && id !== undefined) copied.push(id);
      });
    }
    // The service may have removed an image in the meantime, from the disk only.
    const existing = await existingImages(database, copied);
    for (const id of copied) await (existing.has(id) ? to.markSettled(id) : to.remove(id));
    if (deletes) for (const id of ids) await from.remove(id);
  }

  try {
    let last: string | undefined;
    while (!signal.aborted) {
      const ids = await uploadedImages(database, last, batch);
      if (ids.length === 0) break;
      await copyStep(ids);
      onProgress(counts);
      last = ids.at(-1);
    }
    return counts;
  } finally {
    await close();
  }
}
