import type { Config } from '../../config/config.js';
import { openImageBucket } from '../base/image-storage.js';
import { type Finding, fail, ok } from './checks.js';

/** Checks that the bucket of images answers to the configured key. Images on disk need no check. */
export async function checkImages(config: Config): Promise<Finding[]> {
  const { IMAGE_STORAGE: location } = config;
  if (location === undefined) return [];
  const { bucket, prefix, close } = await openImageBucket(config, location);
  try {
    await bucket.list(`${prefix}unsettled/`);
    return [ok('images', `the bucket ${location.bucket} answers`)];
  } catch (error) {
    return [fail('images', `the bucket ${location.bucket}: ${(error as Error).message}`)];
  } finally {
    await close();
  }
}
