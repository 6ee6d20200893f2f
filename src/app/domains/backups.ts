import { startScheduledBackups } from '../../backups/scheduled/scheduler.js';
import { backupSource } from '../base/backup-source.js';
import { openBackupStore } from '../base/backup-stores.js';
import type { Base } from '../base/base.js';

/** Starts the backups of BACKUP_TO. Without it there are none. */
export async function startBackups({ config, target, database, log, lifecycle }: Base, version: string): Promise<void> {
  const { BACKUP_TO: location, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, DATA_DIR } = config;
  if (location === undefined) return;
  const { store } = lifecycle.add(await openBackupStore(config, location), (open) => open.close());
  lifecycle.add(
    startScheduledBackups({
      source: () => backupSource(config, target, { includesSecretKey: false, version }),
      handle: database.everyone,
      store,
      schedule,
      keep,
      verifyIn: DATA_DIR,
      log,
    }),
    (backups) => backups.stop(),
  );
}
