import { textArrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { type Sql, sql, statement } from '../../database/sql.js';
import { blockRows } from '../inbox/blocks.js';
import { recordInboxEvents } from '../inbox/webhook-events.js';
import { array } from './publish-queries.js';
import type { Item } from './validation.js';

interface Keys {
  readonly userIds: string;
  readonly keys: string;
}

/** Locks the inbox rows in the order of their users, as publishers do. */
const lockInboxes = statement<{ userIds: string }>(
  'notifications_replace_lock',
  (p) => sql`
    select user_id from inboxes where user_id = any (${array(p.userIds, 'uuid')}::uuid[]) order by user_id for update`,
);

/**
 * SQL: deletes notifications, like `deleteRow` of change.ts. An earlier statement has locked the inbox rows, so no other request inserts
 * the same key meanwhile.
 * @param found the SQL after `from`: the rows `n`
 */
const deleteAll = (found: Sql) => sql`
    with replaced as materialized (
      select n.user_id, n.id, n.sequence, n.notification_type,
             row_number() over (partition by n.user_id order by n.sequence) as nth
      from ${found}
    ),
    inbox as (
      update inboxes
      set last_change_sequence = last_change_sequence + rows,
          last_time = greatest(db_now(), last_time + interval '1 microsecond') + (rows - 1) * interval '1 microsecond',
          total = total - rows
      from (select user_id, count(*) as rows from replaced group by user_id) counted
      where inboxes.user_id = counted.user_id
      returning inboxes.user_id, last_change_sequence - rows as before,
                last_time - (rows - 1) * interval '1 microsecond' as start
    ),
    tombstone as (
      select replaced.*, before + nth as change_sequence, start + (nth - 1) * interval '1 microsecond' as time
      from replaced join inbox using (user_id)
    ),
    deleted as (
      delete from notifications n using replaced where n.user_id = replaced.user_id and n.id = replaced.id
    ),
    uncounted as (
      update inbox_blocks set rows = inbox_blocks.rows - counted.rows
      from (select user_id, sequence / ${blockRows} as block, notification_type, count(*) as rows
            from replaced group by 1, 2, 3) counted
      where inbox_blocks.user_id = counted.user_id and inbox_blocks.block = counted.block
        and inbox_blocks.notification_type = counted.notification_type
    ),
    webhook as (${recordInboxEvents(sql`'notification.deleted'`, sql`(select * from tombstone) event`)}
    ),
    kept as (
      insert into notification_tombstones (user_id, change_sequence, id, sequence, deleted_at)
      select user_id, change_sequence, id, sequence, time from tombstone
    )
    select count(*)::int as deleted from tombstone`;

const deleteReplaced = statement<Keys, { deleted: number }>('notifications_replace', (p) =>
  deleteAll(sql`unnest(${array(p.userIds, 'uuid')}, ${array(p.keys, 'text')}) as wanted (user_id, key)
        join notifications n on n.user_id = wanted.user_id and n.replace_key = wanted.key`),
);

/** The join uses the index of ids, because an id belongs to one user only. */
const deleteByIds = statement<{ userIds: string; ids: string }, { deleted: number }>('notifications_remove_all', (p) =>
  deleteAll(sql`unnest(${array(p.userIds, 'uuid')}, ${array(p.ids, 'uuid')}) as wanted (user_id, id)
        join notifications n on n.id = wanted.id and n.user_id = wanted.user_id`),
);

/** Whether an item replaces an earlier notification. */
export const replaces = ({ input }: Pick<Item, 'input'>): boolean => typeof input.replace_key === 'string';

/**
 * Deletes the notifications that these items replace, in the transaction that inserts the items. Pushes that were not sent yet
 * are dropped, because their notification is gone.
 */
export async function deleteOlder(tx: Queryable, items: readonly Item[]): Promise<void> {
  const keys = items.flatMap(({ input: { replace_key: key }, deliveries }) =>
    typeof key === 'string' ? deliveries.map(({ userId }) => ({ userId, key })) : [],
  );
  if (keys.length === 0) return;
  // Locks all inboxes of the request at once. Otherwise, two publishers could wait for each other in a cycle.
  const all = items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId));
  await tx.query(lockInboxes({ userIds: textArrayText(all) }));
  const userIds = textArrayText(keys.map(({ userId }) => userId));
  await tx.query(deleteReplaced({ userIds, keys: textArrayText(keys.map(({ key }) => key)) }));
}

/**
 * Deletes notifications of many users. Skips those that do not exist any more.
 * @param ids the notification of each user
 * @returns the number of deleted notifications
 */
export async function removeAll(tx: Queryable, userIds: readonly string[], ids: readonly string[]): Promise<number> {
  const users = textArrayText(userIds);
  await tx.query(lockInboxes({ userIds: users }));
  const [row] = await tx.query(deleteByIds({ userIds: users, ids: textArrayText(ids) }));
  return row?.deleted ?? 0;
}
