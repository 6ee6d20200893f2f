import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchownSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.js';
import { type DataDirectory, SUPERUSER } from './data-directory.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

/** The map of accounts of the system to roles, in `pg_ident.conf`. */
const MAP = 'postern';

/** The account that this process runs as is the server's own: its files are open to it anyway. */
const FOR_OWN_ACCOUNT = { 'pg_hba.conf': 'local all all trust\n' };

/**
 * The server runs as another account than root's, one that other programs may have too: the system tells who connects, and
 * root alone is let in.
 */
const forRoot = () => ({
  'pg_hba.conf': `local all ${SUPERUSER} peer map=${MAP}\n`,
  'pg_ident.conf': `${MAP} "${nameOfRoot()}" ${SUPERUSER}\n`,
});

/**
 * Writes who may connect to the server of `data`. Before each start, so that data of an older release are covered too, and
 * no edited file lets others in. A running server has to read it again.
 *
 * @param account the server's, unless it is this process's own
 * @throws EmbeddedPostgresError `data_dir_unusable`
 */
export function writeAccess(data: DataDirectory, account: Account | undefined): void {
  const files = account === undefined ? FOR_OWN_ACCOUNT : forRoot();
  for (const [name, content] of Object.entries(files)) {
    try {
      // The map comes last: until it is there, nobody gets in.
      replaceFile(join(data.name, name), content, account);
    } catch (error) {
      throw new EmbeddedPostgresError(
        'data_dir_unusable',
        `${join(data.path, name)} cannot be written (${reasonOf(error)}): start Postern as the owner of DATA_DIR.`,
        { cause: error },
      );
    }
  }
}

/** Under another name first: the server sees all of it or what was there, and a link that lies there is not followed. */
function replaceFile(path: string, content: string, account: Account | undefined): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(draft, flags, 0o600);
  try {
    writeSync(descriptor, `# Written by Postern at each start.\n${content}`);
    if (account !== undefined) fchownSync(descriptor, account.uid, account.gid);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** As the server finds it: by the first entry. */
function nameOfRoot(): string {
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  return entries.find(([, , uid]) => uid === '0')?.[0] ?? 'root';
}
