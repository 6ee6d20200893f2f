import type { Queryable } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
import { type Finding, hasTable, ok, warn } from './checks.js';

interface FailingRow {
  readonly url: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly failing_since: string | null;
}

/** Checks that no webhook was disabled by failures, and that none fails now. A database without webhooks needs no line. */
export async function webhookFindings(handle: Queryable): Promise<Finding[]> {
  if (!(await hasTable(handle, 'webhook_health'))) return [];
  const rows = await handle.query(
    compose<FailingRow>(
      sql`select url, enabled, disabled_reason, failing_since
          from webhook_endpoints left join webhook_health on endpoint_id = id order by created_at, id`,
    ),
  );
  if (rows.length === 0) return [];
  const warnings = rows.flatMap(({ url, enabled, disabled_reason: reason, failing_since: since }) => {
    // The path of a webhook's URL may be a secret.
    const { host } = new URL(url);
    if (!enabled && reason !== 'operator') return [warn('webhooks', `the one at ${host} is disabled: ${reason}`)];
    return enabled && since !== null ? [warn('webhooks', `the one at ${host} fails since ${since}`)] : [];
  });
  return warnings.length > 0 ? warnings : [ok('webhooks', `${rows.length} without failures`)];
}
