import { buffer } from 'node:stream/consumers';
import { createByteReader } from '../../lib/byte-reader.js';
import { type AgeDecryption, AgeError, ageDecryption, isAgeFile } from '../../lib/crypto/age.js';
import { acceptAnyOrigin, type OriginCheck, type ReadEntry, readArchive } from '../container/archive.js';
import { UnusableFileError } from '../container/error.js';
import { type BackupHeader, headerPath, notABackup, parseHeader } from '../container/header.js';
import { originOf, type SigningKey } from '../container/signature.js';
import { blockBytes, readHeader } from '../container/tar.js';
import { backupName, parseBackupName } from '../places/place.js';
import { ownerOf } from './installation.js';

/** A backup whose header was read. */
export interface OpenBackup {
  readonly header: BackupHeader;
  /** The files after the header. The iteration fails at its end if the backup was cut, changed or written by others. */
  readonly entries: AsyncGenerator<ReadEntry>;
}

/** What shows which installation wrote a backup. */
export interface BackupKeys {
  /** Decrypts backups. With a passphrase, files that are not encrypted are refused. */
  readonly passphrase: string | undefined;
  /** The keys that may have signed files that are not encrypted. */
  readonly secretKeys: readonly SigningKey[];
  /** Accepts files of unknown origin, because the operator trusts them. */
  readonly acceptsUnauthenticated: boolean;
}

/** How to find out who has written an archive. */
export interface ArchiveTrust {
  readonly decrypt: AgeDecryption | undefined;
  /** Whether files that are not encrypted are refused. */
  readonly needsEncryption: boolean;
  readonly checkOrigin: OriginCheck;
}

/** Which backup a file must be. */
export interface ExpectedBackup {
  /** The name of the file. If it is a name that Postern gives, it must be that of the backup in the file. */
  readonly name?: string;
  readonly id?: string;
}

/** Bytes. A header is far shorter. */
const maxHeaderBytes = 1024 * 1024;

/** Prepares to read archives. Several archives with one file key derive it once. */
export function trustOf({ passphrase, secretKeys, acceptsUnauthenticated }: BackupKeys): ArchiveTrust {
  return {
    decrypt: passphrase === undefined ? undefined : ageDecryption(passphrase),
    needsEncryption: passphrase !== undefined && !acceptsUnauthenticated,
    checkOrigin: acceptsUnauthenticated ? acceptAnyOrigin : demandOrigin(secretKeys),
  };
}

/** Opens a backup, and refuses files that are none. @throws BackupError */
export async function openBackup(
  source: AsyncIterable<Buffer>,
  keys: BackupKeys,
  expected: ExpectedBackup = {},
): Promise<OpenBackup> {
  const backup = await openArchive(source, { trust: trustOf(keys), path: headerPath, parse: parseHeader });
  try {
    refuseOther(backup.header, expected);
    return backup;
  } catch (error) {
    await backup.entries.return(undefined);
    throw error;
  }
}

function refuseOther(header: BackupHeader, { name, id }: ExpectedBackup): void {
  const isNamed = name !== undefined && parseBackupName(name) !== undefined;
  const own = backupName(ownerOf(header), header.created_at, name?.endsWith('.age') === true);
  if ((id === undefined || id === header.id) && (!isNamed || name === own)) return;
  throw new UnusableFileError(
    `${name ?? 'The file'} is not the backup of its name: it contains the backup of ${header.created_at} (${own}). ` +
      'Somebody has renamed or replaced it.',
  );
}

/**
 * Opens an archive that begins with a header.
 * @param expected the path of the header, and how to read it
 * @throws BackupError
 */
export async function openArchive<T>(
  source: AsyncIterable<Buffer>,
  expected: {
    readonly trust: ArchiveTrust;
    readonly path: string;
    readonly parse: (text: string) => T;
  },
): Promise<{ readonly header: T; readonly entries: AsyncGenerator<ReadEntry> }> {
  const { plain, checkOrigin } = await decrypted(source, expected.trust, expected.path);
  const entries = readArchive(plain, checkOrigin);
  try {
    const { value: first } = await entries.next();
    if (first === undefined || first.path !== expected.path || first.size > maxHeaderBytes) throw notABackup();
    return { header: expected.parse((await buffer(first.content)).toString()), entries };
  } catch (error) {
    await entries.return(undefined);
    throw error;
  }
}

async function decrypted(
  source: AsyncIterable<Buffer>,
  { decrypt, needsEncryption, checkOrigin }: ArchiveTrust,
  firstPath: string,
): Promise<{ readonly plain: AsyncIterable<Buffer>; readonly checkOrigin: OriginCheck }> {
  const reader = createByteReader(source);
  const start = await reader.read(blockBytes);
  const whole = (async function* () {
    try {
      yield start;
      yield* reader.rest();
    } finally {
      await reader.close();
    }
  })();
  // Only somebody who knows the passphrase can write a file that it decrypts.
  if (isAgeFile(start) && decrypt !== undefined) {
    return { plain: explained(decrypt(whole)), checkOrigin: acceptAnyOrigin };
  }
  if (!isAgeFile(start) && readHeader(start)?.path === firstPath && !needsEncryption) {
    return { plain: whole, checkOrigin };
  }
  await reader.close();
  if (isAgeFile(start))
    throw new UnusableFileError('The backup is encrypted: set BACKUP_PASSPHRASE to its passphrase.');
  if (readHeader(start)?.path !== firstPath) throw notABackup();
  throw new UnusableFileError(
    'The backup is not encrypted, but BACKUP_PASSPHRASE is set: somebody may have replaced it. If it was made without ' +
      'a passphrase, unset BACKUP_PASSPHRASE.',
  );
}

function demandOrigin(secretKeys: readonly SigningKey[]): OriginCheck {
  return (digest, signature) => {
    const origin = originOf(secretKeys, digest, signature);
    if (origin === 'known') return;
    throw new UnusableFileError(`${reasonOf(origin)} ${trustHint}`);
  };
}

const reasonOf = (origin: Exclude<ReturnType<typeof originOf>, 'known'>) => {
  if (origin === 'unsigned') return 'The backup has no signature, so anybody can have written it.';
  if (origin === 'forged') return 'The signature is wrong, so somebody else has written or changed the backup.';
  return `The origin of the backup cannot be checked: set SECRET_KEY to the key with the id ${origin.missingKey}.`;
};

const trustHint =
  'Nothing was restored. With --unauthenticated it is used anyway: do so only if nobody else could write to its place, ' +
  'because a changed backup can run commands on this machine.';

async function* explained(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* plain;
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    throw new UnusableFileError(
      error.code === 'passphrase'
        ? 'BACKUP_PASSPHRASE is not the passphrase of this backup.'
        : 'The backup was cut, changed or damaged: it cannot be decrypted to its end. Nothing was restored. Use another backup.',
    );
  }
}
