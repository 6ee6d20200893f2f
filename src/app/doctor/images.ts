import type { Config } from '../../config/config.js';
import { openImageBucket } from '../base/image-storage.js';
import { type Finding, fail, ok } from './checks.js';

/** Checks that the bucket of images answers to the configured key. Images on disk need no check. */
export async function checkImages(config: Config): Promise<Finding[]> {
  const { IMAGE_STORAGE: configured } = config;
  if (configured === undefined) return [];
  const { bucket, prefix, close } = await openImageBucket(config, configured);
  try {
    await bucket.list(`${prefix}unsettled/`);
    return [ok('images', `the bucket ${configured.bucket} answers`)];
  } catch (error) {
    return [fail('images', `the bucket ${configured.bucket}: ${(error as Error).message}`)];
  } finally {
    await close();
  }
}
