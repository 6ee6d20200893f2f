import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '../embedded/embedded.js';
import type { Log } from '../embedded/membership.js';
import { createPrivateFolder } from '../lib/private-file.js';
import { checkIndexes, checkRows } from './base/checks.js';
import type { Manifest } from './base/extract.js';
import { type BackupKeys, type ExpectedBackup, type OpenBackup, openBackup } from './base/open.js';
import { untilStopped, withSession } from './base/session.js';
import type { BackupHeader } from './container/header.js';
import { restoreDump } from './dumps/restore.js';
import { withTemporaryDatabase } from './dumps/temporary.js';
import { restoreFiles } from './restore.js';

/** What a verification has found in a restored copy. */
export interface VerifiedBackup {
  readonly header: BackupHeader;
  readonly files: number;
  readonly tables: number;
  readonly rows: number;
  /** Undefined: the role of BACKUP_VERIFY_URL may not check indexes. */
  readonly indexes: number | undefined;
}

export interface VerifyOptions {
  readonly keys: BackupKeys;
  readonly expected: ExpectedBackup;
  /**
   * The folder in which the copy is restored. It needs as much space as the backup. Copies of verifications that were
   * killed are removed from it, so it must belong to Postern alone.
   */
  readonly inFolder: string;
  readonly dumps: DumpVerification;
  readonly log: Log;
  readonly stop?: AbortSignal | undefined;
}

/** How dumps are restored to verify them. */
export interface DumpVerification {
  /** The folder to find pg_restore in. Undefined: in PATH and in the folders of packages. */
  readonly programs: string | undefined;
  /** The URL of a server that gets a temporary database. Undefined: a temporary embedded server. */
  readonly server: string | undefined;
}

/** The name of a folder with a restored copy, followed by random characters. */
const copyPrefix = 'verify-';
/** The bits of the permissions of the group and of all other accounts. */
const othersMask = 0o077;
/** The folders of servers in such a folder: for a copy of files, and for the server into which a dump is restored. */
const serverFolders = ['data', 'server'] as const;
/** Milliseconds. No verification takes this long, so an older copy was left by a process that was killed. */
const abandonedAfterMs = 24 * 3_600_000;

/**
 * Restores a backup into a temporary folder and checks the data: the checksums of all pages, the structure of all indexes, the
 * rows of all tables, and that the last transaction of the backup is there. A dump is restored into a temporary database.
 * @throws BackupError
 */
export async function verifyBackup(source: AsyncIterable<Buffer>, options: VerifyOptions): Promise<VerifiedBackup> {
  const { keys, expected, inFolder, log, stop } = options;
  await createPrivateFolder(inFolder);
  await removeAbandoned(inFolder, log);
  const folder = await mkdtemp(join(inFolder, copyPrefix));
  try {
    const backup = await openBackup(untilStopped(source, stop), keys, expected);
    return await (backup.header.kind === 'dump' ? verifyDump : verifyFiles)(backup, folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verifyFiles(backup: OpenBackup, folder: string, { log, stop }: VerifyOptions): Promise<VerifiedBackup> {
  const dataDir = join(folder, serverFolders[0]);
  const { header, manifest } = await restoreFiles(backup, { target: dataDir });
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    const found = await withSession(server.address, (client) => checkCopy(client, header, manifest), stop);
    return { header, files: manifest.files.length, ...found };
  } finally {
    await server.stop();
  }
}

async function verifyDump(backup: OpenBackup, folder: string, options: VerifyOptions): Promise<VerifiedBackup> {
  const { dumps, log, stop } = options;
  const dataDir = join(folder, serverFolders[1]);
  return withTemporaryDatabase({ server: dumps.server, dataDir, log, backup: backup.header }, async (database) => {
    const target = join(folder, serverFolders[0]);
    const { header, manifest } = await restoreDump(backup, { target, database, programs: dumps.programs, stop });
    const found = await withSession(database, (client) => checkCopy(client, header, manifest), stop);
    return { header, files: manifest.files.length, ...found };
  });
}

async function checkCopy(client: pg.Client, header: BackupHeader, manifest: Manifest) {
  const counts = Object.values(await checkRows(client, header, manifest));
  const indexes = await checkIndexes(client);
  return { tables: counts.length, rows: counts.reduce((sum, count) => sum + count, 0), indexes };
}

/**
 * Removes copies of verifications that were killed, and stops their servers. A copy is a folder of this account that no
 * other account can enter, so a folder of somebody else is never touched.
 */
async function removeAbandoned(folder: string, log: Log): Promise<void> {
  for (const name of (await readdir(folder)).filter((entry) => entry.startsWith(copyPrefix))) {
    const copy = join(folder, name);
    const status = await lstat(copy).catch(() => undefined);
    if (status?.isDirectory() !== true || status.uid !== process.getuid?.() || (status.mode & othersMask) !== 0)
      continue;
    if (Date.now() - status.mtimeMs < abandonedAfterMs) continue;
    for (const dataDir of serverFolders.map((of) => join(copy, of))) {
      // This process joins the server and leaves it. The last process that leaves a server stops it.
      if (existsSync(join(dataDir, 'postgres'))) await (await startEmbeddedPostgres({ dataDir, log })).stop();
    }
    await rm(copy, { recursive: true, force: true });
  }
}
