import { randomBytes } from 'node:crypto';
import { constants, type Dirent, existsSync } from 'node:fs';
import { link, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ifMissing, syncFolder } from '../../lib/files.js';
import { createPrivateFolder } from '../../lib/private-file.js';
import { BackupError, UnusableFileError } from '../container/error.js';
import { describeFullDisk } from './full-disk.js';
import type { BackupPlace, BackupStore } from './place.js';

/** The end of the name of a file that is being written. */
const partEnd = '.part';

/** Milliseconds. A `.part` file that is older than this is no longer being written. */
const abandonedAfterMs = 24 * 3_600_000;

/** Whether a path names a folder: it ends with `/`, or a folder is there. */
export async function isFolder(path: string): Promise<boolean> {
  return path.endsWith('/') || (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** A folder of backups. It is created with the first one. */
export function createBackupFolder(path: string): BackupStore {
  const folder = resolve(path);
  /** Files, and folders with a slash at the end. Somebody may have put something else there, which cannot be read. */
  const namesIn = async (name: string) => {
    const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(ifMissing<Dirent[]>([]));
    const names = await Promise.all(
      entries.map(async (entry) => {
        const path = join(name, entry.name);
        if (entry.isDirectory()) return `${path}/`;
        const isFile = entry.isSymbolicLink()
          ? (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true
          : entry.isFile();
        return isFile ? path : undefined;
      }),
    );
    return names.filter((path) => path !== undefined).sort();
  };
  return {
    locate: (name) => join(folder, name),
    write: (name, content) => writeBackup(join(folder, name), content),
    async list(prefix) {
      return (await namesIn(prefix.slice(0, prefix.lastIndexOf('/') + 1))).filter((name) => name.startsWith(prefix));
    },
    read: (name) => readFileOf(join(folder, name)),
    remove: (name) => rm(join(folder, name), { recursive: true, force: true }),
    async removeAbandoned(prefix) {
      const start = prefix.lastIndexOf('/') + 1;
      for (const name of await namesIn(prefix.slice(0, start))) {
        if (!basename(name).startsWith(`.${prefix.slice(start)}`) || !name.endsWith(partEnd)) continue;
        // The file may have got its final name by now.
        const status = await stat(join(folder, name)).catch(ifMissing(undefined));
        if (status !== undefined && Date.now() - status.mtimeMs > abandonedAfterMs)
          await rm(join(folder, name), { force: true });
      }
    },
  };
}

/** A backup file with a name that a person chose. */
export function backupFileAt(path: string): BackupPlace {
  return { locate: () => resolve(path), write: (_name, content) => writeBackup(resolve(path), content) };
}

async function* readFileOf(path: string): AsyncGenerator<Buffer> {
  // Without O_NONBLOCK, the call would wait for somebody who writes into a FIFO.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new BackupError(`There is no backup ${path}.`);
    if (error.code === 'ENXIO') throw notAFile(path);
    throw error;
  });
  try {
    if (!(await file.stat()).isFile()) throw notAFile(path);
    yield* file.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false });
  } finally {
    await file.close();
  }
}

const notAFile = (path: string) => new UnusableFileError(`${path} is not a file.`);

/** Writes a file that only its owner can read. It gets its name when it is complete and on disk. */
async function writeBackup(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  // Before the work, and again at its end: somebody may have written the file meanwhile.
  if (existsSync(path)) throw existsAlready(path);
  await createPrivateFolder(dirname(path));
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}${partEnd}`);
  try {
    const bytes = await writeSynced(part, content);
    await link(part, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw existsAlready(path);
      throw error;
    });
    return bytes;
  } finally {
    await rm(part, { force: true });
    await syncFolder(dirname(path));
  }
}

const existsAlready = (path: string) => new BackupError(`${path} exists already: choose another name.`);

/** @throws BackupError that names the disk, if it is full */
async function writeSynced(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const part of content) {
      // Unlike `write`, it writes all bytes.
      await file.writeFile(part);
      bytes += part.length;
    }
    await file.sync();
    return bytes;
  } catch (error) {
    throw await describeFullDisk(error, dirname(path), bytes);
  } finally {
    await file.close();
  }
}
