import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { blockRows, hasFullBlocks } from './blocks.js';
import { lockInbox } from './inbox-locks.js';

/**
 * The maximum number of inboxes whose full blocks one request counts (see `blockSize`). The blocks of other inboxes are
 * counted when their next notification is published.
 */
const maxInboxes = 20;

/**
 * Counts each type in the order of the index, so that it reads only the index. If the type of a notification was
 * changed before the block was full, a count may already exist. This statement replaces such a count, even with 0. An
 * earlier statement of the transaction must have locked the inbox rows, so that this statement sees every row.
 */
const countBlocks = statement<{ userIds: readonly string[] }>(
  'blocks_count',
  (p) => sql`
    with recursive
    full_inbox as materialized (
      select user_id, counted_blocks, last_change_sequence / ${blockRows} as full_blocks
      from inboxes where user_id = any ((select ${p.userIds}::uuid[])::uuid[]) and ${hasFullBlocks}
    ),
    typed as (
      select full_inbox.*, (select min(notification_type) from notifications n where n.user_id = full_inbox.user_id) as type
      from full_inbox
      union all
      select user_id, counted_blocks, full_blocks,
        (select min(notification_type) from notifications n where n.user_id = typed.user_id and notification_type > type)
      from typed where type is not null
    ),
    found as (
      select user_id, sequence / ${blockRows} as block, type, 1 as rows
      from typed cross join lateral (
        select sequence from notifications n
        where n.user_id = typed.user_id and notification_type = type
          and sequence >= counted_blocks * ${blockRows} and sequence < full_blocks * ${blockRows}
        order by sequence
      ) own
      union all
      select user_id, block, notification_type, 0
      from full_inbox join inbox_blocks using (user_id) where block >= counted_blocks and block < full_blocks
    ),
    counted as (
      insert into inbox_blocks (user_id, block, notification_type, rows)
      select user_id, block, type, sum(rows) from found group by user_id, block, type
      on conflict (user_id, block, notification_type) do update set rows = excluded.rows
    )
    update inboxes set counted_blocks = full_blocks from full_inbox where inboxes.user_id = full_inbox.user_id`,
);

/**
 * Counts the full blocks of some of these inboxes. The transaction must have locked their inbox rows in an earlier
 * statement.
 */
export async function countFullBlocks(tx: Queryable, userIds: readonly string[]): Promise<void> {
  if (userIds.length > 0) await tx.query(countBlocks({ userIds: userIds.slice(0, maxInboxes) }));
}

/** Locks one inbox row and counts its full blocks. */
export async function lockAndCountFullBlocks(tx: Queryable, userId: string): Promise<void> {
  await lockInbox(tx, userId);
  await countFullBlocks(tx, [userId]);
}
