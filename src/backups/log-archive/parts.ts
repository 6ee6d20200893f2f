import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { AgeDecryption } from '../../lib/crypto/age.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { openArchive } from '../base/open.js';
import { type ArchiveEntry, textEntry, writeArchive } from '../container/archive.js';
import { BackupError } from '../container/error.js';
import type { BackupStore } from '../places/place.js';

// A part is a range of bytes of the write-ahead log in a file of its own: a tar archive as a backup, with its checksum at the
// end. No part crosses the end of a segment. The folder of all parts is named after its owner and the log archive.

const PartHeader = Type.Object({
  format: Type.Literal(1),
  archive: Type.String(),
  timeline: Type.Integer({ minimum: 1 }),
  segment_bytes: Type.Integer({ minimum: 1 }),
  /** Every transaction that was acknowledged before this time is in this part, in an earlier one, or in the backup. */
  created_at: Type.String(),
});

/** What a part says about itself. */
export type PartHeader = Static<typeof PartHeader>;

/** A part by its name: the positions of its first byte, and of the byte after its last one. */
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

/** The parts of an archive, sorted by their start. */
export async function listParts(store: BackupStore, folder: string): Promise<Part[]> {
  const names = await store.list(`${folder}/`);
  return names.flatMap((name) => {
    const [, start, end] = /\/([0-9A-F]{16})-([0-9A-F]{16})\.tar(?:\.age)?$/.exec(name) ?? [];
    return start === undefined || end === undefined
      ? []
      : [{ name, start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
  });
}

/** Writes a part. */
export async function writePart(
  store: BackupStore,
  folder: string,
  { start, end }: Omit<Part, 'name'>,
  options: {
    readonly header: Omit<PartHeader, 'format'>;
    readonly content: AsyncIterable<Buffer>;
    readonly encrypt: ((source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>) | undefined;
  },
): Promise<Part> {
  const { header, content, encrypt } = options;
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    yield textEntry(headerPath, `${JSON.stringify({ format: 1, ...header })}\n`);
    yield { path: contentPath, type: 'file', size: end - start, mode: 0o600, modifiedAt: 0, content };
  }
  const archive = writeArchive(entries(), () => ({}));
  const name = `${folder}/${digits(start)}-${digits(end)}.tar${encrypt === undefined ? '' : '.age'}`;
  await store.write(name, encrypt === undefined ? archive : encrypt(archive));
  return { name, start, end };
}

/** Reads a part to its end, which checks it. @throws BackupError */
export async function readPart(
  store: BackupStore,
  { name, start, end }: Part,
  decrypt: AgeDecryption | undefined,
): Promise<{ readonly header: PartHeader; readonly content: Buffer }> {
  const { header, entries } = await openArchive(store.read(name), { decrypt, path: headerPath, parse });
  const parts: Buffer[] = [];
  for await (const entry of entries) {
    if (entry.path === contentPath) for await (const part of entry.content) parts.push(part);
  }
  const content = Buffer.concat(parts);
  if (content.length !== end - start) throw new BackupError(`${store.locate(name)} is damaged.`);
  return { header, content };
}

function parse(text: string): PartHeader {
  const value: unknown = parseJsonObject(text);
  if (!Value.Check(PartHeader, value))
    throw new BackupError('A part of the log archive cannot be read by this release.');
  return value;
}

/** Removes the parts that a larger one contains: an interrupted replacement leaves them. */
export async function removeContained(store: BackupStore, parts: readonly Part[]): Promise<Part[]> {
  const contained = parts.filter((part) =>
    parts.some((other) => other !== part && other.start <= part.start && other.end >= part.end),
  );
  for (const { name } of contained) await store.remove(name);
  return parts.filter((part) => !contained.includes(part));
}
