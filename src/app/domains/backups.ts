import { join } from 'node:path';
import { startArchiver, stopArchiving } from '../../backups/log-archive/archiver.js';
import { startScheduledBackups } from '../../backups/scheduled/scheduler.js';
import { backupSource } from '../base/backup-source.js';
import { openBackupStore } from '../base/backup-stores.js';
import type { Base } from '../base/base.js';

/** Starts the backups of BACKUP_TO, and the archive of the log with BACKUP_CONTINUOUS. Without these there are none. */
export async function startBackups(base: Base, version: string): Promise<void> {
  const { config, target, database, log, lifecycle } = base;
  const { BACKUP_TO: location, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, DATA_DIR } = config;
  if (config.DATABASE_URL === undefined && !config.BACKUP_CONTINUOUS) await stopArchiving(target);
  if (location === undefined) return;
  const { store } = lifecycle.add(await openBackupStore(config, location), (open) => open.close());
  if (config.BACKUP_CONTINUOUS) {
    const passphrase = config.BACKUP_PASSPHRASE?.reveal();
    lifecycle.add(
      startArchiver({ target, serverFolder: join(DATA_DIR, 'postgres'), store, passphrase, log }),
      (archiver) => archiver.stop(),
    );
  }
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
