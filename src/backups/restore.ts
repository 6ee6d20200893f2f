import { lstat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { type EmbeddedInstallation, findEmbeddedInstallation } from '../embedded/embedded.js';
import { extract, isImageOrKey, Manifest, refuseExisting, withNewFolder } from './base/extract.js';
import { writeInstallation } from './base/installation.js';
import { type BackupKeys, type ExpectedBackup, type OpenBackup, openBackup } from './base/open.js';
import { isServerData, writeServerSettings } from './base/server-files.js';
import { BackupError } from './container/error.js';
import type { BackupHeader } from './container/header.js';

const FilesManifest = Type.Intersect([
  Manifest,
  Type.Object({
    start_lsn: Type.String(),
    stop_lsn: Type.String(),
    /** The time at the end of the backup. Older backups do not have it. */
    ended_at: Type.Optional(Type.String()),
  }),
]);

/** A backup that was restored. */
export interface RestoredBackup {
  readonly header: BackupHeader;
  readonly manifest: Static<typeof FilesManifest>;
}

/** The checked files of a backup in a folder that has only a temporary name. */
export interface ExtractedBackup extends RestoredBackup {
  readonly folder: string;
  /** The account that must own the server's files, if it is not this process's own. */
  readonly account: EmbeddedInstallation['account'];
}

/** Whether a backup of files may contain a path. Such paths cannot lead out of the folder. */
const isAllowed = (path: string) =>
  path === serverPath ||
  (path.startsWith(`${serverPath}/`) ? isServerData(path.slice(serverPath.length + 1)) : isImageOrKey(path));
const serverPath = 'postgres';

export interface RestoreOptions {
  /** The new folder, which must not exist. */
  readonly target: string;
  /** Changes the restored files before the folder gets its final name. */
  readonly finish?: (extracted: ExtractedBackup) => Promise<void>;
}

/**
 * Restores a backup of the embedded server as a new DATA_DIR. The folder gets its final name when the whole backup was
 * read and checked.
 * @throws BackupError
 */
export async function restoreBackup(
  source: AsyncIterable<Buffer>,
  { keys, expected, ...options }: RestoreOptions & { readonly keys: BackupKeys; readonly expected?: ExpectedBackup },
): Promise<RestoredBackup> {
  await refuseExisting(resolve(options.target));
  return restoreFiles(await openBackup(source, keys, expected), options);
}

/** Restores an open backup of the embedded server. @throws BackupError */
export async function restoreFiles(
  { header, entries }: OpenBackup,
  { target, finish }: RestoreOptions,
): Promise<RestoredBackup> {
  return withNewFolder(entries, target, async (staging, folder) => {
    if (header.kind === 'dump') {
      throw new BackupError(
        'The backup was made by pg_dump and has no log archive: set DATABASE_URL to a new, empty database, and restore it without --at.',
      );
    }
    const installation = await findEmbeddedInstallation(join(folder, 'postgres'));
    refuseOtherVersion(header, installation);
    const { account } = installation;
    const manifest = await extract(entries, staging, { isAllowed, schema: FilesManifest, account });
    await checkSystem(header, join(staging, 'postgres'));
    await writeServerSettings(join(staging, 'postgres'), account);
    await writeInstallation(staging);
    await finish?.({ header, manifest, folder: staging, account });
    return { header, manifest };
  });
}

function refuseOtherVersion({ postgres_version: version }: BackupHeader, { majorVersion }: EmbeddedInstallation): void {
  if (Number.parseInt(version, 10) === majorVersion) return;
  throw new BackupError(
    `The backup contains files of PostgreSQL ${version}, and this Postern has PostgreSQL ${majorVersion}: use the ` +
      'release of Postern that wrote the backup, then upgrade.',
  );
}

/**
 * Checks that the files belong to the system that the header names. The first eight bytes of the control file are its
 * identifier.
 */
async function checkSystem({ system_id: expected }: BackupHeader, folder: string): Promise<void> {
  const control = await readFile(join(folder, 'global', 'pg_control')).catch(() => Buffer.alloc(0));
  const label = await lstat(join(folder, 'backup_label')).catch(() => undefined);
  if (control.length < 8 || label === undefined) throw new BackupError('The backup contains no complete database.');
  const found = control.readBigUInt64LE();
  if (String(found) === expected) return;
  throw new BackupError(
    `The files in the backup belong to another database (system ${found}) than its header says (${expected}).`,
  );
}
