import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** Publications that have not ended: the index of `ended_at` has few of them. */
const selectRemaining = statement<object, { remaining: number }>(
  'publications_remaining',
  () => sql`
    select coalesce(sum(greatest(0, recipients - created - skipped)), 0)::bigint as remaining
    from notification_publications where ended_at is null and status in ('running', 'paused')`,
);

/** An estimate of the recipients of running publications who have no notification yet. */
export async function remainingRecipients(handle: Handle): Promise<number> {
  const [row] = await handle.query(selectRemaining({}));
  return row?.remaining ?? 0;
}
