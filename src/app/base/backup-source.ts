import { join } from 'node:path';
import type { BackupKeys } from '../../backups/base/open.js';
import type { BackupSource } from '../../backups/create.js';
import type { DumpVerification } from '../../backups/verify.js';
import type { Config } from '../../config/config.js';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { findSecretKeys, needSecretKeys } from '../../keys/secret-key-file.js';
import { createKeyId } from '../../lib/crypto/secret-keys.js';
import { imageRemovalLock } from '../../notifications/images/cleanup.js';

/** The folder of uploaded images. */
export function imageFolderOf({ IMAGE_DIR, DATA_DIR }: Pick<Config, 'IMAGE_DIR' | 'DATA_DIR'>): string {
  return IMAGE_DIR ?? join(DATA_DIR, 'images');
}

/** What a backup of this configuration contains. @throws SecretKeyError */
export async function backupSource(
  config: Config,
  target: DatabaseTarget,
  { includesSecretKey, version }: Pick<BackupSource, 'includesSecretKey' | 'version'>,
): Promise<BackupSource> {
  const keys = await needSecretKeys(config);
  return {
    target,
    serverFolder: config.DATABASE_URL === undefined ? join(config.DATA_DIR, 'postgres') : undefined,
    programs: config.BACKUP_PROGRAMS,
    imageFolder: imageFolderOf(config),
    imageRemovalLock,
    secretKeys: keys.map(withId),
    includesSecretKey,
    passphrase: config.BACKUP_PASSPHRASE?.reveal(),
    version,
  };
}

const withId = (key: string) => ({ id: createKeyId(key), key });

/** How to find out which installation wrote a backup. The machine may have no secret key. @throws SecretKeyError */
export async function backupKeys(config: Config, acceptsUnauthenticated: boolean): Promise<BackupKeys> {
  const keys = (await findSecretKeys(config)) ?? [];
  return { passphrase: config.BACKUP_PASSPHRASE?.reveal(), secretKeys: keys.map(withId), acceptsUnauthenticated };
}

/** How dumps are restored to verify them. */
export function dumpVerification({ BACKUP_PROGRAMS, BACKUP_VERIFY_URL }: Config): DumpVerification {
  return { programs: BACKUP_PROGRAMS, server: BACKUP_VERIFY_URL };
}
