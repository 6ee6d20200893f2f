import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifMissing } from '../../lib/files.js';
import { writePrivateFile } from '../../lib/private-file.js';
import { BackupError } from '../container/error.js';

// A restored copy of an embedded server has the same system identifier as the original. A file next to the server's
// folder tells them apart. No backup contains the file, and every restore writes a new id into it.

const fileName = 'installation';

/** Makes a restored DATA_DIR a new installation. */
export async function writeInstallation(dataDir: string): Promise<void> {
  await writePrivateFile(join(dataDir, fileName), `${randomBytes(4).toString('hex')}\n`, { replace: false });
}

/**
 * The id of an embedded installation. Undefined if it was not restored.
 * @param serverFolder `postgres` in DATA_DIR
 * @throws BackupError
 */
export async function readInstallation(serverFolder: string): Promise<string | undefined> {
  const path = join(dirname(serverFolder), fileName);
  const text = await readFile(path, 'utf8').catch(ifMissing(undefined));
  if (text === undefined) return undefined;
  const id = text.trim();
  if (/^[0-9a-f]{8}$/.test(id)) return id;
  throw new BackupError(`${path} is damaged: write 8 hexadecimal digits into it.`);
}

/**
 * The owner of backups and log archives in their names. It has the identifier of the database, and for a restored
 * installation also its id.
 */
export function ownerOf({
  system_id: systemId,
  installation,
}: {
  readonly system_id: string;
  readonly installation?: string | undefined;
}): string {
  return installation === undefined ? systemId : `${systemId}-${installation}`;
}
