import { type FileHandle, open } from 'node:fs/promises';
import type { BreachedPasswords } from '../../credentials/breached-passwords.js';
import { sha1UpperHex } from '../../lib/crypto/digests.js';
import { hashOfLine } from '../../lib/hash-list.js';

/** The maximum length of a line in bytes. */
const maxLineBytes = 128;
/** A range of at most this many bytes is read at once and searched line by line. */
const linearSearchBytes = 4096;

/**
 * Searches a file of `HASH:count` lines sorted by SHA-1 hash, as the Pwned Passwords downloader of Have I Been Pwned makes
 * it (https://haveibeenpwned.com/Passwords). Each look-up opens the file, so you can replace it at any time, and finds a
 * hash among a billion with about 25 reads.
 */
export function createBreachedFile(path: string, onFailure: (error: unknown) => void): BreachedPasswords {
  return {
    async contains(password) {
      let file: FileHandle | undefined;
      try {
        file = await open(path, 'r');
        return await containsHash(file, sha1UpperHex(password));
      } catch (error) {
        onFailure(error);
        return undefined;
      } finally {
        await file?.close();
      }
    },
  };
}

/** Binary search by byte position. If there is a line with the hash, it starts between `low` and `high`. */
async function containsHash(file: FileHandle, digest: string): Promise<boolean> {
  let low = 0;
  let high = (await file.stat()).size;
  while (high - low > linearSearchBytes) {
    const middle = Math.floor((low + high) / 2);
    const { start, hash } = await lineAfter(file, middle);
    if (hash === digest) return true;
    if (hash > digest) high = middle;
    else low = start;
  }
  const lines = (await read(file, low, high - low + maxLineBytes)).split('\n');
  return lines.some((line) => hashOfLine(line) === digest);
}

/** The first line that starts after a position. It is complete, because the read covers at least two lines. */
async function lineAfter(file: FileHandle, position: number): Promise<{ start: number; hash: string }> {
  const text = await read(file, position, 2 * maxLineBytes);
  const end = text.indexOf('\n');
  const [line = ''] = text.slice(end + 1).split('\n', 1);
  const hash = end === -1 ? undefined : hashOfLine(line);
  if (hash === undefined) throw new Error(`the list of breached passwords is invalid at byte ${position}`);
  return { start: position + end + 1, hash };
}

async function read(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead);
}
