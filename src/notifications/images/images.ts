import type { Rendition } from '../../contract/image.js';
import type { Image } from '../../contract/notification.js';
import type { Database, Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { type TimeLimit, withTimeLimit } from '../../lib/time-limit.js';
import { refuseBeyondQuota, takeQuota } from './quota.js';
import type { Render } from './render.js';
import { insertImage } from './rows.js';
import type { ImageStorage, StoredFile } from './storage.js';
import type { ImageUrls } from './url.js';

/** A file as it was sent, or where it is to be fetched from. */
export type ImageSource = { readonly file: Buffer } | { readonly url: string };

/** Fetches a file of at most `maxImageBytes`. @throws Problem `validation_failed` that names `url` */
export type DownloadImage = (url: string) => Promise<Buffer>;

/** Images that are stored here, in three renditions made of what was uploaded. */
export interface Images {
  /**
   * Makes an image: the slow work first, then `commit`, which calls `insert` in its transaction. The slow work has a time
   * limit; `commit` is never called after it.
   * @param userId who uploads, if it is a user: users have a quota
   * @throws Problem `image_not_stored` at the limit; `invalid_image`, `overloaded`, `storage_unavailable`, `too_many_images`, `too_many_requests`;
   *   `validation_failed` that names `url`
   */
  add<T>(
    source: ImageSource,
    userId: string | undefined,
    commit: (insert: (tx: Queryable) => Promise<Image>) => Promise<T>,
  ): Promise<T>;

  /** A file of an uploaded image; undefined when there is none. */
  open(id: string, rendition: Rendition): Promise<StoredFile | undefined>;
}

export interface ImagesOptions {
  readonly database: Database;
  readonly storage: ImageStorage;
  readonly render: Render;
  readonly download: DownloadImage;
  readonly urls: ImageUrls;
  /** Milliseconds until the commit; 12,000: with it the answer comes within 15 s. */
  readonly patience?: number;
}

const late = () => new Problem('image_not_stored', { retryAfter: 1 });

export function createImages(options: ImagesOptions): Images {
  const { database, storage, render, download, urls, patience = 12_000 } = options;
  return {
    add: (source, userId, commit) =>
      withTimeLimit(patience, late, async (limit) => {
        // Here too, so that a refused upload costs little.
        if (userId !== undefined) await refuseBeyondQuota(database, userId);
        const file = 'file' in source ? source.file : await download(source.url);
        const renditions = await render(file, limit.left);
        const id = newId();
        const bytes = Object.values(renditions).reduce((sum, { length }) => sum + length, 0);
        await storage.put(id, renditions);
        await stillInTime(limit, id);
        // When this fails, it may have been committed all the same: the files stay unsettled, and the cleaning looks.
        const done = await commit(async (tx) => {
          if (userId !== undefined) await takeQuota(tx, userId);
          return insertImage(tx, { id, userId, bytes }, urls);
        });
        // The cleaning will find its row too.
        await storage.settle(id).catch(() => undefined);
        return done;
      }),
    open: (id, rendition) => storage.open(id, rendition),
  };

  /** Else the files have no row, and nobody waits for one. */
  async function stillInTime(limit: TimeLimit, id: string): Promise<void> {
    try {
      limit.lift();
    } catch (error) {
      await storage.remove(id);
      throw error;
    }
  }
}
