import type { Handle } from '../database/database.js';
import { literal, sql, statement } from '../database/sql.js';
import { nilId } from '../lib/ids.js';
import type { StoredEvent } from './relay-queries.js';

/** The events that are recorded from a time on. */
export interface EventTail {
  /** The events since the last call, oldest first. */
  next(): Promise<StoredEvent[]>;
}

const selectStart = statement<{ ageMs: number }, { start: string }>(
  'webhook_tail_start',
  (p) => sql`select db_now() - ${p.ageMs}::float8 * interval '1 millisecond' as start`,
);

/** Events that one statement reads. */
const pageSize = 20_000;

/** The events from `start` on, or after an event that is named by its time, user and sequence. */
interface Since {
  readonly start: string;
  readonly last: string;
  readonly userId: string;
  readonly sequence: number;
}

/** Reads the last seconds again, because transactions that run at the same time do not commit in the order of their times. */
const selectSince = statement<Since, StoredEvent>(
  'webhook_tail_events',
  (p) => sql`
  select user_id, sequence, id, type, data, created_at from webhook_events
  where (created_at, user_id, sequence) >
        (greatest(${p.start}::timestamptz, ${p.last}::timestamptz - interval '5 seconds'), ${p.userId}::uuid, ${p.sequence}::bigint)
  order by created_at, user_id, sequence limit ${literal(pageSize)}`,
);

/**
 * Follows the events of all users, for the command line. The first call starts it.
 * @param ageMs how long before the first call the events begin
 */
export function tailEvents(database: Handle, ageMs = 0): EventTail {
  let start: string | undefined;
  let last = '';
  let seenIds: ReadonlySet<string> = new Set();

  async function eventsSince(since: Since): Promise<StoredEvent[]> {
    const events = await database.query(selectSince(since));
    const end = events.at(-1);
    if (end === undefined || events.length < pageSize) return events;
    const { created_at: time, user_id: userId, sequence } = end;
    // Many events can have the same time.
    return [...events, ...(await eventsSince({ start: time, last: time, userId, sequence }))];
  }
  return {
    async next() {
      if (start === undefined) {
        start = (await database.query(selectStart({ ageMs })))[0]?.start ?? '';
        last = start;
      }
      const events = await eventsSince({ start, last, userId: nilId, sequence: 0 });
      const newEvents = events.filter(({ id }) => !seenIds.has(id));
      seenIds = new Set(events.map(({ id }) => id));
      last = events.at(-1)?.created_at ?? last;
      return newEvents;
    },
  };
}
