import { join } from 'node:path';
import { BackupError } from '../../backups/container/error.js';
import type { BackupSource } from '../../backups/create.js';
import type { Config } from '../../config/config.js';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { needSecretKeys } from '../../database/secret-key-file.js';
import { createKeyId } from '../../lib/crypto/secret-keys.js';

/** The folder of uploaded images. */
export function imageFolderOf({ IMAGE_DIR, DATA_DIR }: Pick<Config, 'IMAGE_DIR' | 'DATA_DIR'>): string {
  return IMAGE_DIR ?? join(DATA_DIR, 'images');
}

/** What a backup of this configuration contains. @throws BackupError, SecretKeyError */
export async function backupSource(
  config: Config,
  target: DatabaseTarget,
  { includesSecretKey, version }: Pick<BackupSource, 'includesSecretKey' | 'version'>,
): Promise<BackupSource> {
  if (config.DATABASE_URL !== undefined) {
    throw new BackupError(
      'This command backs up the embedded database. Back up the database of DATABASE_URL with pg_dump.',
    );
  }
  const keys = await needSecretKeys(config);
  return {
    target,
    serverFolder: join(config.DATA_DIR, 'postgres'),
    imageFolder: imageFolderOf(config),
    secretKeys: keys.map((key) => ({ id: createKeyId(key), key })),
    includesSecretKey,
    passphrase: config.BACKUP_PASSPHRASE?.reveal(),
    version,
  };
}
