import { randomBytes } from 'node:crypto';
import { chown, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type EmbeddedInstallation, findEmbeddedInstallation } from '../database/embedded.js';
import { parseJsonObject } from '../lib/json-object.js';
import { createPrivateFolder } from '../lib/private-file.js';
import { manifestPath, type ReadEntry } from './container/archive.js';
import { BackupError } from './container/error.js';
import type { BackupHeader } from './container/header.js';
import { openBackup, textOf } from './open.js';
import { syncFolder } from './places/folder.js';

const Manifest = Type.Object({
  start_lsn: Type.String(),
  stop_lsn: Type.String(),
  /** The time at the end of the backup. Older backups do not have it. */
  ended_at: Type.Optional(Type.String()),
  /** Rows of each table shortly before the end of the backup. */
  rows: Type.Record(Type.String(), Type.Number()),
  /** Whether nothing was written between the counts and the end of the backup. */
  is_quiet: Type.Boolean(),
  files: Type.Array(Type.Object({ path: Type.String(), size: Type.Number(), sha256: Type.String() })),
});

/** The list of a backup's files, and what a restored copy must contain. */
export type Manifest = Static<typeof Manifest>;

/** A backup that was restored. */
export interface RestoredBackup {
  readonly header: BackupHeader;
  readonly manifest: Manifest;
}

/** The checked files of a backup in a folder that has no name yet. */
export interface ExtractedBackup extends RestoredBackup {
  readonly folder: string;
  /** The account that must own the server's files, if it is not this process's own. */
  readonly account: EmbeddedInstallation['account'];
}

/** The paths that a backup may contain: nothing that leaves the folder. */
const allowedPath = /^(?:(?:postgres|images)(?:\/(?!\.{1,2}(?:\/|$))[^/]+)*|secret-key)$/;

/**
 * Restores a backup as a new DATA_DIR. The folder gets its name when all of it was read and checked.
 * @param target must not exist
 * @throws BackupError
 */
export async function restoreBackup(
  source: AsyncIterable<Buffer>,
  options: {
    readonly passphrase: string | undefined;
    readonly target: string;
    /** Changes the restored files before the folder gets its name. */
    readonly finish?: (extracted: ExtractedBackup) => Promise<void>;
  },
): Promise<RestoredBackup> {
  const target = resolve(options.target);
  await refuseExisting(target);
  const { header, entries } = await openBackup(source, options.passphrase);
  const staging = join(dirname(target), `.${basename(target)}.restoring-${randomBytes(6).toString('hex')}`);
  try {
    const installation = await findEmbeddedInstallation(join(target, 'postgres'));
    refuseOtherVersion(header, installation);
    await createPrivateFolder(staging);
    const manifest = await extract(entries, staging, installation);
    await checkSystem(header, join(staging, 'postgres'));
    await options.finish?.({ header, manifest, folder: staging, account: installation.account });
    await refuseExisting(target);
    await rename(staging, target);
    await syncFolder(dirname(target));
    return { header, manifest };
  } finally {
    await entries.return(undefined);
    await rm(staging, { recursive: true, force: true });
  }
}

async function refuseExisting(target: string): Promise<void> {
  const status = await lstat(target).catch(() => undefined);
  if (status === undefined) return;
  throw new BackupError(
    `${target} exists, and a restore never changes existing data: name a folder that does not exist.`,
  );
}

function refuseOtherVersion({ postgres_version: version }: BackupHeader, { majorVersion }: EmbeddedInstallation): void {
  if (Number.parseInt(version, 10) === majorVersion) return;
  throw new BackupError(
    `The backup contains files of PostgreSQL ${version}, and this Postern has PostgreSQL ${majorVersion}: use the ` +
      'release of Postern that wrote the backup, then upgrade.',
  );
}

/** Writes all files, and reads the backup to its end, which checks it. */
async function extract(
  entries: AsyncIterable<ReadEntry>,
  folder: string,
  { account }: EmbeddedInstallation,
): Promise<Manifest> {
  let manifest: unknown;
  for await (const entry of entries) {
    if (entry.path === manifestPath) {
      manifest = parseJsonObject(await textOf(entry.content));
      continue;
    }
    if (!allowedPath.test(entry.path)) throw new BackupError(`The backup contains the unexpected file ${entry.path}.`);
    const path = join(folder, entry.path);
    if (entry.type === 'folder') await mkdir(path, { mode: 0o700 });
    else await writeFile(path, entry);
    // The server's files belong to its account.
    if (account !== undefined && entry.path.startsWith('postgres')) await chown(path, account.uid, account.gid);
  }
  if (!Value.Check(Manifest, manifest)) throw new BackupError('The backup has no list of its files: it is damaged.');
  return manifest;
}

async function writeFile(path: string, { content, path: name }: ReadEntry): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const part of content) await file.writeFile(part);
    // PostgreSQL writes its own files to disk before it starts on them.
    if (!name.startsWith('postgres/')) await file.sync();
  } finally {
    await file.close();
  }
}

/** The first eight bytes of the control file are the identifier of the system. */
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
