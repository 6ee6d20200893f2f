import { type Sql, type SqlPart, sql } from '../../database/sql.js';

/**
 * SQL: the seconds since a time in which the channel was paused or quiet hours held the delivery. They do not count for the `ttl`.
 * Overlapping times count once.
 * @param holds the multirange of the delivery's own holds; absent or null if it had none
 */
export const heldSince = (
  channel: SqlPart,
  since: SqlPart,
  holds: SqlPart = sql`null::tstzmultirange`,
): Sql => sql`coalesce((
             select extract(epoch from sum(upper(pause) - lower(pause)))::float8
             from channels paused_channel
               cross join unnest((paused_channel.pauses + coalesce(${holds}, '{}')) * tstzmultirange(tstzrange(${since}, null))) as pause
             where paused_channel.name = ${channel}), 0)`;

/** SQL: whether a channel is paused now. */
export const isHeld = (channel: SqlPart): Sql =>
  sql`exists (select from channels paused_channel where paused_channel.name = ${channel} and paused_channel.paused_at is not null)`;
