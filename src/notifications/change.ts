import type { Notification, NotificationChange } from '../contract/notification.js';
import { prepared, type Queryable, sql } from '../database/database.js';
import { Problem, refuseFaults } from '../lib/problem.js';
import { blockSize } from './blocks.js';
import { type ContentRules, changedContent, contentFaults, imageIds, imageUrls } from './content.js';
import { findImages, holdImages, referToImages } from './images/rows.js';
import { type NotificationRow, notificationColumns, toNotification } from './row.js';

const selectOwner = prepared('notifications_owner', 'select user_id from notifications where id = $1');
const lockHead = prepared('inboxes_lock', 'select user_id from inboxes where user_id = $1 for update');

/** The head moves on by one change; `$1` is the user. It is locked, so the time is read under its lock. */
const raiseHead = (set = '') => `with head as (
    update inboxes
    set last_change_sequence = last_change_sequence + 1,
        last_time = greatest(db_now(), last_time + interval '1 microsecond')${set}
    where user_id = $1
    returning last_change_sequence, last_time
  )`;

/**
 * Columns are names of ours, never a client's. A changed type moves the row to another count of its block: `before`
 * reads the row as it was, which the head's lock keeps still.
 */
const updateRow = (columns: readonly string[]) =>
  sql(`${raiseHead()}${columns.includes('notification_type') ? moveCount(columns.indexOf('notification_type') + 3) : ''}
    update notifications
    set change_sequence = last_change_sequence,
        updated_at = last_time${columns.map((column, index) => `, ${column} = $${index + 3}`).join('')}
    from head
    where user_id = $1 and id = $2
    returning ${notificationColumns}`);

const deleteRow = prepared(
  'notifications_delete',
  `${raiseHead(', total = total - 1')}
  , gone as (
    delete from notifications using head where user_id = $1 and id = $2 returning id, sequence, notification_type
  ),
  uncounted as (
    update inbox_blocks set rows = rows - 1 from gone
    where user_id = $1 and block = gone.sequence / ${blockSize} and inbox_blocks.notification_type = gone.notification_type
  )
  insert into notification_tombstones (user_id, change_sequence, id, sequence, deleted_at)
  select $1, last_change_sequence, id, sequence, last_time from gone cross join head
  returning id`,
);

function moveCount(typeParameter: number): string {
  return `, before as (
      select sequence / ${blockSize} as block, notification_type
      from notifications where user_id = $1 and id = $2 and notification_type <> $${typeParameter}
    ),
    uncounted as (
      update inbox_blocks set rows = rows - 1 from before
      where user_id = $1 and inbox_blocks.block = before.block
        and inbox_blocks.notification_type = before.notification_type
    ),
    counted as (
      insert into inbox_blocks (user_id, block, notification_type, rows)
      select $1, block, $${typeParameter}, 1 from before
      on conflict (user_id, block, notification_type) do update set rows = inbox_blocks.rows + 1
    )`;
}

/**
 * Changes the members that are present. The change is numbered and timed under the lock of the user's head, as a new
 * notification is; the sequence stays.
 *
 * @param number of `writtenNumbers`
 * @throws Problem `not_found`, `validation_failed`
 */
export async function change(
  tx: Queryable,
  rules: ContentRules,
  id: string,
  input: NotificationChange,
  number: string | undefined,
): Promise<Notification> {
  const written = { input, number, path: '' };
  refuseFaults(contentFaults(written, rules, await holdImages(tx, imageIds([written]), rules.imageUrlsOf)));

  const userId = await lockInboxOf(tx, id);
  const columns = changedContent(written, await referToImages(tx, imageUrls([written])));
  const values = [userId, id, ...Object.values(columns)];
  const [row] = await tx.query<NotificationRow>(updateRow(Object.keys(columns)), values);
  if (row === undefined) throw new Problem('not_found');
  const shown = new Set(row.image_id === null ? [] : [row.image_id]);
  return toNotification(row, await findImages(tx, shown, rules.imageUrlsOf));
}

/** Deletes a notification. @returns the user whose it was. @throws Problem `not_found` */
export async function remove(tx: Queryable, id: string): Promise<string> {
  const userId = await lockInboxOf(tx, id);
  const deleted = await tx.query(deleteRow, [userId, id]);
  // Somebody else deleted it while this waited for the lock: the transaction fails, and with it the head's move.
  if (deleted.length === 0) throw new Problem('not_found');
  return userId;
}

/**
 * The user whose notification this is, with the head locked until commit. A statement of its own, before the one that
 * writes: that one then sees whatever was committed while this waited.
 */
async function lockInboxOf(tx: Queryable, id: string): Promise<string> {
  const [owner] = await tx.query<{ user_id: string }>(selectOwner, [id]);
  if (owner === undefined) throw new Problem('not_found');
  // No head: the user is being deleted, and what the user had is gone already.
  const [head] = await tx.query(lockHead, [owner.user_id]);
  if (head === undefined) throw new Problem('not_found');
  return owner.user_id;
}
