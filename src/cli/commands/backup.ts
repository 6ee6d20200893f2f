import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { backupKeys, backupSource, dumpVerification, imageFolderOf } from '../../app/base/backup-source.js';
import { type OpenBackupPlace, openBackupAt, openBackupStore } from '../../app/base/backup-stores.js';
import { openExistingTarget, openTarget } from '../../app/base/database-target.js';
import { refuseExisting } from '../../backups/base/extract.js';
import { type OpenBackup, openBackup } from '../../backups/base/open.js';
import { untilStopped } from '../../backups/base/session.js';
import { UnusableFileError } from '../../backups/container/error.js';
import { createBackup } from '../../backups/create.js';
import { restoreDump } from '../../backups/dumps/restore.js';
import { restoreAt } from '../../backups/log-archive/recovery.js';
import { backupFileAt, isFolder } from '../../backups/places/folder.js';
import { restoreFiles } from '../../backups/restore.js';
import { type VerifiedBackup, verifyBackup } from '../../backups/verify.js';
import { type Config, readConfig } from '../../config/config.js';
import { isBucketUrl } from '../../config/parsers.js';
import type { Log } from '../../embedded/membership.js';
import { version } from '../../lib/own-package.js';
import { quietLog } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

const unauthenticated = [
  '--unauthenticated',
  'use a backup even if no key shows that this installation wrote it; a changed one can run commands here',
] as const;

interface TrustOptions {
  readonly unauthenticated?: true;
}

/** Registers `postern backup` with its subcommands. */
export function backupCommand(program: Command, io: Io): void {
  const backup = program.command('backup').description('back up the database and the images, and restore them');
  backup
    .command('create')
    .description('write a backup; Postern can keep running')
    .requiredOption(
      '--to <place>',
      'a new file; or a folder or s3://bucket/prefix, where the file gets a name with the time',
    )
    .option('--with-secret-key', 'include the secret key; then keep the backup as safe as the key')
    .addHelpText(
      'after',
      '\nBACKUP_PASSPHRASE encrypts the backup.\n\nExamples:\n  postern backup create --to /backups/\n  postern backup create --to postern.tar --with-secret-key\n  postern backup create --to s3://bucket/postern',
    )
    .action((options: { to: string; withSecretKey?: true }) =>
      untilInterrupted(io, (stop) => create(io, options, stop)),
    );
  backup
    .command('verify')
    .description('restore a copy, check it and remove it; never touches the database in use')
    .argument('<backup>', 'a file; or a folder or s3://bucket/prefix: its newest backup')
    .option(...unauthenticated)
    .action((from: string, options: TrustOptions) => untilInterrupted(io, (stop) => verify(io, from, options, stop)));
  backup
    .command('restore')
    .description('restore a backup as a new folder, and a dump into the empty database of DATABASE_URL')
    .argument('<backup>', 'a file; or a folder or s3://bucket/prefix: its newest backup')
    .option('--to <folder>', 'a folder that does not exist; by default DATA_DIR')
    .option(
      '--at <time>',
      'restore the state of a time, such as 2026-11-23T12:30:00Z, or latest; needs BACKUP_CONTINUOUS',
    )
    .option(...unauthenticated)
    .action((from: string, options: RestoreOptions) =>
      untilInterrupted(io, (stop) => restore(io, from, options, stop)),
    );
}

/**
 * Runs `work`, which SIGINT and SIGTERM stop. It then removes its copies and stops their servers. A second signal ends
 * the command at once.
 */
async function untilInterrupted(io: Io, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const ignoreSignals = () => {
    for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.off(signal, stop);
  };
  const stop = () => {
    printLine(io.stderr, 'Stopping. A second Ctrl-C ends the command at once, and leaves what it has written.');
    ignoreSignals();
    stopping.abort(new CommandError('Stopped. What was written is removed.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.on(signal, stop);
  try {
    await work(stopping.signal);
  } catch (error) {
    // A broken connection, for example, is only the consequence of the stop.
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    ignoreSignals();
  }
}

async function create(
  io: Io,
  { to, withSecretKey = false }: { to: string; withSecretKey?: boolean },
  stop: AbortSignal,
): Promise<void> {
  const config = readConfig(io.env);
  const database = await openExistingTarget(config, quietLog(io));
  const isStore = isBucketUrl(to) || (await isFolder(to));
  const openStore = isStore ? await openBackupStore(config, to) : undefined;
  try {
    const source = await backupSource(config, database.target, { includesSecretKey: withSecretKey, version });
    const backup = await createBackup(source, openStore?.store ?? backupFileAt(to), { isScheduled: false, stop });
    if (backup === undefined) throw new CommandError('Another backup of this database is running: wait for its end.');
    const { location, bytes } = backup;
    printLine(io.stdout, `Wrote ${location} (${megabytes(bytes)}).`);
    if (!withSecretKey)
      printLine(io.stdout, `It does not contain the secret key: keep ${keyName(config)} in another safe place.`);
    printLine(io.stdout, `Check it with: postern backup verify ${location}`);
  } finally {
    await openStore?.close();
    await database.close();
  }
}

/**
 * Runs `work` with a backup: the named one, or the newest one of a folder or bucket that can be used. Somebody else may have
 * written newer files with names of backups.
 */
async function withBackup<T>(
  config: Config,
  { io, from, stop }: { readonly io: Io; readonly from: string; readonly stop: AbortSignal },
  work: (place: OpenBackupPlace & { readonly name: string; readonly skipped: readonly string[] }) => Promise<T>,
): Promise<T> {
  const place = await openBackupAt(config, from);
  const store = { ...place.store, read: (name: string) => untilStopped(place.store.read(name), stop) };
  try {
    let unusable: unknown;
    const skipped: string[] = [];
    for (const name of place.names) {
      try {
        return await work({ ...place, store, name, skipped });
      } catch (error) {
        if (!(error instanceof UnusableFileError) || place.isNamed) throw error;
        unusable ??= error;
        skipped.push(name);
        printLine(io.stderr, `Skipped ${store.locate(name)}: ${error.message}`);
      }
    }
    throw unusable;
  } finally {
    await place.close();
  }
}

async function verify(io: Io, from: string, options: TrustOptions, stop: AbortSignal): Promise<void> {
  const config = readConfig(io.env);
  const keys = await backupKeys(config, options.unauthenticated === true);
  const verifyIn = async (inFolder: string) =>
    withBackup(config, { io, from, stop }, async ({ store, name }) => {
      const verified = await verifyBackup(store.read(name), {
        keys,
        expected: { name },
        inFolder,
        dumps: dumpVerification(config),
        log: quietLog(io),
        stop,
      });
      printLine(io.stdout, `${store.locate(name)} is good: ${describe(verified)}.`);
    });
  if (existsSync(config.DATA_DIR)) return verifyIn(config.DATA_DIR);
  // Other accounts use the temporary directory too.
  const own = await mkdtemp(join(tmpdir(), 'postern-'));
  try {
    await verifyIn(own);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

function describe({ header, files, tables, rows, indexes }: VerifiedBackup): string {
  const { created_at: createdAt, system_id: system, postgres_version: version } = header;
  const database = `the database ${system} of ${createdAt}, PostgreSQL ${version}`;
  const copy = `${database}. A restored copy started, with ${files} files, ${tables} tables`;
  if (indexes !== undefined) return `${copy}, ${rows} rows and ${indexes} intact indexes`;
  return `${copy} and ${rows} rows. Its indexes were not checked: the role of BACKUP_VERIFY_URL may not create the extension amcheck`;
}

interface RestoreOptions extends TrustOptions {
  readonly to?: string;
  readonly at?: string;
}

async function restore(io: Io, from: string, options: RestoreOptions, stop: AbortSignal): Promise<void> {
  const { to, at } = options;
  const config = readConfig(io.env);
  const target = resolve(to ?? config.DATA_DIR);
  const keys = await backupKeys(config, options.unauthenticated === true);
  const log = quietLog(io);
  const { header, until, newer } = await withBackup(config, { io, from, stop }, async (place) => {
    const { store, name, isNamed, skipped } = place;
    await refuseExisting(target);
    if (at !== undefined) {
      const recovered = await restoreAt({
        store,
        name: isNamed ? name : undefined,
        at: parseTime(at),
        keys,
        target,
        log,
      });
      return { ...recovered, newer: recovered.skipped.map(store.locate) };
    }
    const backup = await openBackup(store.read(name), keys, { name });
    const restored =
      config.DATABASE_URL === undefined
        ? restoreFiles(backup, { target })
        : restoreIntoDatabase(config, { backup, target, log, stop });
    return { until: undefined, ...(await restored), newer: skipped.map(store.locate) };
  });
  const isDump = header.kind === 'dump';
  const restoredTo = isDump ? `the database of DATABASE_URL, and its images to ${target}` : target;
  printLine(io.stdout, `Restored the database of ${until ?? header.created_at} to ${restoredTo}.`);
  if (!header.has_secret_key) {
    const keys = `The backup has no secret key. It needs the key with the id ${header.secret_key_ids.join(', ')}`;
    printLine(
      io.stdout,
      isDump
        ? `${keys}: set SECRET_KEY to it.`
        : `${keys}: copy it to ${join(target, 'secret-key')}, or set SECRET_KEY.`,
    );
  } else if (isDump) {
    printLine(io.stdout, `Set SECRET_KEY to the content of ${join(target, 'secret-key')}.`);
  }
  if (until !== undefined) {
    printLine(
      io.stdout,
      `If the secret key was rotated between ${header.created_at} and ${until}, it also needs the new key, before the others.`,
    );
  }
  if (imageFolderOf({ ...config, DATA_DIR: target }) !== join(target, 'images')) {
    printLine(io.stdout, `Then move the images from ${join(target, 'images')} to IMAGE_DIR.`);
  }
  printLine(io.stdout, `Start it with: DATA_DIR=${target} postern serve`);
  warnOfNewer(io, newer, until ?? header.created_at);
}

/** Says last what an operator must not miss. Nothing uses the restored folder yet. */
function warnOfNewer(io: Io, newer: readonly string[], time: string): void {
  const [newest] = newer;
  if (newest === undefined) return;
  const others = newer.length === 1 ? '' : ` and ${newer.length - 1} more`;
  printLine(
    io.stderr,
    `WARNING: ${newest}${others} cannot be used, so this is an older state. What was changed after ${time} is lost, and ` +
      'tokens that were revoked later are valid again. If you have another copy of the newest backup, restore that one.',
  );
}

async function restoreIntoDatabase(
  config: Config,
  { backup, target, log, stop }: { backup: OpenBackup; target: string; log: Log; stop: AbortSignal },
) {
  const open = await openTarget(config, log);
  try {
    return await restoreDump(backup, { target, database: open.target, programs: config.BACKUP_PROGRAMS, stop });
  } finally {
    await open.close();
  }
}

/** Milliseconds since 1970; undefined for `latest`. */
function parseTime(text: string): number | undefined {
  if (text === 'latest') return undefined;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time)) throw new CommandError('--at must be latest, or a time with its zone: 2026-11-23T12:30:00Z.');
  return time;
}

const keyName = ({ SECRET_KEY, DATA_DIR }: Config) =>
  SECRET_KEY === undefined ? join(DATA_DIR, 'secret-key') : 'SECRET_KEY';

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
