import { join } from 'node:path';
import { recordServiceEvent } from '../../audit/events.js';
import { startArchiver, stopArchiving } from '../../backups/log-archive/archiver.js';
import { createRequestedBackups } from '../../backups/scheduled/requested.js';
import { type ScheduledBackupOptions, startScheduledBackups } from '../../backups/scheduled/scheduler.js';
import type { Backups } from '../../http/routes/admin/backups.js';
import { backupSource } from '../base/backup-source.js';
import { openBackupStore } from '../base/backup-stores.js';
import type { Base } from '../base/base.js';

/** The backups of this process. */
export interface BackupDomain {
  readonly backups: Backups;
  /** Starts the backups of the schedule, and the archive of the log. Without their settings there are none. */
  start(): Promise<void>;
}

/** Creates the backups that operators ask for, and those of the schedule. */
export async function createBackupDomain(base: Base, version: string): Promise<BackupDomain> {
  const { config, target, database, log, lifecycle } = base;
  const { BACKUP_TO: place, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, DATA_DIR } = config;
  const passphrase = config.BACKUP_PASSPHRASE?.reveal();
  let options: ScheduledBackupOptions | undefined;
  if (place !== undefined) {
    const { store } = lifecycle.add(await openBackupStore(config, place), (open) => open.close());
    const source = () => backupSource(config, target, { includesSecretKey: false, version });
    options = { source, handle: database.everyone, store, schedule, keep, verifyIn: DATA_DIR, log };
  }
  const requested = lifecycle.add(
    createRequestedBackups({
      ...{ target, options, handle: database.everyone },
      settings: { place: place ?? null, schedule, keep, is_encrypted: passphrase !== undefined },
    }),
    (part) => part.stop(),
  );

  return {
    backups: {
      read: requested.read,
      async start(origin) {
        await requested.start();
        await database.directory.transaction((tx) => recordServiceEvent(tx, { type: 'backup.started', origin }));
      },
      async verify(id, origin) {
        await requested.verify(id);
        await database.directory.transaction((tx) =>
          recordServiceEvent(tx, { type: 'backup.verification_started', origin, data: { backup_id: id } }),
        );
      },
    },
    async start() {
      if (config.DATABASE_URL === undefined && !config.BACKUP_CONTINUOUS) await stopArchiving(target);
      if (options === undefined) return;
      const { store } = options;
      if (config.BACKUP_CONTINUOUS) {
        lifecycle.add(
          startArchiver({ target, serverFolder: join(DATA_DIR, 'postgres'), store, passphrase, log }),
          (archiver) => archiver.stop(),
        );
      }
      lifecycle.add(startScheduledBackups(options), (scheduled) => scheduled.stop());
    },
  };
}
