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
  readonly deletesFromDisk: boolean;
  /** Called after each step. */
  readonly onProgress: (counts: CopyCounts) => void;
  /** Stops after the current step. */
  readonly signal: AbortSignal;
}

/** The number of images in one step. */
const batchSize = 50;
/** The number of images that are copied at the same time. */
const maxParallel = 4;

/**
 * Copies all uploaded images from the disk to the configured bucket. It can be stopped at any time: a further run compares
 * the images that are in the bucket, and copies the others.
 * @throws Error if an image differs after it was copied
 */
export async function copyImagesToBucket(
  database: Database,
  config: Config,
  { deletesFromDisk, onProgress, signal }: ImageCopyOptions,
): Promise<CopyCounts> {
  const from = createImageDisk({ folder: imageFolderOf(config) });
  const { storage: to, close } = await openImageStorage(config);
  const counts: CopyCounts = { copied: 0, present: 0, missing: 0 };

  async function copyStep(ids: readonly string[]): Promise<void> {
    const copied: string[] = [];
    const stored: string[] = [];
    for (let start = 0; start < ids.length; start += maxParallel) {
      const group = ids.slice(start, start + maxParallel);
      const results = await Promise.all(group.map((id) => copyImage(id, { from, to })));
      results.forEach((result, index) => {
        counts[result] += 1;
        const id = group[index] ?? '';
        if (result === 'copied') copied.push(id);
        // An image that is missing may have some of its files on the disk.
        if (result !== 'missing') stored.push(id);
      });
    }
    // The service may have removed an image in the meantime, from the disk only.
    const existing = await existingImages(database, copied);
    for (const id of copied) await (existing.has(id) ? to.markSettled(id) : to.remove(id));
    if (deletesFromDisk) for (const id of stored) await from.remove(id);
  }

  try {
    let lastId: string | undefined;
    while (!signal.aborted) {
      const ids = await uploadedImages(database, lastId, batchSize);
      if (ids.length === 0) break;
      await copyStep(ids);
      onProgress(counts);
      lastId = ids.at(-1);
    }
    return counts;
  } finally {
    await close();
  }
}
