import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../lib/files.js';
import type { ArchiveEntry } from './container/archive.js';

/** One read. Larger reads are not faster. */
const chunkBytes = 1024 * 1024;

/** Which files and folders are left out. */
export interface Exclusions {
  /** Whether to leave out a file or a folder with all its files. */
  readonly isExcluded: (path: string, name: string) => boolean;
  /** Whether to leave out the files of a folder, but not the folder. */
  readonly isEmptied: (path: string) => boolean;
}

/**
 * The files and folders below `root`, as entries of an archive below `prefix`. Files may be changed, extended or
 * shortened while they are read. An entry has the size that the file had when its reading began. If the file was
 * shortened, the rest of the entry is zeros.
 */
export async function* filesBelow(root: string, prefix: string, exclusions: Exclusions): AsyncGenerator<ArchiveEntry> {
  yield* walk('');

  async function* walk(at: string): AsyncGenerator<ArchiveEntry> {
    yield { path: join(prefix, at), type: 'folder', size: 0, mode: 0o700, modifiedAt: 0 };
    if (exclusions.isEmptied(at)) return;
    // A folder may no longer exist, for example because a database or an image was removed.
    const entries = await readdir(join(root, at), { withFileTypes: true }).catch(ifMissing([]));
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(at, entry.name);
      if (exclusions.isExcluded(path, entry.name)) continue;
      if (entry.isDirectory()) yield* walk(path);
      if (entry.isFile()) yield* fileAt(join(root, path), join(prefix, path));
    }
  }
}

/** A file as the entry `path` of an archive; none if it is missing. */
export async function* fileAt(source: string, path: string): AsyncGenerator<ArchiveEntry> {
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW).catch(ifMissing(undefined));
  if (file === undefined) return;
  try {
    const { size, mode, mtimeMs }: Stats = await file.stat();
    const modifiedAt = Math.max(0, Math.floor(mtimeMs / 1000));
    yield { path, type: 'file', size, mode: mode & 0o700, modifiedAt, content: contentOf(file, size) };
  } finally {
    await file.close();
  }
}

async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    const length = Math.min(chunkBytes, size - position);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    // The file was shortened. The write-ahead log contains everything that is needed to restore the missing part.
    const part = bytesRead === 0 ? Buffer.alloc(length) : buffer.subarray(0, bytesRead);
    position += part.length;
    yield part;
  }
}
