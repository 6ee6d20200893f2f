import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import {
  type ArchiveEntry,
  acceptAnyOrigin,
  readArchive,
  textEntry,
  writeArchive,
} from '../../src/backups/container/archive.js';

/** What somebody changes in a backup. */
export interface BackupChange {
  /** Entries in addition, or in place of those with the same path. */
  readonly adds?: readonly ArchiveEntry[];
  /** Changes the text of the header. */
  readonly header?: (text: string) => string;
  /** Which files to leave out. */
  readonly drops?: (path: string) => boolean;
  /** The id of a key, and the key that makes the signature. Absent: no signature. */
  readonly signedWith?: { readonly id: string; readonly key: string };
}

/** Drops the files of tables. A restore accepts such a backup, but no server starts on it. */
export const isOfTables = (path: string): boolean => path.startsWith('postgres/base/');

/** A copy of a backup with other files. Its list of files and its checksum are right. */
export function forgedBackup(
  source: AsyncIterable<Buffer>,
  { adds = [], header = (text) => text, drops = () => false, signedWith }: BackupChange,
): AsyncIterable<Buffer> {
  let manifest: Record<string, unknown> = {};
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    let left = adds;
    for await (const entry of readArchive(source, acceptAnyOrigin)) {
      if (entry.path === 'manifest.json') manifest = JSON.parse(await text(entry.content));
      else if (entry.path === 'postern-backup.json') yield textEntry(entry.path, header(await text(entry.content)));
      else if (!drops(entry.path) && !adds.some(({ path }) => path === entry.path)) yield entry;
      // Right after their folder, so a restore refuses them before it writes all other files.
      if (entry.path !== 'postgres') continue;
      yield* left.filter(({ path }) => path.startsWith('postgres/'));
      left = left.filter(({ path }) => !path.startsWith('postgres/'));
    }
    yield* left;
  }
  return writeArchive(entries(), () => manifest, signedWith);
}

/** Writes a file with a copy of the backup in another one. */
export function forgeBackup(from: string, to: string, change: BackupChange): Promise<void> {
  return writeFile(to, forgedBackup(createReadStream(from, { highWaterMark: 1024 * 1024 }), change));
}
