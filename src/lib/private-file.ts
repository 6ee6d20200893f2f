import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents, which only their owner can enter. Node's own recursive mkdir never ends where
 * a file system refuses new folders with ENOENT, as /proc does.
 */
export async function createPrivateFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      // Another process may have created it since.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * Writes a file that only its owner can read. It gets its name when it is complete and on disk, so a reader never sees a part
 * of it, not even after a crash. Creates missing folders, which only their owner can enter. If root replaces a file, its
 * owner stays, so that a service under another account can still read it.
 *
 * @param options.replace whether to replace an existing file
 * @returns false if the file exists and was not replaced
 */
export async function writePrivateFile(
  path: string,
  content: string | Uint8Array,
  options: { readonly replace: boolean },
): Promise<boolean> {
  await createPrivateFolder(dirname(path));
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(temporaryPath, 'wx', 0o600);
    try {
      if (options.replace) await keepOwner(file, path);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (options.replace) await rename(temporaryPath, path);
    else await link(temporaryPath, path);
    return true;
  } catch (error) {
    if (!options.replace && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

async function keepOwner(file: FileHandle, path: string): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync(path)) return;
  const { uid, gid } = await stat(path);
  await file.chown(uid, gid);
}
