import type { Image, Rendition } from '../../contract/image.js';
import type { Database, Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { type TimeLimit, withTimeLimit } from '../../lib/time-limit.js';
import { refuseBeyondQuota, takeQuota } from './quota.js';
import type { Render } from './render.js';
import { insertImage } from './rows.js';
import type { FileLocation, ImageStorage, StoredFile } from './storage.js';
import type { ImageUrls } from './url.js';

/** A file as it was sent, or the URL to fetch it from. */
export type ImageSource = { readonly file: Buffer } | { readonly url: string };

/** Fetches a file of at most `maxImageBytes`. @throws Problem `validation_failed` for the field `url` */
export type DownloadImage = (url: string) => Promise<Buffer>;

/** Uploaded images, stored in three renditions. */
export interface Images {
  /**
   * Adds an image. It downloads, renders and stores the files first, within a time limit. Then it calls `commit`, which
   * must call `insert` in its transaction. After the time limit, it does not call `commit`.
   * @param userId the user who uploads the image, who has a quota; undefined if an operator or a backend uploads it
   * @throws Problem `image_not_stored` when the time limit has passed; `invalid_image`, `overloaded`,
   *   `storage_unavailable`, `too_many_images`, `too_many_requests`; `validation_failed` for the field `url`
   */
  add<T>(
    source: ImageSource,
    userId: string | undefined,
    commit: (insert: (tx: Queryable) => Promise<Image>) => Promise<T>,
  ): Promise<T>;

  /**
   * The URL from which clients read a file directly. Undefined if the service must read the file with `open` and send
   * it.
   */
  locate(id: string, rendition: Rendition): Promise<FileLocation | undefined>;

  /** Opens a file of an uploaded image; undefined when there is none. */
  open(id: string, rendition: Rendition): Promise<StoredFile | undefined>;
}

export interface ImagesOptions {
  readonly database: Database;
  readonly storage: ImageStorage;
  readonly render: Render;
  readonly download: DownloadImage;
  readonly urls: ImageUrls;
  /** Milliseconds until the commit must begin. With the default, 12,000, the client gets the answer within 15 s. */
  readonly timeoutMs?: number;
}

const timedOut = () => new Problem('image_not_stored', { retryAfter: 1 });

/** Creates the functions that upload and read images. */
export function createImages(options: ImagesOptions): Images {
  const { database, storage, render, download, urls, timeoutMs = 12_000 } = options;
  return {
    add: (source, userId, commit) =>
      withTimeLimit(timeoutMs, timedOut, async (limit) => {
        // The quota is also checked before the rendering, so that a refused upload costs little.
        if (userId !== undefined) await refuseBeyondQuota(database, userId);
        const file = 'file' in source ? source.file : await download(source.url);
        const renditions = await render(file, { userId, remainingMs: limit.remainingMs });
        const id = newId();
        const bytes = Object.values(renditions).reduce((sum, { length }) => sum + length, 0);
        await storage.put(id, renditions);
        await endTimeLimit(limit, id);
        // After an error, the commit may still have succeeded. So the files stay unsettled (see `ImageStorage`), and
        // the cleanup checks whether they have a row.
        const result = await commit(async (tx) => {
          if (userId !== undefined) await takeQuota(tx, userId);
          return insertImage(tx, { id, userId, bytes }, urls);
        });
        // If this fails, the cleanup finds the row of the image and marks its files as settled.
        await storage.markSettled(id).catch(() => undefined);
        return result;
      }),
    locate: async (id, rendition) => storage.locate?.(id, rendition),
    open: (id, rendition) => storage.open(id, rendition),
  };

  /**
   * Stops the time limit before the commit begins. If the limit has already passed, removes the files, because they
   * will have no row.
   */
  async function endTimeLimit(limit: TimeLimit, id: string): Promise<void> {
    try {
      limit.cancel();
    } catch (error) {
      await storage.remove(id);
      throw error;
    }
  }
}
