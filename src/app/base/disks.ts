import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import type { Disk } from '../../contract/operation/system.js';
import { imageFolderOf } from './backup-source.js';

/** The part of the configuration that says where Postern writes files. */
export type DiskSource = Pick<
  Config,
  'DATABASE_URL' | 'DATA_DIR' | 'IMAGE_DIR' | 'IMAGE_STORAGE' | 'BACKUP_TO' | 'BACKUP_CONTINUOUS'
>;

/** A disk is nearly full if less than a tenth of it is free, and less than this. The alert rule has the same limits. */
const enoughBytes = 5e9;

/** Whether so little space is left that an operator has to act, before writes fail. */
export const isNearlyFull = (bytes: number, freeBytes: number): boolean =>
  freeBytes < Math.min(bytes / 10, enoughBytes);

/** Reads the free space for the embedded database, the images, the backups and the log archive, if they are on disks. */
export function readDisks(config: DiskSource): Promise<Disk[]> {
  const folders: [Disk['used_for'], string][] = [];
  if (config.DATABASE_URL === undefined) folders.push(['data', config.DATA_DIR]);
  if (config.IMAGE_STORAGE === undefined) folders.push(['images', imageFolderOf(config)]);
  const backups = config.BACKUP_TO;
  if (backups !== undefined && !backups.startsWith('s3://')) {
    folders.push(['backups', backups]);
    if (config.BACKUP_CONTINUOUS) folders.push(['log_archive', backups]);
  }
  return Promise.all(
    folders.map(async ([usedFor, folder]) => {
      const { bavail, blocks, bsize } = await statfsOfNearest(resolve(folder));
      const [bytes, freeBytes] = [blocks * bsize, bavail * bsize];
      return { used_for: usedFor, bytes, free_bytes: freeBytes, is_nearly_full: isNearlyFull(bytes, freeBytes) };
    }),
  );
}

/** The state of the disk on which a folder is, or will be when it is created. */
async function statfsOfNearest(folder: string): Promise<StatsFs> {
  try {
    return await statfs(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
    return statfsOfNearest(dirname(folder));
  }
}
