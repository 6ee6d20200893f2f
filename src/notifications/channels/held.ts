import { type Sql, type SqlPart, sql } from '../../database/sql.js';

/**
 * SQL: the seconds for which a channel was paused since a time, or the delivery was held because of quiet hours. They do not count
 * for the `ttl` of what waited. Times that overlap count once.
 * @param holds the multirange of the delivery's own holds; absent or null: none
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
