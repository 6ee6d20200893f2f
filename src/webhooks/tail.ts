import type { Database } from '../database/database.js';
import { everyoneStatement, sql } from '../database/sql.js';
import type { StoredEvent } from './relay-queries.js';

/** The events that are recorded from now on. */
export interface EventTail {
  /** The events since the last call, oldest first. */
  next(): Promise<StoredEvent[]>;
}

const selectNow = everyoneStatement<object, { now: string }>('webhook_tail_now', () => sql`select db_now() as now`);

/** Reads the last seconds again, because transactions that run at the same time do not commit in the order of their times. */
const selectSince = everyoneStatement<{ start: string; last: string }, StoredEvent>(
  'webhook_tail_events',
  (p) => sql`
  select user_id, sequence, id, type, data, created_at from webhook_events
  where created_at >= greatest(${p.start}::timestamptz, ${p.last}::timestamptz - interval '5 seconds')
  order by created_at, user_id, sequence limit 20000`,
);

/** Follows the events of all users, for the command line. The first call starts it. */
export function tailEvents(database: Pick<Database, 'everyone'>): EventTail {
  let start: string | undefined;
  let last = '';
  let seenIds = new Set<string>();
  return {
    async next() {
      if (start === undefined) {
        start = (await database.everyone.query(selectNow({})))[0]?.now ?? '';
        last = start;
      }
      const events = await database.everyone.query(selectSince({ start, last }));
      const newEvents = events.filter(({ id }) => !seenIds.has(id));
      seenIds = new Set(events.map(({ id }) => id));
      last = events.at(-1)?.created_at ?? last;
      return newEvents;
    },
  };
}
