import { createHash } from 'node:crypto';
import { type ByteReader, createByteReader } from '../../lib/byte-reader.js';
import { UnusableFileError } from './error.js';
import { type SigningKey, signArchive, signatureBytes } from './signature.js';
import { blockBytes, paddingAfter, readHeader, type TarHeader, tarEnd, writeHeader } from './tar.js';

// An archive is a tar file: any files, then `manifest.json`, then `archive.sha256` with the SHA-256 of all bytes before
// its header, and then `archive.hmac` with a signature of this digest, unless the archive is encrypted. The manifest
// lists the SHA-256 of each file, for readers that have only tar and sha256sum.

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
const signaturePath = 'archive.hmac';
/** 64 digits and a line feed. */
const digestBytes = 65;

/**
 * Called at the end of an archive. It throws if the archive must not be used.
 * @param signature undefined if the archive has none
 */
export type OriginCheck = (digest: string, signature: string | undefined) => void;

/** For encrypted archives, whose decryption has authenticated them, and for archives that the operator trusts. */
export const acceptAnyOrigin: OriginCheck = () => undefined;

/** A small file for an archive. */
export function textEntry(path: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  return { path, type: 'file', size: bytes.length, mode: 0o600, modifiedAt: 0, content: [bytes] };
}

/**
 * Writes an archive.
 * @param manifest called after the last entry. It returns the members of `manifest.json` in addition to its list of
 *   files
 * @param key signs the archive. Undefined for archives that will be encrypted
 */
export async function* writeArchive(
  entries: AsyncIterable<ArchiveEntry>,
  manifest: () => Readonly<Record<string, unknown>>,
  key: SigningKey | undefined,
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
  const digest = total.digest('hex');
  yield* bytesOf(textEntry(digestPath, `${digest}\n`));
  if (key !== undefined) yield* bytesOf(textEntry(signaturePath, signArchive(key, digest)));
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
 * @throws BackupError if the archive was cut or changed, and what `checkOrigin` throws
 */
export async function* readArchive(source: AsyncIterable<Buffer>, checkOrigin: OriginCheck): AsyncGenerator<ReadEntry> {
  const file = createByteReader(source);
  const total = createHash('sha256');
  try {
    for (;;) {
      const block = await file.read(blockBytes);
      const header = readHeader(block);
      if (header === undefined) throw damaged(block.length < blockBytes);
      if (header.path === digestPath) return await checkEnd(file, header, total.digest('hex'), checkOrigin);
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
      for await (const part of file.chunks(missing)) {
        missing -= part.length;
        total.update(part);
        yield part;
      }
      if (missing > 0) throw damaged(true);
    },
  };
}

async function checkEnd(file: ByteReader, header: TarHeader, digest: string, checkOrigin: OriginCheck): Promise<void> {
  const demand = (expected: Buffer, found: Buffer) => {
    if (!found.equals(expected)) throw damaged(found.length < expected.length);
  };
  const text = Buffer.concat([Buffer.from(`${digest}\n`), paddingAfter(digestBytes)]);
  if (header.size !== digestBytes) throw damaged(false);
  demand(text, await file.read(text.length));
  const next = await file.read(blockBytes);
  const signed = readHeader(next);
  let signature: string | undefined;
  if (signed?.path === signaturePath && signed.size === signatureBytes) {
    const content = await file.read(blockBytes);
    if (content.length < blockBytes) throw damaged(true);
    signature = content.toString('latin1', 0, signatureBytes);
    demand(paddingAfter(signatureBytes), content.subarray(signatureBytes));
  }
  const end = signature === undefined ? tarEnd.subarray(next.length) : tarEnd;
  if (signature === undefined) demand(tarEnd.subarray(0, blockBytes), next);
  demand(end, await file.read(end.length + 1));
  checkOrigin(digest, signature);
}

function damaged(isCut: boolean): UnusableFileError {
  return isCut
    ? new UnusableFileError('The backup is not complete: its end is missing. Nothing was restored. Use another backup.')
    : new UnusableFileError(
        'The backup was changed or is damaged: its checksum is wrong. Nothing was restored. Use another backup.',
      );
}
