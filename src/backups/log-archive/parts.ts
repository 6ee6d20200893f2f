import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { createByteReader } from '../../lib/byte-reader.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { type ArchiveTrust, openArchive } from '../base/open.js';
import { type ArchiveEntry, manifestPath, textEntry, writeArchive } from '../container/archive.js';
import { UnusableFileError } from '../container/error.js';
import type { SigningKey } from '../container/signature.js';
import type { BackupStore } from '../places/place.js';

// A part is a range of bytes of the write-ahead log in a file of its own. It has the format of a backup: a tar archive with a checksum
// and a signature at the end. Its header has the id of the log archive and its position, so no other part can take its place. No part
// crosses the end of a segment. The folder of all parts is named after its owner and the log archive. The name of a part
// ends with random digits, so nobody can take it before the part is written, which would stop the archive.

/** Bytes. The embedded server has segments of 16 MiB. */
const maxPartBytes = 64 * 1024 * 1024;

const PartHeader = Type.Object({
  format: Type.Literal(1),
  archive: Type.String(),
  /** The position of the first byte. */
  start: Type.Integer({ minimum: 0 }),
  timeline: Type.Integer({ minimum: 1, maximum: 2 ** 32 - 1 }),
  segment_bytes: Type.Integer({ minimum: 1, maximum: maxPartBytes }),
  /** Every transaction that was acknowledged before this time is in this part, in an earlier one, or in the backup. */
  created_at: Type.String({ pattern: '^[0-9TZ:.-]+$' }),
});

/** What a part says about itself. */
export type PartHeader = Static<typeof PartHeader>;

/** What the name of a part says: the positions of its first byte, and of the byte after its last one. */
export interface Part {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const headerPath = 'postern-log.json';
const contentPath = 'log';

/** The folder of an archive's parts. */
export const archiveFolder = (owner: string, archive: string): string => `wal-${owner}-${archive}`;

const digits = (position: number) => position.toString(16).toUpperCase().padStart(16, '0');

/** The parts of an archive, sorted by their start. Earlier releases wrote names without random digits. */
export async function listParts(store: BackupStore, folder: string): Promise<Part[]> {
  const names = await store.list(`${folder}/`);
  return names.flatMap((name) => {
    const [, partFolder, startText = '', endText = ''] =
      /^([^/]+)\/([0-9A-F]{16})-([0-9A-F]{16})(?:-[0-9a-f]{16})?\.tar(?:\.age)?$/.exec(name) ?? [];
    const [start, end] = [Number.parseInt(startText, 16), Number.parseInt(endText, 16)];
    const isRange = Number.isSafeInteger(end) && start < end && end - start <= maxPartBytes;
    return partFolder === folder && isRange ? [{ name, start, end }] : [];
  });
}

/** Writes a part. */
export async function writePart(
  store: BackupStore,
  folder: string,
  { start, end }: Omit<Part, 'name'>,
  options: {
    readonly header: Omit<PartHeader, 'format' | 'start'>;
    readonly content: AsyncIterable<Buffer>;
    readonly encrypt: ((source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>) | undefined;
    /** Signs the part if it is not encrypted. */
    readonly key: SigningKey | undefined;
  },
): Promise<Part> {
  const { header, content, encrypt, key } = options;
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    yield textEntry(headerPath, `${JSON.stringify({ format: 1, ...header, start })}\n`);
    yield { path: contentPath, type: 'file', size: end - start, mode: 0o600, modifiedAt: 0, content };
  }
  const archive = writeArchive(entries(), () => ({}), encrypt === undefined ? key : undefined);
  const range = `${digits(start)}-${digits(end)}-${randomBytes(8).toString('hex')}`;
  const name = `${folder}/${range}.tar${encrypt === undefined ? '' : '.age'}`;
  await store.write(name, encrypt === undefined ? archive : encrypt(archive));
  return { name, start, end };
}

/** Reads a part of an archive to its end, which checks it. @throws BackupError */
export async function readPart(
  store: BackupStore,
  { name, start, end }: Part,
  { archive, trust }: { readonly archive: string; readonly trust: ArchiveTrust },
): Promise<{ readonly header: PartHeader; readonly content: Buffer }> {
  const { header, entries } = await openArchive(store.read(name), { trust, path: headerPath, parse });
  let content: Buffer = Buffer.alloc(0);
  const expected = new Set([contentPath, manifestPath]);
  for await (const entry of entries) {
    // The content is kept in memory before its origin is known, so its length is checked first, and each file comes once.
    if (!expected.delete(entry.path) || entry.size > maxPartBytes) throw damaged(store, name);
    if (entry.path === contentPath) content = await createByteReader(entry.content).read(entry.size);
  }
  if (content.length !== end - start || (start % header.segment_bytes) + content.length > header.segment_bytes)
    throw damaged(store, name);
  if (header.start !== start || header.archive !== archive)
    throw new UnusableFileError(
      `${store.locate(name)} is another part of the log than its name says: somebody has renamed or replaced it.`,
    );
  return { header, content };
}

const damaged = (store: BackupStore, name: string) => new UnusableFileError(`${store.locate(name)} is damaged.`);

function parse(text: string): PartHeader {
  const value: unknown = parseJsonObject(text);
  if (!Value.Check(PartHeader, value))
    throw new UnusableFileError('A part of the log archive cannot be read by this release.');
  return value;
}

/**
 * Removes the parts that a larger one contains: an interrupted replacement leaves them. Somebody else may have written a file with
 * the name of a part, so each larger part is read first.
 * @throws what `isOwn` throws
 */
export async function removeContained(
  store: BackupStore,
  parts: readonly Part[],
  isOwn: (part: Part) => Promise<boolean>,
): Promise<Part[]> {
  let kept = [...parts];
  for (const part of parts) {
    const contained = kept.filter((other) => other !== part && part.start <= other.start && part.end >= other.end);
    if (contained.length === 0 || !kept.includes(part) || !(await isOwn(part))) continue;
    for (const { name } of contained) await store.remove(name);
    kept = kept.filter((other) => !contained.includes(other));
  }
  return kept;
}
