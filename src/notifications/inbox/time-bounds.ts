import { identifier, type Sql, type SqlPart, sql } from '../../database/sql.js';
import type { NotificationSort } from './cursor.js';

/**
 * SQL: the column that gives a row its place in an order. `created_at` grows with `sequence`, and `updated_at` with
 * `change_sequence`: each pair is one order with one index.
 */
export const placeColumns = { created_at: sql`sequence`, updated_at: sql`change_sequence` } as const;

/**
 * SQL: a recursive CTE `bounds` that finds the place of a time by bisection, with one index look-up for each step. No
 * row up to `low` is newer than the time, and every row beyond `high` is newer. The last step has `low = high`. So a
 * request for rows newer than a time needs no index on the time. The CTE reads `last_change_sequence` from a CTE
 * `inbox`, which must precede it.
 */
export function boundsOf(field: NotificationSort['field'], userId: SqlPart, since: SqlPart): Sql {
  const place = placeColumns[field];
  return sql`bounds (low, high) as (
      select 0::bigint, last_change_sequence from inbox
      union all
      select case when is_newer then low else middle end, case when is_newer then place - 1 else high end
      from bounds
        cross join lateral (select (low + high + 1) / 2 as middle) half
        left join lateral (
          select ${place} as place, ${identifier(field)} > ${since} as is_newer
          from notifications where user_id = ${userId} and ${place} > low and ${place} <= middle
          order by ${place} desc limit 1
        ) nearest on true
      where low < high
    )`;
}
