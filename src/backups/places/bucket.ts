import { BackupError } from '../container/error.js';
import type { BackupStore } from './place.js';

/** The part of a bucket that backups use. */
export interface BackupBucket {
  /** Stores an object of any size completely, or not at all. @returns its bytes */
  upload(key: string, content: AsyncIterable<Buffer>): Promise<number>;
  /** The content of an object in parts. Undefined if there is none. */
  download(key: string): Promise<AsyncIterable<Buffer> | undefined>;
  /** Sorted keys that begin with a prefix and come after another key, at most 1000. */
  list(prefix: string, after?: string): Promise<string[]>;
  remove(key: string): Promise<void>;
}

/**
 * Backups in a bucket.
 * @param name of the bucket, for people
 * @param prefix of the keys of all objects: empty, or with a slash at the end
 */
export function createBackupBucket(
  bucket: BackupBucket,
  { name: bucketName, prefix }: { readonly name: string; readonly prefix: string },
): BackupStore {
  const locate = (name: string) => `s3://${bucketName}/${prefix}${name}`;
  /** Failures of the store and of the network are for the operator. */
  async function explained<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof Error) || !['S3Error', 'OutboundError'].includes(error.name)) throw error;
      throw new BackupError(`s3://${bucketName}: ${error.message}`);
    }
  }
  async function list(start: string): Promise<string[]> {
    const keys: string[] = [];
    for (let next = await bucket.list(prefix + start); next.length > 0; ) {
      keys.push(...next);
      next = await bucket.list(prefix + start, next.at(-1));
    }
    return keys.map((key) => key.slice(prefix.length));
  }
  return {
    locate,
    list: (start) => explained(list(start)),
    async write(name, content) {
      if ((await explained(bucket.list(prefix + name))).includes(prefix + name)) {
        throw new BackupError(`${locate(name)} exists already: choose another name.`);
      }
      return explained(bucket.upload(prefix + name, content));
    },
    async *read(name) {
      const content = await explained(bucket.download(prefix + name));
      if (content === undefined) throw new BackupError(`There is no backup ${locate(name)}.`);
      const parts = content[Symbol.asyncIterator]();
      for (let part = await explained(parts.next()); part.done !== true; part = await explained(parts.next())) {
        yield part.value;
      }
    },
    remove: (name) => explained(bucket.remove(prefix + name)),
    // A store shows no object that was not uploaded to its end.
    removeAbandoned: async () => undefined,
  };
}
