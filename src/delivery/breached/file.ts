import { type FileHandle, open } from 'node:fs/promises';
import type { BreachedPasswords } from '../../authentication/secrets/breached-passwords.js';
import { hashOfLine } from '../../lib/hash-list.js';
import { sha1Of } from './sha1.js';

/** Bytes, more than the longest line has. */
const probe = 128;
/** Bytes that are read at once when they are all that is left. */
const window = 4096;

/**
 * A file of `HASH:count` lines in the order of the hashes, as Have I Been Pwned offers it for download. It is never loaded:
 * some 25 reads find a hash among a billion. It is opened for each question, so that a newer one may take its place.
 */
export function createBreachedFile(path: string, onFailure: (error: unknown) => void): BreachedPasswords {
  return {
    async contains(password) {
      let file: FileHandle | undefined;
      try {
        file = await open(path, 'r');
        return await holds(file, sha1Of(password));
      } catch (error) {
        onFailure(error);
        return false;
      } finally {
        await file?.close();
      }
    },
  };
}

/** Binary search by bytes: a line with the hash, if there is one, begins at `low` or later, and at `high` or before. */
async function holds(file: FileHandle, wanted: string): Promise<boolean> {
  let low = 0;
  let high = (await file.stat()).size;
  while (high - low > window) {
    const middle = Math.floor((low + high) / 2);
    const { start, hash } = await lineBehind(file, middle);
    if (hash === wanted) return true;
    if (hash > wanted) high = middle;
    else low = start;
  }
  const lines = (await read(file, low, high - low + probe)).split('\n');
  return lines.some((line) => hashOfLine(line) === wanted);
}

/** The first line that begins behind a position. It is whole: what is searched last is larger than a few lines. */
async function lineBehind(file: FileHandle, position: number): Promise<{ start: number; hash: string }> {
  const text = await read(file, position, 2 * probe);
  const end = text.indexOf('\n');
  const [line = ''] = text.slice(end + 1).split('\n', 1);
  const hash = end === -1 ? undefined : hashOfLine(line);
  if (hash === undefined) throw new Error(`the list of breached passwords is no such list at byte ${position}`);
  return { start: position + end + 1, hash };
}

async function read(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead);
}
