import type { Config } from '../../config/config.js';
import { createImageDisk } from '../../delivery/storage/disk.js';
import type { S3Bucket } from '../../delivery/storage/s3-client.js';
import type { ImageStorage } from '../../notifications/images/storage.js';
import { imageFolderOf } from './backup-source.js';
import { openBucket } from './bucket.js';

/** A storage of images, and how to close its connections. */
export interface OpenImageStorage {
  readonly storage: ImageStorage;
  close(): Promise<void>;
}

/** Creates the configured storage of images: the disk, or a bucket. The code for buckets is loaded only then. */
export async function openImageStorage(config: Config): Promise<OpenImageStorage> {
  if (config.IMAGE_STORAGE === undefined) {
    return { storage: createImageDisk({ folder: imageFolderOf(config) }), close: async () => undefined };
  }
  const { bucket, prefix, close } = await openImageBucket(config, config.IMAGE_STORAGE);
  const { createImageBucket } = await import('../../delivery/storage/s3.js');
  return { storage: createImageBucket({ bucket, prefix, redirects: config.IMAGE_S3_READS === 'redirect' }), close };
}

/** Connects to the configured bucket. */
export async function openImageBucket(
  config: Config,
  { bucket: name, prefix }: NonNullable<Config['IMAGE_STORAGE']>,
): Promise<{ readonly bucket: S3Bucket; readonly prefix: string; close(): Promise<void> }> {
  const { IMAGE_S3_ACCESS_KEY_ID: accessKeyId, IMAGE_S3_SECRET_ACCESS_KEY: secret, IMAGE_S3_REGION: region } = config;
  if (accessKeyId === undefined || secret === undefined) throw new Error('the configuration was not checked');
  const endpoint = config.IMAGE_S3_ENDPOINT;
  return { ...(await openBucket({ endpoint, region, bucket: name, accessKeyId, secret })), prefix };
}
