import { join } from 'node:path';
import { recordServiceEvent } from '../../audit/events.js';
import { startArchiver, stopArchiving } from '../../backups/log-archive/archiver.js';
import { createRequestedBackups } from '../../backups/scheduled/requested.js';
import { type ScheduledBackupOptions, startScheduledBackups } from '../../backups/scheduled/scheduler.js';
import type { Backups } from '../../http/routes/admin/backups.js';
import { version } from '../../lib/own-package.js';
import { backupSource, dumpVerification } from '../base/backup-source.js';
import { openBackupStore } from '../base/backup-stores.js';
import type { Base } from '../base/base.js';

/** The backups of this process. */
export interface BackupDomain {
  readonly backups: Backups;
  /** Starts the scheduled backups and the archive of the log, if they are configured. */
  start(): Promise<void>;
}

/** Creates the backups that operators request, and the scheduled ones. */
export async function createBackupDomain(base: Base): Promise<BackupDomain> {
  const { config, target, database, log, lifecycle } = base;
  const { BACKUP_TO: place, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, DATA_DIR } = config;
  const passphrase = config.BACKUP_PASSPHRASE?.reveal();
  let options: ScheduledBackupOptions | undefined;
  if (place !== undefined) {
    const { store } = lifecycle.add(await openBackupStore(config, place), (open) => open.close());
    const source = () => backupSource(config, target, { includesSecretKey: false, version });
    options = {
      source,
      handle: database,
      store,
      schedule,
      keep,
      verifyIn: DATA_DIR,
      log,
      dumps: dumpVerification(config),
      isContinuous: config.BACKUP_CONTINUOUS,
    };
  }
  const requestedBackups = lifecycle.add(
    createRequestedBackups({
      target,
      options,
      handle: database,
      programs: config.BACKUP_PROGRAMS,
      settings: {
        place: place ?? null,
        schedule,
        keep,
        is_encrypted: passphrase !== undefined,
        method: config.DATABASE_URL === undefined ? 'files' : 'pg_dump',
      },
    }),
    (part) => part.stop(),
  );

  return {
    backups: {
      read: requestedBackups.read,
      async start(origin) {
        await requestedBackups.start();
        await database.transaction((tx) => recordServiceEvent(tx, { type: 'backup.started', origin }));
      },
      async verify(id, origin) {
        await requestedBackups.verify(id);
        await database.transaction((tx) =>
          recordServiceEvent(tx, { type: 'backup.verification_started', origin, data: { backup_id: id } }),
        );
      },
    },
    async start() {
      if (config.DATABASE_URL === undefined && !config.BACKUP_CONTINUOUS) await stopArchiving(target);
      if (options === undefined) return;
      const { store } = options;
      if (config.BACKUP_CONTINUOUS) {
        const [current, ...older] = (await options.source()).secretKeys;
        if (current === undefined) throw new Error('there is no secret key to sign the log archive with');
        lifecycle.add(
          startArchiver({
            target,
            serverFolder: join(DATA_DIR, 'postgres'),
            store,
            passphrase,
            log,
            secretKeys: [current, ...older],
          }),
          (archiver) => archiver.stop(),
        );
      }
      lifecycle.add(startScheduledBackups(options), (scheduled) => scheduled.stop());
    },
  };
}
