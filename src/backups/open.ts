import { createByteReader } from '../lib/bytes/byte-reader.js';
import { AgeError, decryptAge, isAge } from '../lib/crypto/age.js';
import { type ReadEntry, readArchive } from './container/archive.js';
import { BackupError } from './container/error.js';
import { type BackupHeader, headerPath, notABackup, parseHeader } from './container/header.js';
import { blockBytes, readHeader } from './container/tar.js';

/** A backup whose header was read. */
export interface OpenBackup {
  readonly header: BackupHeader;
  /** The files after the header. Fails at the end if the backup was cut or changed. */
  readonly entries: AsyncGenerator<ReadEntry>;
}

/** Bytes. A header is far shorter. */
const maxHeaderBytes = 1024 * 1024;

/** Opens a backup, and refuses files that are none. @throws BackupError */
export async function openBackup(source: AsyncIterable<Buffer>, passphrase: string | undefined): Promise<OpenBackup> {
  const entries = readArchive(await decrypted(source, passphrase));
  try {
    const { value: first } = await entries.next();
    if (first === undefined || first.path !== headerPath || first.size > maxHeaderBytes) throw notABackup();
    return { header: parseHeader(await textOf(first.content)), entries };
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
  passphrase: string | undefined,
): Promise<AsyncIterable<Buffer>> {
  const reader = createByteReader(source);
  const start = await reader.read(blockBytes);
  const whole = (async function* () {
    yield start;
    yield* reader.rest();
  })();
  if (isAge(start)) {
    if (passphrase !== undefined) return explained(decryptAge(passphrase, whole));
    await reader.close();
    throw new BackupError('The backup is encrypted: set BACKUP_PASSPHRASE to its passphrase.');
  }
  if (readHeader(start)?.path === headerPath) return whole;
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
