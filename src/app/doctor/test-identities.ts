import type { Queryable } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
import { type Finding, hasTable, warn } from './checks.js';

/** Reports test identities that are in effect: their codes are known to others. Without any, it reports nothing. */
export async function testIdentityFindings(handle: Queryable): Promise<Finding[]> {
  if (!(await hasTable(handle, 'test_identities'))) return [];
  const [row] = await handle.query(
    compose<{ count: number; last_expiry: string | null }>(
      sql`select count(*)::int as count, max(expires_at) as last_expiry from test_identities where expires_at > db_now()`,
    ),
  );
  const { count = 0, last_expiry: lastExpiry = null } = row ?? {};
  if (lastExpiry === null) return [];
  const addresses = count === 1 ? 'one address accepts a fixed code' : `${count} addresses accept fixed codes`;
  return [
    warn('test identities', `${addresses} until ${lastExpiry}: delete those that no app store review needs any more`),
  ];
}
