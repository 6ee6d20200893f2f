import { createBackupFolder } from '../../backups/places.js';
import { startScheduledBackups } from '../../backups/scheduled/scheduler.js';
import { backupSource } from '../base/backup-source.js';
import type { Base } from '../base/base.js';

/** Starts the backups of BACKUP_TO. Without it there are none. */
export function startBackups({ config, target, database, log, lifecycle }: Base, version: string): void {
  const { BACKUP_TO: folder, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, DATA_DIR } = config;
  if (folder === undefined) return;
  lifecycle.add(
    startScheduledBackups({
      source: () => backupSource(config, target, { includesSecretKey: false, version }),
      handle: database.everyone,
      folder: createBackupFolder(folder),
      schedule,
      keep,
      verifyIn: DATA_DIR,
      log,
    }),
    (backups) => backups.stop(),
  );
}
