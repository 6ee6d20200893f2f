import { literal, type Sql, type SqlPart, sql } from '../../database/sql.js';
import { categoryOf } from './filter-fields.js';

/** Unread notifications are counted up to this number. */
export const countCap = 100;

/** Counts read at most this many notifications above the read position, and as many marked as unread below it: the newest. */
const newest = 1000;

/** SQL: the columns of `position`: the positions of a user, or 0 if the user has none. */
export const positionColumns = sql`coalesce(last_read_sequence, 0) as last_read, coalesce(seen_sequence, 0) as seen,
           coalesce(archived_through, 0) as archived_through`;

/** SQL: whose notifications, and the positions of this user. */
interface PositionParts {
  readonly userId: Sql;
  readonly lastRead: Sql;
  readonly archivedThrough: Sql;
}

/** SQL: the same, from a row with the name `position`. */
export const ofPosition: PositionParts = {
  userId: sql`position.user_id`,
  lastRead: sql`position.last_read`,
  archivedThrough: sql`position.archived_through`,
};

/**
 * SQL: whether a notification is archived, and whether it is snoozed now. `state` is its row of `notification_states`,
 * whose columns are null if there is none.
 */
export const isArchived = (sequence: SqlPart, archivedThrough: SqlPart): Sql =>
  sql`coalesce(state.is_archived, ${sequence} <= ${archivedThrough})`;
const isSnoozed = sql`coalesce(state.snoozed_until > db_now(), false)`;
/** SQL: whether a notification is read: the read position says so, or a state does. */
export const isRead = (sequence: SqlPart, lastRead: SqlPart): Sql =>
  sql`(state.is_read is true or (${sequence} <= ${lastRead} and state.is_read is distinct from false))`;

/** SQL: the joins that `isReadNow` needs. */
export const joinReadState = (userId: SqlPart, sequence: SqlPart): Sql => sql`
      left join lateral (select last_read_sequence from markers where markers.user_id = ${userId} limit 1) markers on true
      left join lateral (
        select is_read from notification_states s where s.user_id = ${userId} and s.sequence = ${sequence} limit 1
      ) state on true`;
export const isReadNow = (sequence: SqlPart): Sql => isRead(sequence, sql`coalesce(markers.last_read_sequence, 0)`);

/**
 * SQL: `sequence`, `notification_type` and `category` of the unread notifications of a user that are neither archived, snoozed,
 * expired nor hidden. First those above the read position, the newest first. The limits are subqueries, so that the planner does
 * not know them: it then reads in the order of the index and stops early. With known limits it would read and sort all unread rows.
 */
export const unreadRows = ({ userId, lastRead, archivedThrough }: PositionParts): Sql => sql`
  select candidate.sequence, candidate.notification_type, candidate.category
  from (
    (select sequence, notification_type, ${categoryOf} as category, expires_at, is_hidden from notifications
     where user_id = ${userId} and sequence > ${lastRead}
     order by sequence desc limit (select ${literal(newest)}))
    union all
    (select marked.sequence, marked.notification_type, marked.category, marked.expires_at, marked.is_hidden
     from (
       select sequence from notification_states
       where user_id = ${userId} and is_read = false and sequence <= ${lastRead}
       order by sequence desc limit (select ${literal(newest)})
     ) unread
       cross join lateral (
         select sequence, notification_type, ${categoryOf} as category, expires_at, is_hidden from notifications
         where user_id = ${userId} and sequence = unread.sequence limit 1
       ) marked)
  ) candidate
    left join lateral (
      select is_read, is_archived, snoozed_until from notification_states
      where user_id = ${userId} and sequence = candidate.sequence limit 1
    ) state on true
  where candidate.is_hidden is not true and state.is_read is not true and not ${isArchived(sql`candidate.sequence`, archivedThrough)} and not ${isSnoozed}
    and coalesce(candidate.expires_at > db_now(), true)`;
