import type { InboxCounts } from '../../contract/notification-states.js';
import type { Queryable } from '../../database/database.js';
import { identifier, literal, type Sql, sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { countCap, ofPosition, positionColumns, unreadRows } from './unread.js';

/** The groups for which there are further counts. */
export const countGroups = ['category', 'notification_type'] as const;
export type CountGroup = (typeof countGroups)[number];

interface CountRow {
  /** The name of a category or a type. Null: all together. */
  name: string | null;
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
    select null::text as name, ${counted}
    from (${positionOf(sql`${p.userId}`)}) position
      left join lateral (${unreadRows(ofPosition)} limit ${literal(countCap + 1)}) unread on true
    group by position.user_id`,
);

const selectBy = (group: CountGroup) => {
  const name = sql`unread.${identifier(group)}`;
  return statement<{ userId: string }, CountRow>(
    `states_counts_by_${group}`,
    (p) => sql`
    select ${name} as name, ${counted}
    from (${positionOf(sql`${p.userId}`)}) position
      left join lateral (${unreadRows(ofPosition)}) unread on true
    group by grouping sets ((position.user_id), (position.user_id, ${name}))
    having grouping(${name}) = 1 or ${name} is not null`,
  );
};
const selectGrouped = { category: selectBy('category'), notification_type: selectBy('notification_type') };

/**
 * The numbers of unread and unseen notifications.
 * @throws Problem `invalid_session_token` when there is no such user
 */
export async function readCounts(handle: Queryable, userId: string, by?: CountGroup): Promise<InboxCounts> {
  const rows = await handle.query(by === undefined ? selectTotal({ userId }) : selectGrouped[by]({ userId }));
  const total = rows.find((row) => row.name === null);
  if (total === undefined) throw new Problem('invalid_session_token');
  const groups = rows.flatMap((row) => (row.name === null ? [] : [[row.name, row] as const]));
  return { ...capped(total), by: Object.fromEntries(groups.map(([name, row]) => [name, capped(row)])) };
}

const capped = ({ unseen, unread }: CountRow) => ({
  unseen: Math.min(unseen, countCap),
  unread: Math.min(unread, countCap),
  is_capped: unread > countCap,
});
