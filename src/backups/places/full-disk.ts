import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BackupError } from '../container/error.js';

/** The disk has no space, or the account has none left (ENOSPC, EDQUOT). */
const codes = ['ENOSPC', 'EDQUOT'];

/**
 * Says which disk is full. Other errors are returned as they are.
 * @param folder where the file is written; the written part must still be there
 */
export async function describeFullDisk(error: unknown, folder: string, writtenBytes: number): Promise<unknown> {
  if (!(error instanceof Error) || !codes.includes((error as NodeJS.ErrnoException).code ?? '')) return error;
  const [{ bavail, blocks, bsize }, mount] = await Promise.all([statfs(folder), mountOf(folder)]);
  return new BackupError(
    `The disk of ${folder}, mounted at ${mount}, is full: ${megabytes(bavail * bsize)} of ${megabytes(blocks * bsize)} MB are free after ${megabytes(writtenBytes)} MB of the backup, which is not complete and was removed. Make space, or write it to another disk.`,
    { cause: error },
  );
}

/** The highest folder on the same file system. */
async function mountOf(folder: string): Promise<string> {
  const parent = dirname(folder);
  if (parent === folder || (await stat(parent)).dev !== (await stat(folder)).dev) return folder;
  return mountOf(parent);
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
