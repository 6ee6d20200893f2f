import type { NotificationExtra } from '../../contract/notification.js';
import type { NotificationAction } from '../../contract/notification-fields.js';
import { arrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { type Sql, type SqlPart, sql, statement, unprepared } from '../../database/sql.js';
import { categoryOf } from './filter-fields.js';
import { type InboxRow, type InboxState, stateColumns, stateOf } from './state.js';
import { isArchived, isRead, positionColumns } from './unread.js';

/** Parts of an inbox, as its views show them. */
export const inboxViews = ['inbox', 'archived', 'snoozed'] as const;
export type InboxView = (typeof inboxViews)[number];

/** A notification of a user. */
interface ItemKey {
  readonly user_id: string;
  readonly sequence: number;
}

/** The columns for `include=extra`, from a notification and its state. */
export interface ExtraColumns {
  category: string;
  extra: { data?: Record<string, unknown>; url?: string; actions?: NotificationAction[] } | null;
  expires_at: string | null;
  read: boolean;
  archived: boolean;
  snoozed_until: string | null;
  action_key: string | null;
  acted_at: string | null;
}

/** SQL: the columns of a row of `notifications` that `extraColumns` reads. */
export const itemColumns = sql`${categoryOf} as category, extra, expires_at, is_hidden`;

/** SQL: `ExtraColumns`, from `itemColumns`, the row `state` of `joinItemState`, and the user's row `position`. */
export const extraColumns = (sequence: Sql): Sql => sql`category, extra, expires_at,
           (is_hidden is true or ${isRead(sequence, sql`position.last_read`)}) as read,
           (is_hidden is true or ${isArchived(sequence, sql`position.archived_through`)}) as archived,
           case when state.snoozed_until > position.now then state.snoozed_until end as snoozed_until, action_key, acted_at`;

/** SQL: the join with the user's state of a notification. The subquery is limited, so that the planner looks it up by its key. */
export const joinItemState = (userId: SqlPart, sequence: SqlPart): Sql => sql`
      left join lateral (
        select is_read, is_archived, snoozed_until, action_key, acted_at from notification_states
        where user_id = ${userId} and sequence = ${sequence} limit 1
      ) state on true`;

/**
 * Looks up each notification by its key, with its state. The statement is planned at each use: an old plan from a time when the
 * tables were nearly empty would read whole tables.
 */
const selectExtras = unprepared(
  statement<{ userIds: string; sequences: string }, ExtraColumns & { nth: number }>(
    'extras_read',
    (p) => sql`
    select wanted.nth::int as nth, ${extraColumns(sql`wanted.sequence`)}
    from unnest((select ${p.userIds}::uuid[]), (select ${p.sequences}::bigint[])) with ordinality
        as wanted (user_id, sequence, nth)
      cross join lateral (
        select ${itemColumns} from notifications
        where user_id = wanted.user_id and sequence = wanted.sequence limit 1
      ) notification ${joinItemState(sql`wanted.user_id`, sql`wanted.sequence`)}
      cross join lateral (
        select ${positionColumns}, db_now() as now
        from (select wanted.user_id) one left join markers on markers.user_id = wanted.user_id limit 1
      ) position`,
  ),
);

/**
 * Adds to notifications what `include=extra` asks for. A notification that was removed meanwhile is left out.
 * @returns the notifications, in their order
 */
export async function withExtras<Item extends ItemKey>(
  handle: Queryable,
  items: readonly Item[],
): Promise<(Item & { extra: NotificationExtra })[]> {
  if (items.length === 0) return [];
  const [userIds, sequences] = [items.map((item) => item.user_id), items.map((item) => item.sequence)];
  const rows = await handle.query(selectExtras({ userIds: arrayText(userIds), sequences: arrayText(sequences) }));
  const extras = new Map(rows.map((row) => [row.nth, toExtra(row)]));
  return items.flatMap((item, index) => {
    const extra = extras.get(index + 1);
    return extra === undefined ? [] : { ...item, extra };
  });
}

/** The member `extra` of a notification. */
export function toExtra(row: ExtraColumns): NotificationExtra {
  const { category, extra, expires_at, read, archived, snoozed_until, action_key, acted_at } = row;
  const action = action_key === null || acted_at === null ? null : { key: action_key, acted_at };
  return {
    category,
    data: extra?.data ?? null,
    url: extra?.url ?? null,
    actions: extra?.actions ?? [],
    expires_at,
    state: { read, archived, snoozed_until, action },
  };
}

/** The row of an inbox, with all other values that change answers with `include=extra`. */
export interface ExtraInboxRow extends InboxRow {
  state_version: number;
  /** The last time at which a snooze ended or a notification expired, because these write no row; null if there is none. */
  ended: string | null;
}

/** SQL: the CTE `position`, one row: the clock, the positions of a user, and the columns of an `ExtraInboxRow`. */
export const extraPosition = (userId: SqlPart): Sql => sql`
    position as materialized (
      select clock.now, ${positionColumns}, coalesce(state_version, 0) as state_version,
             greatest(
               (select snoozed_until from notification_states
                where user_id = ${userId} and snoozed_until <= clock.now
                order by snoozed_until desc limit 1),
               (select expires_at from notifications
                where user_id = ${userId} and expires_at <= clock.now
                order by expires_at desc limit 1))::text as ended
      from (select db_now() as now) clock left join markers on markers.user_id = ${userId}
    )`;

const selectState = statement<{ userId: string }, ExtraInboxRow>(
  'inboxes_state_with_extras',
  (p) => sql`
    with ${extraPosition(p.userId)}
    select ${stateColumns}, state_version, ended from inboxes cross join position where user_id = ${p.userId}`,
);

/** A text that changes whenever answers with `include=extra` change. */
export interface ExtraState extends InboxState {
  readonly extras: string;
}

/** Undefined when there is no such inbox. */
export async function selectExtraState(handle: Queryable, userId: string): Promise<ExtraState | undefined> {
  const [row] = await handle.query(selectState({ userId }));
  return row && extraStateOf(row);
}

/** The state of the inbox with this row. */
export function extraStateOf(row: ExtraInboxRow): ExtraState {
  const ended = row.ended === null ? '0' : row.ended.replaceAll(/\D/g, '');
  return { ...stateOf(row), extras: `${row.state_version}-${ended}` };
}

/**
 * SQL: the condition for the notifications of a view. Each notification is in at most one view. Notifications that the user has hidden from
 * the inbox are in none, nor expired ones that are neither archived nor snoozed.
 */
export function viewCondition(view: InboxView, userId: Sql): Sql {
  const hasState = (condition: Sql) => sql`exists (
      select from notification_states state
      where state.user_id = ${userId} and state.sequence = notifications.sequence and ${condition})`;
  const archivedThrough = sql`coalesce((select archived_through from markers where user_id = ${userId}), 0)`;
  const archived = sql`case when sequence <= ${archivedThrough} then not ${hasState(sql`is_archived = false`)}
      else ${hasState(sql`is_archived`)} end`;
  const isSnoozed = hasState(sql`snoozed_until > db_now()`);
  switch (view) {
    case 'archived':
      return sql`is_hidden is not true and ${archived}`;
    case 'snoozed':
      return sql`is_hidden is not true and ${isSnoozed} and not ${archived}`;
    case 'inbox':
      return sql`is_hidden is not true and coalesce(expires_at > db_now(), true) and not ${archived} and not ${isSnoozed}`;
  }
}
