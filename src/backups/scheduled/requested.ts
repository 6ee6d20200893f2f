import type { BackupState } from '../../contract/operation/backups.js';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { Problem } from '../../lib/problem.js';
import { lockBackups, withSession } from '../base/session.js';
import { checkPrograms } from '../dumps/check.js';
import { isBackupRunning, keptBackups, readBackup, readBackupTimes, readLogArchive } from '../state.js';
import { makeBackup, type ScheduledBackupOptions, verifyRecorded } from './scheduler.js';

/** Backups that operators ask for, in addition to the backups of the schedule. */
export interface RequestedBackups {
  /** The backups, and how they are made. */
  read(): Promise<BackupState>;
  /** Begins a backup and its verification. @throws Problem `backups_off`, `backup_running` */
  start(): Promise<void>;
  /** Begins the verification of a backup. @throws Problem `backups_off`, `backup_running`, `not_found` */
  verify(id: string): Promise<void>;
  /** Stops the running backup or verification, and waits until it has ended. */
  stop(): Promise<void>;
}

/** How backups are configured. */
export interface RequestedBackupOptions {
  readonly target: DatabaseTarget;
  /** How to make backups. Undefined if BACKUP_TO is not set. */
  readonly options: ScheduledBackupOptions | undefined;
  readonly handle: ScheduledBackupOptions['handle'];
  readonly settings: Pick<BackupState, 'place' | 'keep' | 'is_encrypted' | 'method'> & {
    readonly schedule: ScheduledBackupOptions['schedule'];
  };
  /** The folder to find pg_dump in. Undefined: in PATH and in the folders of packages. */
  readonly programs: string | undefined;
}

/**
 * Creates the service for backups that operators ask for. On all processes together, one such backup runs at a time.
 */
export function createRequestedBackups(deps: RequestedBackupOptions): RequestedBackups {
  const { target, options, handle, settings } = deps;
  const readProblem = remembered(() => findProblem(deps));
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let isStarting = false;

  /**
   * Begins `work` and does not wait for its end, so that the request can be answered. A failure is recorded with the
   * backup.
   */
  async function begin(work: (given: ScheduledBackupOptions) => Promise<unknown>): Promise<void> {
    if (options === undefined) throw new Problem('backups_off');
    if (isStarting || running !== undefined) throw new Problem('backup_running');
    isStarting = true;
    try {
      if (await isBackupRunning(handle)) throw new Problem('backup_running');
      running = run(options, work);
    } finally {
      isStarting = false;
    }
  }

  function run(used: ScheduledBackupOptions, work: (used: ScheduledBackupOptions) => Promise<unknown>): Promise<void> {
    return work(used)
      .then(
        () => undefined,
        (error: unknown) => {
          if (!stopping.signal.aborted) used.log.error({ err: error }, 'the requested backup failed');
        },
      )
      .finally(() => {
        running = undefined;
      });
  }

  return {
    async read() {
      const [times, archive, backups, isRunning, problem] = await Promise.all([
        readBackupTimes(handle),
        readLogArchive(handle),
        keptBackups(handle),
        isBackupRunning(handle),
        readProblem(),
      ]);
      const { schedule, ...given } = settings;
      const last = times.scheduled === null ? times.now : schedule.next(times.scheduled);
      const { age: _age, ...shown } = archive ?? { age: 0 };
      return {
        now: new Date(times.now).toISOString(),
        ...given,
        problem,
        schedule: schedule.text,
        next_at: options === undefined ? null : new Date(last).toISOString(),
        is_running: isRunning || running !== undefined,
        archive: 'location' in shown ? shown : null,
        backups,
      };
    },
    start: () => begin((given) => makeBackup(given, { isScheduled: false, stop: stopping.signal })),
    async verify(id) {
      if (options === undefined) throw new Problem('backups_off');
      const backup = await readBackup(handle, id);
      const start = options.store.locate('').replace(/\/?$/, '/');
      if (backup === undefined || backup.finished_at === null || !backup.location.startsWith(start)) {
        throw new Problem('not_found');
      }
      const name = backup.location.slice(start.length);
      await begin((given) =>
        withSession(target, async (client) => {
          if (await lockBackups(client)) await verifyRecorded(given, { id, name }, stopping.signal);
        }),
      );
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Why no backup can be made. Null if backups are possible. */
async function findProblem({ options, handle, settings, programs }: RequestedBackupOptions): Promise<string | null> {
  if (options === undefined || settings.method === 'files') return null;
  const found = await checkPrograms(handle, programs);
  return 'problem' in found ? found.problem : null;
}

/** Milliseconds for which the result of a search for programs is used, because a search starts several processes. */
const rememberedMs = 60_000;

/** Repeats work only after some time, or if it failed. */
function remembered<T>(work: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > rememberedMs) {
      const result = work();
      last = { at: performance.now(), result };
      result.catch(() => {
        last = undefined;
      });
    }
    return last.result;
  };
}
