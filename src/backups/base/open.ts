import { createByteReader } from '../../lib/bytes/byte-reader.js';
import { type AgeDecryption, AgeError, ageDecryption, isAgeFile } from '../../lib/crypto/age.js';
import { type ReadEntry, readArchive } from '../container/archive.js';
import { BackupError } from '../container/error.js';
import { type BackupHeader, headerPath, notABackup, parseHeader } from '../container/header.js';
import { blockBytes, readHeader } from '../container/tar.js';

/** A backup whose header was read. */
export interface OpenBackup {
  readonly header: BackupHeader;
  /** The files after the header. The iteration fails at its end if the backup was cut or changed. */
  readonly entries: AsyncGenerator<ReadEntry>;
}

/** Bytes. A header is far shorter. */
const maxHeaderBytes = 1024 * 1024;

/** Opens a backup, and refuses files that are none. @throws BackupError */
export function openBackup(source: AsyncIterable<Buffer>, passphrase: string | undefined): Promise<OpenBackup> {
  const decrypt = passphrase === undefined ? undefined : ageDecryption(passphrase);
  return openArchive(source, { decrypt, path: headerPath, parse: parseHeader });
}

/**
 * Opens an archive that begins with a header.
 * @param expected the path of the header, and how to read it
 * @throws BackupError
 */
export async function openArchive<T>(
  source: AsyncIterable<Buffer>,
  expected: {
    readonly decrypt: AgeDecryption | undefined;
    readonly path: string;
    readonly parse: (text: string) => T;
  },
): Promise<{ readonly header: T; readonly entries: AsyncGenerator<ReadEntry> }> {
  const entries = readArchive(await decrypted(source, expected.decrypt, expected.path));
  try {
    const { value: first } = await entries.next();
    if (first === undefined || first.path !== expected.path || first.size > maxHeaderBytes) throw notABackup();
    return { header: expected.parse(await textOf(first.content)), entries };
  } catch (error) {
    await entries.return(undefined);
    throw error;
  }
}

/** The text of a file in a backup. */
export async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function decrypted(
  source: AsyncIterable<Buffer>,
  decrypt: AgeDecryption | undefined,
  firstPath: string,
): Promise<AsyncIterable<Buffer>> {
  const reader = createByteReader(source);
  const start = await reader.read(blockBytes);
  const whole = (async function* () {
    yield start;
    yield* reader.rest();
  })();
  if (isAgeFile(start)) {
    if (decrypt !== undefined) return explained(decrypt(whole));
    await reader.close();
    throw new BackupError('The backup is encrypted: set BACKUP_PASSPHRASE to its passphrase.');
  }
  if (readHeader(start)?.path === firstPath) return whole;
  await reader.close();
  throw notABackup();
}

async function* explained(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* plain;
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    throw new BackupError(
      error.code === 'passphrase'
        ? 'BACKUP_PASSPHRASE is not the passphrase of this backup.'
        : 'The backup was cut, changed or damaged: it cannot be decrypted to its end. Nothing was restored. Use another backup.',
    );
  }
}
