import { bigintArray, readBigint, readTime, timeArray, uuidArray } from '../database/binary-arrays.js';
import { prepared, type Transaction } from '../database/database.js';
import { countFullBlocks } from './block-counts.js';
import { hasFullBlocks } from './blocks.js';
import {
  array,
  beforeFirst,
  contentArrays,
  contentArraysFrom,
  contentNames,
  contentsFrom,
  givenColumns,
  givenValues,
  headMoves,
  timeOfFirst,
} from './publish-queries.js';
import type { Content } from './row.js';

/** Of deliveries that are to be made. */
export interface Deliveries {
  readonly ids: readonly string[];
  readonly userIds: readonly string[];
  /** Of each the place of its content, counted from 1 as WITH ORDINALITY does. */
  readonly items: readonly number[];
  readonly contents: readonly Content[];
}

/**
 * What rows get from their inboxes, one for each delivery and in their order. Columns, not objects: there are thousands,
 * which would outlive a collection of garbage or two.
 */
export interface Numbered {
  /** 0 where the inbox does not exist: then none is written. */
  readonly sequences: readonly number[];
  /** As `instantsOfMicroseconds` take them. */
  readonly times: BigInt64Array;
}

/** What is written while the process goes on. */
export interface Writing extends Numbered {
  readonly deliveries: Deliveries;
  /** Once the rows are there. To be awaited in any case: nothing of it may be left when the transaction ends. */
  readonly written: Promise<void>;
}

/*
 * The heads are locked as they are moved, in the order of their users, so that two publishers never wait for each other. A
 * join has the order of what is sorted here as long as it finds the heads one by one by their key, and if not, it could
 * only read all of them by that key, in the same order: `byKey` leaves it nothing else, whatever it takes the size of the
 * tables to be.
 *
 * After a wait, PostgreSQL computes the row anew from what it is then (EvalPlanQual), not from what this statement's snapshot
 * has, and reads the clock again; where whoever held it has changed nothing, the time is that of before the wait. No time is
 * before that of the row before it in either case. Of a head that was deleted meanwhile nothing comes back.
 */
const byKey = prepared('notifications_publish_by_key', 'set local enable_seqscan = off');
const moveHeads = prepared(
  'notifications_publish_heads',
  `with moved as (
    update inboxes
    set ${headMoves('db_now()')}
    from (
      select user_id, rows, place
      from unnest(${array(1, 'uuid')}, ${array(2, 'bigint')}) with ordinality as given (user_id, rows, place)
      order by user_id
    ) asked
    where inboxes.user_id = asked.user_id
    returning inboxes.user_id, place, ${beforeFirst} as before, ${timeOfFirst} as start, ${hasFullBlocks} as is_full
  )
  select string_agg(int8send(place), '') as places, string_agg(int8send(before), '') as befores,
         string_agg(timestamptz_send(start), '') as starts, array(select user_id from moved where is_full) as full
  from moved`,
);

/** One for all: of thousands of rows each would cost more to send and to read than what is in it. Null where there is none. */
interface MovedHeads {
  /** Of each its place in what was asked, from 1. */
  places: Buffer | null;
  /** The number before the first new one. */
  befores: Buffer | null;
  /** The time of the first. */
  starts: Buffer | null;
  full: string[];
}

/**
 * In the order of the users, so that what is written one after the other lies side by side in most indexes. An item's
 * content travels once, however many get it; where each item is one notification there is nothing to join.
 */
const insertRows = (name: string, delivery: string, source: string, publication: string) =>
  prepared(
    name,
    `with
    delivery as materialized (${delivery}
      order by user_id, sequence
    )${publication}
  insert into notifications (${givenColumns})
  select ${givenValues} from ${source}`,
  );

const keys = `${array(1, 'uuid')}, ${array(2, 'uuid')}, ${array(3, 'bigint')}, ${array(4, 'timestamptz')}`;
const keyNames = 'user_id, id, sequence, time';
const shared = {
  delivery: `
      select * from unnest(${keys}, ${array(5, 'bigint')}) as delivery (${keyNames}, item)`,
  source: `delivery join (${contentsFrom(6)}) content using (item)`,
};
const own = {
  delivery: `
      select * from unnest(${keys}, ${contentArraysFrom(5)}) as delivery (${keyNames}, ${contentNames})`,
  source: 'delivery',
};

const forPush = `,
    publication as (
      insert into publications (id, user_ids, notification_ids, size, created_at)
      select gen_random_uuid(), array_agg(user_id), array_agg(id), count(*), min(time) from delivery
    )`;
const inserts = {
  shared: insertRows('notifications_publish_rows', shared.delivery, shared.source, ''),
  sharedForPush: insertRows('notifications_publish_rows_for_push', shared.delivery, shared.source, forPush),
  own: insertRows('notifications_publish_own_rows', own.delivery, own.source, ''),
  ownForPush: insertRows('notifications_publish_own_rows_for_push', own.delivery, own.source, forPush),
};

/**
 * Makes many notifications, if all inboxes exist. The heads say what their numbers are, and then the rows are written:
 * while the database is at either, this process does what it can.
 *
 * @param userIds those of the deliveries
 * @param prepare called while the heads are moved
 * @param pushes whether the relay is told
 * @returns numbers of 0 where an inbox does not exist. Then the heads of the others are moved and no row is made: whoever
 *   calls must let the transaction fail.
 */
export async function insertMany(
  tx: Transaction,
  userIds: readonly string[],
  prepare: () => Promise<Deliveries>,
  pushes: boolean,
): Promise<Writing> {
  const inboxes = inboxesOf(userIds);
  const heads = uuidArray(inboxes.userIds);
  await tx.query(byKey);
  const [[moved], { deliveries, users, ids, contents }] = await Promise.all([
    tx.query<MovedHeads>(moveHeads, [heads, bigintArray(inboxes.rows)]),
    prepare().then((deliveries) => {
      const users = inboxes.userIds.length === userIds.length ? heads : uuidArray(userIds);
      return { deliveries, users, ids: uuidArray(deliveries.ids), contents: contentArrays(deliveries.contents) };
    }),
  ]);
  if (moved === undefined) throw new Error('an aggregate had no row');
  const { sequences, times } = numbersOf(inboxes, moved);
  if (sequences.includes(0)) return { deliveries, sequences, times, written: Promise.resolve() };
  const keyValues = [users, ids, bigintArray(sequences), timeArray(times)];
  const written =
    deliveries.contents.length === userIds.length
      ? tx.query(pushes ? inserts.ownForPush : inserts.own, [...keyValues, ...contents])
      : tx.query(pushes ? inserts.sharedForPush : inserts.shared, [
          ...[...keyValues, bigintArray(deliveries.items)],
          ...contents,
        ]);
  return { deliveries, sequences, times, written: written.then(() => countFullBlocks(tx, moved.full)) };
}

interface Inboxes {
  readonly userIds: readonly string[];
  /** Of each the number of its notifications. */
  readonly rows: readonly number[];
  /** Of each delivery its inbox, by its place in `userIds`. */
  readonly inboxOf: readonly number[];
  /** Of each delivery how many come before it in its inbox. */
  readonly before: readonly number[];
}

function inboxesOf(userIds: readonly string[]): Inboxes {
  const inboxes = new Map<string, number>();
  const rows: number[] = [];
  const before: number[] = [];
  const inboxOf = userIds.map((userId) => {
    const inbox = inboxes.get(userId) ?? rows.push(0) - 1;
    const nth = rows[inbox] ?? 0;
    if (nth === 0) inboxes.set(userId, inbox);
    before.push(nth);
    rows[inbox] = nth + 1;
    return inbox;
  });
  return { userIds: [...inboxes.keys()], rows, inboxOf, before };
}

function numbersOf({ rows, inboxOf, before }: Inboxes, { places, befores, starts }: MovedHeads): Numbered {
  const first = rows.map(() => 0);
  const firstTimes = new BigInt64Array(rows.length);
  if (places !== null && befores !== null && starts !== null) {
    for (let index = 0; index < places.length / 8; index += 1) {
      const place = readBigint(places, index);
      first[place - 1] = 1 + readBigint(befores, index);
      firstTimes[place - 1] = readTime(starts, index);
    }
  }
  const times = new BigInt64Array(inboxOf.length);
  const sequences = inboxOf.map((inbox, delivery) => {
    const nth = before[delivery] ?? 0;
    const time = firstTimes[inbox] ?? 0n;
    times[delivery] = nth === 0 ? time : time + BigInt(nth);
    return first[inbox] ? (first[inbox] ?? 0) + nth : 0;
  });
  return { sequences, times };
}
