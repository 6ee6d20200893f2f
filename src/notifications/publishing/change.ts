import type { Notification, NotificationChange } from '../../contract/notification.js';
import type { Queryable } from '../../database/database.js';
import {
  bound,
  compose,
  identifier,
  type Sql,
  type SqlPart,
  type Statement,
  sql,
  statement,
} from '../../database/sql.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import { findAndLockImages, findImages, referToImages } from '../images/rows.js';
import { blockRows } from '../inbox/blocks.js';
import { lockInbox } from '../inbox/inbox-locks.js';
import { type Content, type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import { recordInboxEvents } from '../inbox/webhook-events.js';
import { changedContent } from './content.js';
import { type ContentRules, contentErrors, imageIds, imageUrls } from './validation.js';

/** The user and the category of a notification. */
interface Owner {
  user_id: string;
  notification_type: string;
  category: string | null;
}
const selectOwner = statement<{ id: string }, Owner>(
  'notifications_owner',
  (p) => sql`select user_id, notification_type, category from notifications where id = ${p.id}`,
);

/**
 * Updates these columns, and advances the inbox row by one change. An earlier statement has locked the inbox row, so
 * the time is read under this lock. The names of the columns never come from a client.
 */
function updateRow(
  userId: string,
  id: string,
  columns: Partial<Content>,
): Statement<NotificationRow & { readonly is_changed: boolean }> {
  const fields = bound(JSON.stringify({ fields: fieldNames(columns) }));
  const [user, notification] = [bound(userId), bound(id)];
  const set = Object.entries(columns).map(([name, value]) =>
    name === 'extra' ? sql`, extra = ${mergedExtra(bound(value))}` : sql`, ${identifier(name)} = ${bound(value)}`,
  );
  const differences = Object.keys(columns).map(
    (name) => sql` or old.${identifier(name)}::text is distinct from changed.${identifier(name)}::text`,
  );
  const type = columns.notification_type;
  return compose(
    sql`
    with inbox as (
      update inboxes
      set last_change_sequence = last_change_sequence + 1,
          last_time = greatest(db_now(), last_time + interval '1 microsecond')
      where user_id = ${user}
      returning last_change_sequence, last_time
    )${type === undefined ? sql`` : countAsType(user, notification, bound(type))},
    changed as (
      update notifications
      set change_sequence = last_change_sequence, updated_at = last_time${concat(set)}
      from inbox
      where user_id = ${user} and id = ${notification}
      returning notifications.*
    ),
    webhook as (${recordInboxEvents(
      sql`'notification.updated'`,
      sql`(select user_id, id, sequence, updated_at as time from changed) changed`,
      sql`${fields}::jsonb`,
    )}
    )
    select ${notificationColumns},
           exists (select from notifications old
                   where old.user_id = ${user} and old.id = ${notification} and (false${concat(differences)})) as is_changed
    from changed`,
  );
}

/** SQL: the column `extra` with these members. Those that are null are removed. */
const mergedExtra = (members: SqlPart) => sql`(
        select jsonb_object_agg(key, value) from jsonb_each(coalesce(notifications.extra, '{}') || ${members}::jsonb)
        where value <> 'null')`;

/** The names of the changed fields. The column `extra` holds several. */
const fieldNames = ({ extra, ...others }: Partial<Content>) => [
  ...Object.keys(others),
  ...Object.keys(JSON.parse(extra ?? '{}')),
];

/**
 * CTEs that `updateRow` adds if the type changes: they move the row from one count of its block to another. `before`
 * reads the old row.
 */
function countAsType(user: SqlPart, notification: SqlPart, type: SqlPart): Sql {
  return sql`,
    before as (
      select sequence / ${blockRows} as block, notification_type
      from notifications where user_id = ${user} and id = ${notification} and notification_type <> ${type}::text
    ),
    uncounted as (
      update inbox_blocks set rows = rows - 1 from before
      where user_id = ${user} and inbox_blocks.block = before.block
        and inbox_blocks.notification_type = before.notification_type
    ),
    counted as (
      insert into inbox_blocks (user_id, block, notification_type, rows)
      select ${user}::uuid, block, ${type}::text, 1 from before
      on conflict (user_id, block, notification_type) do update set rows = inbox_blocks.rows + 1
    )`;
}

const concat = (parts: readonly Sql[]) => parts.reduce((before, part) => sql`${before}${part}`, sql``);

/**
 * Deletes a row, inserts a tombstone (a record of the deletion), and advances the inbox row by one change. An earlier
 * statement has locked the inbox row.
 */
const deleteRow = statement<{ userId: string; id: string }, { id: string }>(
  'notifications_delete',
  (p) => sql`
    with inbox as (
      update inboxes
      set last_change_sequence = last_change_sequence + 1,
          last_time = greatest(db_now(), last_time + interval '1 microsecond'),
          total = total - 1
      where user_id = ${p.userId}
      returning last_change_sequence, last_time
    ),
    deleted as (
      delete from notifications using inbox where user_id = ${p.userId} and id = ${p.id}
      returning id, sequence, notification_type
    ),
    uncounted as (
      update inbox_blocks set rows = rows - 1 from deleted
      where user_id = ${p.userId} and block = deleted.sequence / ${blockRows}
        and inbox_blocks.notification_type = deleted.notification_type
    ),
    webhook as (${recordInboxEvents(
      sql`'notification.deleted'`,
      sql`(select ${p.userId}::uuid as user_id, id, sequence, last_time as time from deleted cross join inbox) event`,
    )}
    )
    insert into notification_tombstones (user_id, change_sequence, id, sequence, deleted_at)
    select ${p.userId}, last_change_sequence, id, sequence, last_time from deleted cross join inbox
    returning id`,
);

/** A notification after a request to change it. */
export interface ChangedNotification {
  readonly notification: Notification;
  readonly isChanged: boolean;
}

/**
 * Changes the fields that the request contains. Like a new notification, the change gets its number and time under the
 * lock of the user's inbox row. The notification keeps its sequence. `isChanged` is false if it had all these values.
 *
 * @param exactNumber the result of `exactNumbers`
 * @throws Problem `not_found`, `validation_failed`
 */
export async function change(
  tx: Queryable,
  rules: ContentRules,
  id: string,
  input: NotificationChange,
  exactNumber: string | undefined,
): Promise<ChangedNotification> {
  const item = { input, exactNumber, path: '' };
  const [owner] = await tx.query(selectOwner({ id }));
  const errors = contentErrors(item, rules, await findAndLockImages(tx, imageIds([item]), rules.imageUrlsOf));
  throwIfErrors([...errors, ...(owner === undefined ? [] : dataErrors(input, rules, owner))]);

  const userId = await lockInboxOf(tx, owner);
  const columns = changedContent(item, await referToImages(tx, imageUrls([item])));
  const [row] = await tx.query(updateRow(userId, id, columns));
  if (row === undefined) throw new Problem('not_found');
  const shown = new Set(row.image_id === null ? [] : [row.image_id]);
  const notification = toNotification(row, await findImages(tx, shown, rules.imageUrlsOf));
  return { notification, isChanged: row.is_changed };
}

/** The errors of new `data` for the category of the notification. A type that changes may change the category too. */
function dataErrors(
  { data, notification_type: type }: NotificationChange,
  { categories }: ContentRules,
  owner: Owner,
): FieldError[] {
  const name = owner.category ?? type ?? owner.notification_type;
  return data === undefined ? [] : categories.dataErrors(name, data, 'data');
}

/** Deletes a notification. @returns its user @throws Problem `not_found` */
export async function remove(tx: Queryable, id: string): Promise<string> {
  const [owner] = await tx.query(selectOwner({ id }));
  const userId = await lockInboxOf(tx, owner);
  const deleted = await tx.query(deleteRow({ userId, id }));
  // Another request deleted the notification while this request waited for the lock. The transaction fails, so the
  // inbox row does not move.
  if (deleted.length === 0) throw new Problem('not_found');
  return userId;
}

/**
 * Finds the user of a notification and locks the inbox row until commit. The statement that writes comes after it, so
 * it sees everything that was committed while this one waited.
 */
async function lockInboxOf(tx: Queryable, owner: Owner | undefined): Promise<string> {
  if (owner === undefined) throw new Problem('not_found');
  // If there is no inbox row, the user is being deleted.
  if (!(await lockInbox(tx, owner.user_id))) throw new Problem('not_found');
  return owner.user_id;
}
