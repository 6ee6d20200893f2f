import type { Database } from '../../database/database.js';
import { retryMoved, splitByShard } from '../../database/sharding/routing.js';
import { allRows } from '../../database/sharding/transaction.js';
import { sql, userStatement } from '../../database/sql.js';
import { eventColumns, type StoredEvent } from '../event-list.js';

/** What a feed knows of an event. */
export interface EventKey {
  readonly user_id: string;
  readonly id: string;
  readonly created_at: string;
}

/** Finds the events that still exist, on the servers that have their users now. */
export type FindMoved = (keys: readonly EventKey[]) => Promise<readonly StoredEvent[]>;

const selectEvents = userStatement<
  { userIds: readonly string[]; ids: readonly string[]; times: readonly string[] },
  StoredEvent
>(
  'event_feed_moved',
  (p) => sql`
  select ${eventColumns} from events
  where (user_id, id, created_at) in (
    select * from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.times}::timestamptz[]))`,
);

/** Undefined with one server, where no event moves. */
export function createFindMoved(database: Database): FindMoved | undefined {
  if (database.shards.length === 1) return undefined;
  return (keys) =>
    retryMoved(() =>
      allRows(
        [...splitByShard(database, keys, ({ user_id }) => user_id)].map(([{ users }, own]) =>
          users.query(
            selectEvents({
              userIds: own.map(({ user_id }) => user_id),
              ids: own.map(({ id }) => id),
              times: own.map(({ created_at }) => created_at),
            }),
          ),
        ),
      ),
    );
}
