import type { InboxCounts } from '../../contract/notification-states.js';
import type { Queryable } from '../../database/database.js';
import { literal, type Sql, sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { countCap, ofPosition, positionColumns, unreadRows } from './unread.js';

interface CountRow {
  /** Null: all types together. */
  notification_type: string | null;
  unseen: number;
  unread: number;
}

/** SQL: the counts of the rows in `unread`, as members of a `CountRow`. */
const counted = sql`count(unread.sequence) filter (where unread.sequence > position.seen) as unseen,
           count(unread.sequence) as unread`;

/** SQL: the positions of one user. */
const positionOf = (userId: Sql) => sql`
      select inbox.user_id, ${positionColumns}
      from inboxes inbox left join markers on markers.user_id = inbox.user_id
      where inbox.user_id = ${userId}`;

/** Reads one more row than it counts. Unseen rows are the newest, so they come first. */
const selectTotal = statement<{ userId: string }, CountRow>(
  'states_counts',
  (p) => sql`
    select null::text as notification_type, ${counted}
    from (${positionOf(sql`${p.userId}`)}) position
      left join lateral (${unreadRows(ofPosition)} limit ${literal(countCap + 1)}) unread on true
    group by position.user_id`,
);

const selectByType = statement<{ userId: string }, CountRow>(
  'states_counts_by_type',
  (p) => sql`
    select unread.notification_type, ${counted}
    from (${positionOf(sql`${p.userId}`)}) position
      left join lateral (${unreadRows(ofPosition)}) unread on true
    group by grouping sets ((position.user_id), (position.user_id, unread.notification_type))
    having grouping(unread.notification_type) = 1 or unread.notification_type is not null`,
);

/**
 * The numbers of unread and unseen notifications.
 * @throws Problem `invalid_session_token` when there is no such user
 */
export async function readCounts(handle: Queryable, userId: string, byType = false): Promise<InboxCounts> {
  const rows = await handle.query(byType ? selectByType({ userId }) : selectTotal({ userId }));
  const total = rows.find((row) => row.notification_type === null);
  if (total === undefined) throw new Problem('invalid_session_token');
  const types = rows.flatMap((row) => (row.notification_type === null ? [] : [[row.notification_type, row] as const]));
  return { ...capped(total), by: Object.fromEntries(types.map(([type, row]) => [type, capped(row)])) };
}

const capped = ({ unseen, unread }: CountRow) => ({
  unseen: Math.min(unseen, countCap),
  unread: Math.min(unread, countCap),
  is_capped: unread > countCap,
});
