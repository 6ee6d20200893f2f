import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type ArchiveEntry, acceptAnyOrigin, readArchive, writeArchive } from '../../src/backups/container/archive.js';

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

/** Writes a copy of a backup with other files. Its list of files and its checksum are right. */
export async function forgeBackup(
  from: string,
  to: string,
  { adds = [], header = (text) => text, drops = () => false, signedWith }: BackupChange,
): Promise<void> {
  let manifest: Record<string, unknown> = {};
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    for await (const entry of readArchive(createReadStream(from), acceptAnyOrigin)) {
      const parts: Buffer[] = [];
      for await (const part of entry.content) parts.push(part);
      const read = Buffer.concat(parts);
      if (entry.path === 'manifest.json') manifest = JSON.parse(read.toString());
      if (entry.path === 'manifest.json' || adds.some(({ path }) => path === entry.path) || drops(entry.path)) continue;
      const bytes = entry.path === 'postern-backup.json' ? Buffer.from(header(read.toString())) : read;
      yield { ...entry, size: bytes.length, content: [bytes] };
    }
    yield* adds;
  }
  const written: Buffer[] = [];
  for await (const part of writeArchive(entries(), () => manifest, signedWith)) written.push(part);
  await writeFile(to, Buffer.concat(written));
}
