import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createPrivateFolder } from '../lib/private-file.js';
import { BackupError } from './container/error.js';

/** Where backups are written. */
export interface BackupPlace {
  /** The full name of the backup `name`, for people. */
  locate(name: string): string;
  /** Writes a backup that gets its name when it is complete. @returns its bytes */
  write(name: string, content: AsyncIterable<Buffer>): Promise<number>;
}

/** The end of the name of a file that is being written. */
const partEnd = '.part';

/** The folder or file that `path` names. A path that ends with `/`, and an existing folder, is a folder. */
export async function placeAt(path: string): Promise<BackupPlace> {
  const isFolder = path.endsWith('/') || (await stat(path).catch(() => undefined))?.isDirectory() === true;
  return isFolder ? createBackupFolder(path) : fileAt(resolve(path));
}

/** A folder of backups. */
export interface BackupFolder extends BackupPlace {
  /** Deletes all backups of a database but the newest ones, and what interrupted backups of it left. */
  removeOld(systemId: string, keep: number): Promise<void>;
}

/** The age in milliseconds after which nobody writes a file any more. */
const abandonedAfterMs = 24 * 3_600_000;

/** A folder of backups. It is created with the first one. */
export function createBackupFolder(path: string): BackupFolder {
  const folder = resolve(path);
  return {
    locate: (name) => join(folder, name),
    write: (name, content) => writeBackup(join(folder, name), content),
    async removeOld(systemId, keep) {
      const names = await readdir(folder);
      const own = names.filter((name) => backupNames.exec(name)?.[1] === systemId).sort();
      for (const name of own.slice(0, -keep)) await rm(join(folder, name));
      for (const name of names) {
        if (!name.startsWith(`.postern-${systemId}-`) || !name.endsWith(partEnd)) continue;
        const { mtimeMs } = await stat(join(folder, name));
        if (Date.now() - mtimeMs > abandonedAfterMs) await rm(join(folder, name));
      }
    },
  };
}

function fileAt(path: string): BackupPlace {
  return { locate: () => path, write: (_name, content) => writeBackup(path, content) };
}

/** The newest backup of a folder, or the file itself. @throws BackupError if there is none */
export async function findBackup(path: string): Promise<string> {
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) throw new BackupError(`There is no backup ${path}.`);
  if (!status.isDirectory()) return path;
  const names = (await readdir(path)).filter((name) => backupNames.test(name));
  // The names sort by system, then by time. Several systems have no newest backup.
  const systems = new Set(names.map((name) => backupNames.exec(name)?.[1]));
  const newest = names.sort().at(-1);
  if (newest === undefined) throw new BackupError(`There is no backup in ${path}.`);
  if (systems.size > 1) throw new BackupError(`${path} has backups of several databases: name the file.`);
  return join(path, newest);
}

const backupNames = /^postern-(\d+)-\d{8}T\d{6}Z\.tar(\.age)?$/;

/** The content of a backup file. */
export function readBackup(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: 1024 * 1024 });
}

/** Writes a file that only its owner can read. It gets its name when it is complete and on disk. */
async function writeBackup(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  await createPrivateFolder(dirname(path));
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}${partEnd}`);
  try {
    const bytes = await writeSynced(part, content);
    await link(part, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw new BackupError(`${path} exists already: choose another name.`);
      throw error;
    });
    return bytes;
  } finally {
    await rm(part, { force: true });
    await syncFolder(dirname(path));
  }
}

async function writeSynced(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const part of content) {
      // Unlike `write`, it writes all bytes.
      await file.writeFile(part);
      bytes += part.length;
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** After this, new names in the folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
