import type { Queryable } from '../../database/database.js';
import { identifier, sql, statement } from '../../database/sql.js';

/** The inbox row keeps its counter, so that no number is used twice. A client that has read before must start again. */
const resetInbox = statement<{ userId: string }>(
  'inbox_empty',
  (p) => sql`
    update inboxes
    set total = 0, last_change_sequence = last_change_sequence + 1, forgotten_change_sequence = last_change_sequence + 1
    where user_id = ${p.userId}`,
);

/** States go with their notifications. */
const removals = [
  'notifications',
  'inbox_blocks',
  'notification_tombstones',
  'markers',
  'mutes',
  'preferences',
  'category_caps',
  'digests',
  'quiet_holds',
  'subscriptions',
  'push_deliveries',
  'step_deliveries',
].map((table) =>
  statement<{ userId: string }>(
    `inbox_empty_${table}`,
    (p) => sql`delete from ${identifier(table)} where user_id = ${p.userId}`,
  ),
);

/**
 * Removes everything from a user's inbox, in the caller's transaction and without tombstones. Every login of the user must
 * end in the same transaction.
 */
export async function emptyInbox(tx: Queryable, userId: string): Promise<void> {
  await tx.query(resetInbox({ userId }));
  for (const remove of removals) await tx.query(remove({ userId }));
}
