import { open } from 'node:fs/promises';

/** When this has returned, new names in the folder survive a crash (fsync(2)). */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Replaces the error of a file or folder that does not exist by a value: `readdir(path).catch(ifMissing([]))`. */
export const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
