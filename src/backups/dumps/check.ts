import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { BackupError } from '../container/error.js';
import { findProgram, type Program } from './programs.js';

const selectVersion = statement<Record<never, never>, { major: number }>(
  'backups_server_version',
  () => sql`select current_setting('server_version_num')::int / 10000 as major`,
);

/**
 * Looks for the programs that back up and verify the database of DATABASE_URL.
 * @param folder the only folder to look in; undefined: PATH and the folders of packages
 * @returns pg_dump, or what an operator must do
 */
export async function checkPrograms(
  handle: Queryable,
  folder: string | undefined,
): Promise<{ readonly dump: Program } | { readonly problem: string }> {
  const [server] = await handle.query(selectVersion({}));
  try {
    const dump = await findProgram('pg_dump', server?.major ?? 0, folder);
    await findProgram('pg_restore', dump.major, folder);
    return { dump };
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    return { problem: error.message };
  }
}
