import { type Sql, type SqlPart, sql } from './sql.js';

/** The maximum number of seconds by which an earlier result of `db_now()` may be ahead of a later one. */
export const clockTolerance = 60;
const tolerance = sql`interval '60 seconds'`;

/**
 * SQL: whether a stored result of `db_now()` is at most a minute after the current one. A later time means that the
 * clock was wrong when the time was stored, or is wrong now. The clocks of a primary and its standby differ by less
 * than a minute, and NTP corrects a clock by less than that.
 *
 * @param time a column or an expression of the type `timestamptz`
 */
export function isNotAhead(time: SqlPart): Sql {
  return sql`${time} <= db_now() + ${tolerance}`;
}

/**
 * SQL: a time as JSON shows it: RFC 3339 in UTC with microseconds.
 *
 * @param time a column or an expression of the type `timestamptz`
 */
export function timeText(time: SqlPart): Sql {
  return sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
