import type { Queryable } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
import { type Finding, warn } from './checks.js';

/** Reports test identities that are in effect: their codes are known to others. Without any, there is no line. */
export async function testIdentityFindings(handle: Queryable<'everyone'>): Promise<Finding[]> {
  const [table] = await handle.query(
    compose<{ exists: boolean }, 'everyone'>(
      'everyone',
      sql`select to_regclass('test_identities') is not null as exists`,
    ),
  );
  if (table?.exists !== true) return [];
  const [found] = await handle.query(
    compose<{ count: number; until: string | null }, 'everyone'>(
      'everyone',
      sql`select count(*)::int as count, max(expires_at) as until from test_identities where expires_at > db_now()`,
    ),
  );
  const { count = 0, until = null } = found ?? {};
  if (until === null) return [];
  const which = count === 1 ? 'one address accepts a fixed code' : `${count} addresses accept fixed codes`;
  return [warn('test identities', `${which} until ${until}: delete what the review does not need any more`)];
}
