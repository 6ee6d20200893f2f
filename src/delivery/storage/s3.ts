import { Readable } from 'node:stream';
import { imageFiles, type Rendition } from '../../contract/image.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { ImageStorage } from '../../notifications/images/storage.js';
import { createLongUnsettledFinder } from './long-unsettled.js';
import type { S3Bucket } from './s3-client.js';

export interface ImageBucketOptions {
  readonly bucket: S3Bucket;
  /** The prefix of the keys of all objects: empty, or with a slash at the end. */
  readonly prefix: string;
  /** Clients read from the store, by URLs that are valid for an hour. */
  readonly redirects: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow?: () => number;
}

const renditionNames = Object.keys(imageFiles) as Rendition[];

/** The lifetime of presigned URLs. */
const presignSeconds = 3600;

/**
 * Stores images in a bucket: `<prefix>ab/cd/abcd…/card.jpg`, with an empty object `<prefix>unsettled/<id>` for each
 * image that may have files without a row (unsettled, see `ImageStorage`). A store has no rename, but no client knows the id of an image
 * before all its objects are stored.
 */
export function createImageBucket(options: ImageBucketOptions): ImageStorage {
  const { bucket, prefix, redirects, monotonicNow: now = () => performance.now() } = options;
  const keyOf = (id: string, rendition: Rendition) =>
    `${prefix}${id.slice(0, 2)}/${id.slice(2, 4)}/${id}/${imageFiles[rendition]}`;
  const markPrefix = `${prefix}unsettled/`;
  const findLongUnsettled = createLongUnsettledFinder(now);

  async function remove(id: string): Promise<void> {
    await Promise.all(renditionNames.map((rendition) => bucket.remove(keyOf(id, rendition))));
    // The mark is removed last, so that the cleanup finds an interrupted removal again.
    await bucket.remove(markPrefix + id);
  }

  return {
    async put(id, renditions) {
      try {
        await bucket.put(markPrefix + id, Buffer.alloc(0), 'application/octet-stream');
        const stored = await Promise.allSettled(
          renditionNames.map((rendition) => bucket.put(keyOf(id, rendition), renditions[rendition], 'image/jpeg')),
        );
        const failed = stored.find((result) => result.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
      } catch (error) {
        await remove(id).catch(() => undefined);
        throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
      }
    },
    async open(id, rendition) {
      const content = await orUnavailable(bucket.get(keyOf(id, rendition)));
      return content && { size: content.length, content: Readable.from([content], { objectMode: false }) };
    },
    ...(redirects && {
      locate: async (id: string, rendition: Rendition) => ({
        url: await bucket.presign(keyOf(id, rendition), presignSeconds),
        validFor: presignSeconds,
      }),
    }),
    markSettled: (id) => bucket.remove(markPrefix + id),
    markUnsettled: (id) => bucket.put(markPrefix + id, Buffer.alloc(0), 'application/octet-stream'),
    remove,
    async longUnsettled() {
      const names = (await bucket.list(markPrefix)).map((key) => key.slice(markPrefix.length));
      return findLongUnsettled(names.filter((name) => parseId(name) === name));
    },
  };
}

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
  }
}
