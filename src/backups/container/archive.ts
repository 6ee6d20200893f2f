import { createHash } from 'node:crypto';
import { type ByteReader, createByteReader } from '../../lib/bytes/byte-reader.js';
import { BackupError } from './error.js';
import { blockBytes, paddingAfter, readHeader, type TarHeader, tarEnd, writeHeader } from './tar.js';

// An archive is a tar file: any files, then `manifest.json`, then `archive.sha256` with the SHA-256 of all bytes before
// its header. The manifest lists the SHA-256 of each file, for readers that have only tar and sha256sum.

/** A file or folder that goes into an archive. The content must have exactly `size` bytes. */
export interface ArchiveEntry extends TarHeader {
  readonly content?: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** A file or folder of an archive. Read its content before the next one. */
export interface ReadEntry extends TarHeader {
  readonly content: AsyncIterable<Buffer>;
}

/** A file in the manifest. */
export interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

export const manifestPath = 'manifest.json';
const digestPath = 'archive.sha256';
/** 64 digits and a line feed. */
const digestBytes = 65;

/** A small file for an archive. */
export function textEntry(path: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  return { path, type: 'file', size: bytes.length, mode: 0o600, modifiedAt: 0, content: [bytes] };
}

/**
 * Writes an archive.
 * @param manifest called after the last entry. It returns the members of `manifest.json` in addition to its list of
 *   files
 */
export async function* writeArchive(
  entries: AsyncIterable<ArchiveEntry>,
  manifest: () => Readonly<Record<string, unknown>>,
): AsyncGenerator<Buffer> {
  const total = createHash('sha256');
  const files: ListedFile[] = [];

  async function* write(entry: ArchiveEntry): AsyncGenerator<Buffer> {
    const digest = createHash('sha256');
    for await (const part of bytesOf(entry, digest)) {
      total.update(part);
      yield part;
    }
    if (entry.type === 'file') files.push({ path: entry.path, size: entry.size, sha256: digest.digest('hex') });
  }

  for await (const entry of entries) yield* write(entry);
  yield* write(textEntry(manifestPath, `${JSON.stringify({ ...manifest(), files }, null, 1)}\n`));
  yield* bytesOf(textEntry(digestPath, `${total.digest('hex')}\n`));
  yield tarEnd;
}

async function* bytesOf(entry: ArchiveEntry, digest?: { update(part: Buffer): unknown }): AsyncGenerator<Buffer> {
  yield writeHeader(entry);
  let written = 0;
  for await (const part of entry.content ?? []) {
    digest?.update(part);
    written += part.length;
    yield part;
  }
  if (written !== entry.size) throw new Error(`${entry.path} has ${written} bytes instead of ${entry.size}`);
  yield paddingAfter(written);
}

/**
 * Reads an archive to its end. The check comes last, so the caller must not use the files before the iteration has
 * ended.
 * @throws BackupError if the archive was cut or changed
 */
export async function* readArchive(source: AsyncIterable<Buffer>): AsyncGenerator<ReadEntry> {
  const file = createByteReader(source);
  const total = createHash('sha256');
  try {
    for (;;) {
      const block = await file.read(blockBytes);
      const header = readHeader(block);
      if (header === undefined) throw damaged(block.length < blockBytes);
      if (header.path === digestPath) return await checkEnd(file, header, total.digest('hex'));
      total.update(block);
      const content = contentOf(file, header, total);
      yield { ...header, content };
      for await (const _skipped of content);
      const padding = await file.read(paddingAfter(header.size).length);
      if (!padding.equals(paddingAfter(header.size))) throw damaged(padding.length < paddingAfter(header.size).length);
      total.update(padding);
    }
  } finally {
    await file.close();
  }
}

/** The content of a file. A second iteration continues where the first one has stopped. */
function contentOf(file: ByteReader, { size }: TarHeader, total: { update(part: Buffer): unknown }) {
  let missing = size;
  return {
    async *[Symbol.asyncIterator]() {
      while (missing > 0) {
        const part = await file.read(Math.min(missing, 1024 * 1024));
        if (part.length === 0) throw damaged(true);
        missing -= part.length;
        total.update(part);
        yield part;
      }
    },
  };
}

async function checkEnd(file: ByteReader, header: TarHeader, digest: string): Promise<void> {
  const expected = Buffer.concat([Buffer.from(`${digest}\n`), paddingAfter(digestBytes), tarEnd]);
  const end = await file.read(expected.length + 1);
  if (header.size !== digestBytes || !end.equals(expected)) throw damaged(end.length < expected.length);
}

function damaged(isCut: boolean): BackupError {
  return isCut
    ? new BackupError('The backup is not complete: its end is missing. Nothing was restored. Use another backup.')
    : new BackupError(
        'The backup was changed or is damaged: its checksum is wrong. Nothing was restored. Use another backup.',
      );
}
