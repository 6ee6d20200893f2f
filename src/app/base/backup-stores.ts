import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { BackupError } from '../../backups/container/error.js';
import { createBackupBucket } from '../../backups/places/bucket.js';
import { createBackupFolder, isFolder } from '../../backups/places/folder.js';
import { type BackupStore, listStored, parseBackupName } from '../../backups/places/place.js';
import type { Config } from '../../config/config.js';
import { bucketUrl, isBucketUrl } from '../../config/parsers.js';
import { openBucket } from './bucket.js';

/** A place of backups, and how to close its connections. */
export interface OpenStore {
  readonly store: BackupStore;
  close(): Promise<void>;
}

/** Opens a folder, or a bucket as `s3://bucket/prefix`. The code for buckets is loaded only then. @throws BackupError */
export async function openBackupStore(config: Config, location: string): Promise<OpenStore> {
  if (!isBucketUrl(location)) return { store: createBackupFolder(location), close: async () => undefined };
  const parsed = bucketUrl(location);
  if (!('value' in parsed)) {
    // The message does not show the location: in other programs, such a URL contains a secret key. `error` is the end of a sentence.
    throw new BackupError(
      `The place ${parsed.error}, or the path of a folder. Keys belong in BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.`,
    );
  }
  const {
    BACKUP_S3_ACCESS_KEY_ID: accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: secret,
    BACKUP_S3_REGION: region,
  } = config;
  if (accessKeyId === undefined || secret === undefined) {
    throw new BackupError(
      `${location} needs an access key: set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.`,
    );
  }
  const endpoint = config.BACKUP_S3_ENDPOINT;
  const { bucket: name, prefix } = parsed.value;
  const { bucket, close } = await openBucket({ endpoint, region, bucket: name, accessKeyId, secret });
  return { store: createBackupBucket(bucket, { name, prefix }), close };
}

/** A backup in an open place. */
export interface OpenBackupPlace extends OpenStore {
  /** The backup, or all backups of a folder or bucket, the newest first. */
  readonly names: readonly string[];
  /** Whether the location names a backup, and not a folder or bucket. */
  readonly isNamed: boolean;
}

/** Opens the place of a backup: a file or an object, or the newest backup of a folder or bucket. @throws BackupError */
export async function openBackupAt(config: Config, location: string): Promise<OpenBackupPlace> {
  const isSingleBackup = isBucketUrl(location)
    ? parseBackupName(basename(location)) !== undefined
    : !(await isFolder(location));
  if (isSingleBackup && !isBucketUrl(location) && !existsSync(location))
    throw new BackupError(`There is no backup ${location}.`);
  const { store, close } = await openBackupStore(config, isSingleBackup ? dirname(location) : location);
  try {
    return {
      store,
      close,
      isNamed: isSingleBackup,
      names: isSingleBackup ? [basename(location)] : (await listStored(store)).reverse(),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
