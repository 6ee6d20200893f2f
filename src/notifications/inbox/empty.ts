import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** The inbox row keeps its counter, so that no number is used twice. A client that has read before must start again. */
const resetInbox = statement<{ userId: string }>(
  'inbox_empty',
  (p) => sql`
    update inboxes
    set total = 0, last_change_sequence = last_change_sequence + 1, forgotten_change_sequence = last_change_sequence + 1
    where user_id = ${p.userId}`,
);

const tables = [
  statement<{ userId: string }>('inbox_empty_rows', (p) => sql`delete from notifications where user_id = ${p.userId}`),
  statement<{ userId: string }>('inbox_empty_blocks', (p) => sql`delete from inbox_blocks where user_id = ${p.userId}`),
  statement<{ userId: string }>(
    'inbox_empty_tombstones',
    (p) => sql`delete from notification_tombstones where user_id = ${p.userId}`,
  ),
  statement<{ userId: string }>('inbox_empty_marker', (p) => sql`delete from markers where user_id = ${p.userId}`),
  statement<{ userId: string }>('inbox_empty_mutes', (p) => sql`delete from mutes where user_id = ${p.userId}`),
  statement<{ userId: string }>(
    'inbox_empty_preferences',
    (p) => sql`delete from preferences where user_id = ${p.userId}`,
  ),
  statement<{ userId: string }>('inbox_empty_caps', (p) => sql`delete from category_caps where user_id = ${p.userId}`),
  statement<{ userId: string }>('inbox_empty_digests', (p) => sql`delete from digests where user_id = ${p.userId}`),
  statement<{ userId: string }>('inbox_empty_holds', (p) => sql`delete from quiet_holds where user_id = ${p.userId}`),
  statement<{ userId: string }>(
    'inbox_empty_subscriptions',
    (p) => sql`delete from subscriptions where user_id = ${p.userId}`,
  ),
  statement<{ userId: string }>(
    'inbox_empty_pushes',
    (p) => sql`delete from push_deliveries where user_id = ${p.userId}`,
  ),
  statement<{ userId: string }>(
    'inbox_empty_steps',
    (p) => sql`delete from step_deliveries where user_id = ${p.userId}`,
  ),
];

/**
 * Removes everything from a user's inbox, in the caller's transaction and without tombstones. Every login of the user must
 * end in the same transaction.
 */
export async function emptyInbox(tx: Queryable, userId: string): Promise<void> {
  await tx.query(resetInbox({ userId }));
  for (const remove of tables) await tx.query(remove({ userId }));
}
