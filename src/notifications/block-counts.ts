import { prepared, type Queryable } from '../database/database.js';
import { blockSize, hasFullBlocks } from './blocks.js';

/** Inboxes whose full blocks one request counts; those of more wait for the next notification. */
const mostInboxes = 20;

const lockHead = prepared('blocks_lock_head', 'select user_id from inboxes where user_id = $1 for update');

/**
 * Type by type and in order, as the index has them, so that it goes by that and no row is fetched. What a change of type
 * has written of a block before it was full is counted anew, be it to nothing.
 */
const countBlocks = prepared(
  'blocks_count',
  `with recursive
    full_inbox as materialized (
      select user_id, counted_blocks, last_change_sequence / ${blockSize} as full_blocks
      from inboxes where user_id = any ((select $1::uuid[])::uuid[]) and ${hasFullBlocks}
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
      select user_id, sequence / ${blockSize} as block, type, 1 as rows
      from typed cross join lateral (
        select sequence from notifications n
        where n.user_id = typed.user_id and notification_type = type
          and sequence >= counted_blocks * ${blockSize} and sequence < full_blocks * ${blockSize}
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
 * Counts the blocks that are full of some of these inboxes. It needs a statement of its own, in a transaction that has
 * locked their heads before: only so does it see every row.
 */
export async function countFullBlocks(tx: Queryable, userIds: readonly string[]): Promise<void> {
  if (userIds.length > 0) await tx.query(countBlocks, [userIds.slice(0, mostInboxes)]);
}

/** The same of one inbox whose head is not locked yet. */
export async function lockAndCountFullBlocks(tx: Queryable, userId: string): Promise<void> {
  await tx.query(lockHead, [userId]);
  await countFullBlocks(tx, [userId]);
}
