import type { Notification, NotificationChange } from '../contract/notification.js';
import { prepared, type Queryable, sql } from '../database/database.js';
import { Problem, refuseFaults } from '../lib/problem.js';
import { type ContentRules, changedContent, contentFaults, imageIds, imageUrls } from './content.js';
import { createImages, findImages } from './images.js';
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

/** Columns are names of ours, never a client's. */
const updateRow = (columns: readonly string[]) =>
  sql(`${raiseHead()}
    update notifications
    set change_sequence = last_change_sequence,
        updated_at = last_time${columns.map((column, index) => `, ${column} = $${index + 3}`).join('')}
    from head
    where user_id = $1 and id = $2
    returning ${notificationColumns}`);

const deleteRow = prepared(
  'notifications_delete',
  `${raiseHead(', total = total - 1')}
  delete from notifications using head where user_id = $1 and id = $2 returning id`,
);

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
  refuseFaults(contentFaults(written, rules, await findImages(tx, imageIds([written]))));

  const userId = await lockInboxOf(tx, id);
  const columns = changedContent(written, await createImages(tx, imageUrls([written])));
  const values = [userId, id, ...Object.values(columns)];
  const [row] = await tx.query<NotificationRow>(updateRow(Object.keys(columns)), values);
  if (row === undefined) throw new Problem('not_found');
  return toNotification(row, await findImages(tx, new Set(row.image_id === null ? [] : [row.image_id])));
}

/** Deletes a notification. @throws Problem `not_found` */
export async function remove(tx: Queryable, id: string): Promise<void> {
  const userId = await lockInboxOf(tx, id);
  const deleted = await tx.query(deleteRow, [userId, id]);
  // Somebody else deleted it while this waited for the lock: the transaction fails, and with it the head's move.
  if (deleted.length === 0) throw new Problem('not_found');
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
