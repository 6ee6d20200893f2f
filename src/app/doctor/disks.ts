import type { Disk } from '../../contract/operation/system.js';
import type { Queryable } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
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

/**
 * Checks that the disk of the embedded database has room for a migration, which needs at most the size of the database:
 * PostgreSQL keeps a table until its new copy is complete.
 */
export async function checkMigrationRoom(handle: Queryable, config: DiskSource): Promise<Finding[]> {
  const disk = (await readDisks(config)).find(({ used_for: usedFor }) => usedFor === 'data');
  if (disk === undefined) return [];
  const [row] = await handle.query(
    compose<{ bytes: string }>(sql`select pg_database_size(current_database()) as bytes`),
  );
  return migrationFindings(disk, Number(row?.bytes));
}

/** A finding if the disk has less room than the database needs for a copy. */
export function migrationFindings(disk: Disk, databaseBytes: number): Finding[] {
  if (disk.free_bytes >= databaseBytes) return [];
  const detail = `${describeDisk(disk)}, and the database has ${gigabytes(databaseBytes)} GB`;
  return [warn('disk', `${detail}: a migration of large tables may need more`)];
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
