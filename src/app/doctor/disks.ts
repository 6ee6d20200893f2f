import type { Disk } from '../../contract/operation/system.js';
import { type DiskSource, readDisks } from '../base/disks.js';
import { type Finding, ok, warn } from './checks.js';

const names: Readonly<Record<Disk['used_for'], string>> = {
  data: 'the data (DATA_DIR)',
  images: 'images (IMAGE_DIR)',
  backups: 'backups (BACKUP_TO)',
  log_archive: 'the log archive (BACKUP_TO)',
};

/** Checks the free space of all disks to which Postern writes, so that operators make space before writes fail. */
export async function checkDisks(config: DiskSource): Promise<Finding[]> {
  return diskFindings(await readDisks(config));
}

/** One finding for each disk that is nearly full; one for all if none is. */
export function diskFindings(disks: readonly Disk[]): Finding[] {
  const nearlyFull = disks.filter((disk) => disk.is_nearly_full);
  if (nearlyFull.length > 0) {
    return nearlyFull.map((disk) => warn('disk', `${describeDisk(disk)}: make space before writes fail`));
  }
  return disks.length === 0 ? [] : [ok('disk', disks.map(describeDisk).join(', '))];
}

function describeDisk({ used_for: usedFor, bytes, free_bytes: freeBytes }: Disk): string {
  return `${gigabytes(freeBytes)} of ${gigabytes(bytes)} GB are free for ${names[usedFor]}`;
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2);
