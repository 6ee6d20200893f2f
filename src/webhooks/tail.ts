import type { Database, Shard } from '../database/database.js';
import { onReachableShards } from '../database/sharding/merge.js';
import { everyoneStatement, literal, sql } from '../database/sql.js';
import { nilId } from '../lib/ids.js';
import type { StoredEvent } from './relay-queries.js';

/** The events that are recorded from a time on. */
export interface EventTail {
  /** The events since the last call, oldest first. */
  next(): Promise<StoredEvent[]>;
}

const selectStart = everyoneStatement<{ ageMs: number }, { start: string }>(
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
const selectSince = everyoneStatement<Since, StoredEvent>(
  'webhook_tail_events',
  (p) => sql`
  select user_id, sequence, id, type, data, created_at from webhook_events
  where (created_at, user_id, sequence) >
        (greatest(${p.start}::timestamptz, ${p.last}::timestamptz - interval '5 seconds'), ${p.userId}::uuid, ${p.sequence}::bigint)
  order by created_at, user_id, sequence limit ${literal(pageSize)}`,
);

/** What was read on a server: from when on, up to when, and the events of the last seconds. */
interface Place {
  readonly start: string;
  readonly last: string;
  readonly seenIds: ReadonlySet<string>;
}

/**
 * Follows the events of all users, for the command line. The first call starts it. It leaves out a server that does not
 * answer, unless no server answers, and continues there later.
 * @param ageMs how long before the first call the events begin
 */
export function tailEvents(database: Pick<Database, 'shards'>, ageMs = 0): EventTail {
  const places = new Map<Shard, Place>();

  async function eventsSince(shard: Shard, since: Since): Promise<StoredEvent[]> {
    const events = await shard.everyone.query(selectSince(since));
    const end = events.at(-1);
    if (end === undefined || events.length < pageSize) return events;
    const { created_at: time, user_id: userId, sequence } = end;
    // Many events can have the same time.
    return [...events, ...(await eventsSince(shard, { start: time, last: time, userId, sequence }))];
  }
  async function nextOn(shard: Shard): Promise<StoredEvent[]> {
    const { everyone } = shard;
    let place = places.get(shard);
    if (place === undefined) {
      const start = (await everyone.query(selectStart({ ageMs })))[0]?.start ?? '';
      place = { start, last: start, seenIds: new Set() };
    }
    const { start, last } = place;
    const events = await eventsSince(shard, { start, last, userId: nilId, sequence: 0 });
    // A user who is moved takes the events to another server.
    const seen = [...places.values()].map(({ seenIds }) => seenIds);
    places.set(shard, {
      start,
      last: events.at(-1)?.created_at ?? last,
      seenIds: new Set(events.map(({ id }) => id)),
    });
    return events.filter(({ id }) => seen.every((ids) => !ids.has(id)));
  }
  return {
    async next() {
      const events = (await onReachableShards(database, nextOn)).flat();
      return events.sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
    },
  };
}
