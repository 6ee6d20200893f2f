import { timeText } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { RequestCount } from './limit-counts.js';

/** Reads limits without counting: what `take_request` and `take_message_slot` would answer. */

/** A limit that is used up. */
export interface UsedUpLimit {
  /** Seconds until the request would be accepted. */
  readonly wait: number;
  readonly until: string;
}

const readRequests = statement<
  {
    keys: readonly (Buffer | null)[];
    sizes: readonly number[];
    windows: readonly number[];
    positions: readonly number[];
  },
  { readonly wait: number; readonly until: string }
>(
  'limit_states',
  (p) => sql`
  select extract(epoch from free_at - now)::float8 as wait, ${timeText(sql`free_at`)} as until
  from (select db_now() as now) n
  cross join unnest(${p.keys}::bytea[], ${p.sizes}::integer[], ${p.windows}::float8[], ${p.positions}::integer[])
    with ordinality as requested (key, size, seconds, position, place)
  left join request_limits l on l.key = requested.key
  cross join lateral (
    select make_interval(secs => seconds / nullif(size, 0)) as step, make_interval(secs => seconds) as room) w
  cross join lateral (
    select case when l.refilled_at > now + room + interval '1 second' then now + room - step
                else greatest(l.refilled_at, now) end + position * step - room as free_at) s
  order by place`,
);

/**
 * Reads request limits.
 * @param requested the limits; `position`: 1 for the next request, 2 for the one after it
 * @returns for each limit, how long the request would have to wait; undefined if it would be accepted
 */
export async function readRequestLimits(
  handle: Queryable,
  requested: readonly (RequestCount & { readonly position: number })[],
): Promise<(UsedUpLimit | undefined)[]> {
  const rows = await handle.query(
    readRequests({
      keys: requested.map(({ limitKey }) => limitKey),
      sizes: requested.map(({ limitSize }) => limitSize),
      windows: requested.map(({ limitWindow }) => limitWindow),
      positions: requested.map(({ position }) => position),
    }),
  );
  return rows.map(({ wait, until }) => (wait > 0 ? { wait, until } : undefined));
}

/** A message limit that is used up. */
export interface UsedUpMessageLimit extends UsedUpLimit {
  /** When the first message of the full window was counted. */
  readonly since: string;
  readonly window: 'minute' | 'hour' | 'day';
}

const readMessages = statement<
  { keys: readonly Buffer[] },
  { readonly wait: number; readonly since: string; readonly until: string; readonly window: 'minute' | 'hour' | 'day' }
>(
  'limit_message_states',
  (p) => sql`
  select extract(epoch from free_at - now)::float8 as wait, ${timeText(sql`free_at`)} as until,
         ${timeText(sql`since`)} as since, span as window
  from (select db_now() as now) n
  cross join unnest(${p.keys}::bytea[]) with ordinality as requested (key, place)
  left join message_limits m on m.key = requested.key
  left join lateral (
    select sent_at as since, sent_at + length as free_at, span
    from (select 'minute' as span, interval '1 minute' as length, m.sent_at[1] as counted_at
          union all select 'hour', interval '1 hour', m.sent_at[5]
          union all select 'day', interval '1 day', m.sent_at[10]) windows
    cross join lateral (select counted_at - greatest(m.updated_at - now, interval '0') as sent_at) shifted
    where sent_at is not null
    order by free_at desc limit 1) last on true
  order by place`,
);

/** Reads message limits. @returns for each key the limit that is used up; undefined if a message would be accepted */
export async function readMessageLimits(
  handle: Queryable,
  keys: readonly Buffer[],
): Promise<(UsedUpMessageLimit | undefined)[]> {
  const rows = await handle.query(readMessages({ keys }));
  return rows.map((row) => (row.wait > 0 ? row : undefined));
}
