import { arrayText } from '../../database/array-text.js';
import type { Handle } from '../../database/database.js';
import { identifier, type Sql, sql, statement, unprepared } from '../../database/sql.js';
import { eventColumns, type StoredEvent } from '../event-list.js';
import { type Position, parseSnapshot, positionAfter, type Snapshot, snapshotText } from './position.js';

/** An event and the position after it. */
export interface FeedEvent<Item = StoredEvent> {
  readonly event: Item;
  /** Computed on demand, because its text may be long. */
  position(): Position;
}

/** The events between two positions. */
export interface FeedPage<Item = StoredEvent> {
  readonly events: readonly FeedEvent<Item>[];
  /** The position after this page. */
  readonly next: Position;
  readonly hasMore: boolean;
  /** Events after the requested position may be missing. Then this page is empty, and `next` is the current position. */
  readonly isReset: boolean;
  /** The transactions that the read has seen. */
  readonly snapshot: Snapshot;
}

/** Rows of a table, in the order in which they become visible. */
export interface Feed<Item> {
  /** The position after all events that are visible now. */
  now(): Promise<Position>;
  /** @param until the snapshot of an earlier read: later events are not returned. Undefined: now */
  read(from: Position, limit: number, until?: Snapshot): Promise<FeedPage<Item>>;
}

/** The audit events in the order in which they become visible. */
export type EventFeed = Feed<StoredEvent>;

/** What a feed reads. */
export interface FeedSource<Row extends object, Item> {
  /** The name of the statement. */
  readonly name: string;
  /** Its primary key is (transaction, created_at, id). */
  readonly table: string;
  /** SQL: whether all rows after the `floor` of a position are still there. */
  readonly hasAllFrom: (floor: Sql) => Sql;
  /** SQL: a subquery with the columns of an item, for the row `fed` of the table. */
  readonly item: Sql;
  /** Undefined: the row has no item. */
  readonly itemOf: (row: Row) => Item | undefined;
}

interface ReadValues {
  readonly floor: number;
  readonly xmax: number;
  /** An array as text. */
  readonly running: string;
  readonly lastTransaction: number | null;
  readonly lastId: string | null;
  readonly until: string | null;
  readonly limit: number;
}

/** A row of the feed with its item, and the snapshot of the query. One row without an item if there is none. */
interface ReadRow {
  readonly run: string | null;
  readonly is_complete: boolean;
  readonly seen: string;
  readonly transaction: string | null;
  readonly fed_id: string;
}

/**
 * SQL: the valid state. The id of the run depends on the start time of the server. A copy of the server's files has the same
 * rows, but its transactions have other numbers.
 */
const validState = sql`(
  select floor, left(md5(concat_ws(' ', extract(epoch from pg_postmaster_start_time()), tableoid, run)), 16) as run
  from event_feed_state where xmin = written_by::xid)`;

/**
 * Reads the feed after a position. A transaction without sent events was running at the position, or has a later number.
 * Both kinds are looked up by number, so a transaction that runs for hours costs nothing. The look-up of an event has a
 * limit, so that the planner does not read the whole table. It names the columns of two indexes, so that the planner can
 * use either. Rows that the snapshot does not see were copied from another server.
 */
const selectFeed = <Row extends object>(source: Omit<FeedSource<Row, unknown>, 'itemOf'>) => {
  const table = identifier(source.table);
  return unprepared(
    statement<ReadValues, ReadRow & Row>(
      source.name,
      (p) => sql`
    select now.run, now.is_complete, now.seen::text as seen, fed.transaction, fed.id as fed_id, item.*
    from (
      select state.run, coalesce(${source.hasAllFrom(sql`${p.floor}::text::xid8`)}, false)
               and ${p.xmax}::text::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) as is_complete,
             coalesce(${p.until}::text::pg_snapshot, pg_current_snapshot()) as seen
      from (select) one left join ${validState} state on true
    ) now
    left join lateral (
      (select * from ${table}
       where transaction >= ${p.xmax}::text::xid8 and pg_visible_in_snapshot(transaction, now.seen)
       order by transaction, created_at, id limit ${p.limit}::bigint)
      union all
      (select found.* from unnest(${p.running}::xid8[]) as running (transaction) cross join lateral (
         select * from ${table}
         where transaction = running.transaction and pg_visible_in_snapshot(transaction, now.seen)
           and (transaction is distinct from ${p.lastTransaction}::text::xid8 or (created_at, id) > (
             select created_at, id from ${table}
             where transaction = ${p.lastTransaction}::text::xid8 and id = ${p.lastId}::uuid))
         order by created_at, id limit ${p.limit}::bigint) found)
    ) fed on now.is_complete
    left join lateral ${source.item} item on true
    order by fed.transaction is distinct from ${p.lastTransaction}::text::xid8, fed.transaction, fed.created_at, fed.id
    limit ${p.limit}::bigint`,
    ),
  );
};

const selectSnapshot = statement<object, { run: string | null; seen: string }>(
  'event_feed_now',
  () => sql`
  select state.run, pg_current_snapshot()::text as seen from (select) one left join ${validState} state on true`,
);

/**
 * Starts a new run if the state is missing (after a crash) or was written by another server (after a restore). It deletes
 * all rows of the feed, because they may be those of another server.
 */
const startRun = statement<object>(
  'event_feed_start',
  () => sql`
  with started as (
    insert into event_feed_state as s (floor, next_floor)
    select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now
    on conflict (only_one) do update
      set floor = excluded.floor, next_floor = excluded.next_floor, run = excluded.run, written_by = excluded.written_by
      where s.xmin <> s.written_by::xid
    returning floor)
  delete from event_feed using started`,
);

/** @returns a function that creates the feed of a database. Call it once for each source */
export function feedOf<Row extends object, Item>(source: FeedSource<Row, Item>): (database: Handle) => Feed<Item> {
  const select = selectFeed<Row>(source);
  return (database) => createFeed(database, select, source.itemOf);
}

function createFeed<Row extends object, Item>(
  database: Handle,
  select: ReturnType<typeof selectFeed<Row>>,
  itemOf: (row: Row) => Item | undefined,
): Feed<Item> {
  async function now(): Promise<Position> {
    for (;;) {
      const [row] = await database.query(selectSnapshot({}));
      if (row === undefined) throw new Error('the query for the position of the feed returned no row');
      if (row.run !== null) return { run: row.run, ...parseSnapshot(row.seen) };
      await database.query(startRun({}));
    }
  }

  return {
    now,
    async read(from, limit, until) {
      const { xmax, running, last } = from;
      const rows = await database.query(
        select({
          floor: running[0] ?? xmax,
          xmax,
          running: arrayText(running),
          lastTransaction: last?.transaction ?? null,
          lastId: last?.id ?? null,
          until: until === undefined ? null : snapshotText(until),
          limit,
        }),
      );
      const [first] = rows;
      if (first === undefined) throw new Error('a read of the feed returned no row');
      if (!first.is_complete || first.run !== from.run) {
        const next = await now();
        return { events: [], next, hasMore: false, isReset: true, snapshot: next };
      }
      const snapshot = parseSnapshot(first.seen);
      const feedEvents = rows.flatMap(({ run: _, is_complete: __, seen: ___, transaction, fed_id: id, ...row }) =>
        transaction === null ? [] : [{ transaction: Number(transaction), id, event: itemOf(row as unknown as Row) }],
      );
      const lastEvent = feedEvents.at(-1);
      const hasMore = rows.length === limit && lastEvent !== undefined;
      return {
        events: feedEvents.flatMap(({ event, ...key }) =>
          event === undefined ? [] : [{ event, position: () => positionAfter(from, snapshot, key) }],
        ),
        next: hasMore ? positionAfter(from, snapshot, lastEvent) : { run: from.run, ...snapshot },
        hasMore,
        isReset: false,
        snapshot,
      };
    },
  };
}

/** Creates the feed of the audit events of a database. */
export const createEventFeed = feedOf({
  name: 'event_feed_read',
  table: 'event_feed',
  hasAllFrom: (floor) => sql`state.floor <= ${floor}`,
  item: sql`(select ${eventColumns} from events where user_id = fed.user_id and id = fed.id
      and created_at = fed.created_at limit 1)`,
  // A deleted event has no columns.
  itemOf: ({ id, ...event }: Omit<StoredEvent, 'id'> & { readonly id: string | null }): StoredEvent | undefined =>
    id === null ? undefined : { ...event, id },
});
