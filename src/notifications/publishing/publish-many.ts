import { bigintArray, readBigint, readTime, timeArray, uuidArray } from '../../database/binary-arrays.js';
import type { Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { countFullBlocks } from '../inbox/block-counts.js';
import type { Content } from '../inbox/row.js';
import {
  array,
  type ContentArrays,
  contentArrays,
  contentNames,
  contentParameters,
  headMoves,
  movedColumns,
  newRowColumns,
  newRowValues,
  type PushChoice,
  recordPublication,
} from './publish-queries.js';

/** Deliveries to insert, as columns. A delivery is one notification for one user. */
export interface Deliveries {
  readonly ids: readonly string[];
  readonly userIds: readonly string[];
  /** For each delivery, the position of its content, counted from 1 as WITH ORDINALITY does. */
  readonly items: readonly number[];
  readonly contents: readonly Content[];
}

/**
 * The sequences and times of the deliveries, in the order of the deliveries. They are stored as columns and not as
 * objects, because thousands of objects would survive several garbage collections.
 */
export interface DeliveryNumbers {
  /** 0 if the inbox does not exist. Then no notification of the request is inserted. */
  readonly sequences: readonly number[];
  /** Microseconds, as `instantsOfMicroseconds` reads them. */
  readonly times: BigInt64Array;
}

/** Notifications that are being inserted while the process continues. */
export interface PendingInsert extends DeliveryNumbers {
  readonly deliveries: Deliveries;
  /** Resolves when the rows are inserted. Always await it: no statement may still run when the transaction ends. */
  readonly inserted: Promise<void>;
}

/**
 * A setting that makes the planner read the heads (the rows in `inboxes`, see `heads.ts`) by their key in `moveHeads`.
 */
const readByKey = statement<Record<never, never>>(
  'notifications_publish_by_key',
  () => sql`set local enable_seqscan = off`,
);

/**
 * Locks and moves the heads in the order of their users, so that two publishers never wait for each other in a cycle:
 * with `readByKey`, the join keeps the order of its sorted side. If the statement has waited for a lock, PostgreSQL
 * reads the current version of the row. The times do not decrease from row to row. A head that was deleted in the
 * meantime is not returned (decision 46).
 */
const moveHeads = statement<{ userIds: Buffer; rows: Buffer }, MovedHeads>(
  'notifications_publish_heads',
  (p) => sql`
    with moved as (
      update inboxes
      set ${headMoves(sql`db_now()`)}
      from (
        select user_id, rows, place
        from unnest(${array(p.userIds, 'uuid')}, ${array(p.rows, 'bigint')}) with ordinality as requested (user_id, rows, place)
        order by user_id
      ) sorted
      where inboxes.user_id = sorted.user_id
      returning inboxes.user_id, place, ${movedColumns}
    )
    select string_agg(int8send(place), '') as places, string_agg(int8send(before), '') as befores,
           string_agg(timestamptz_send(start), '') as starts, array(select user_id from moved where is_full) as full
    from moved`,
);

/**
 * One row with the values of all heads, because reading thousands of rows is slow. A value is null if there is no head.
 */
interface MovedHeads {
  /** For each head, the position of its user in the request, from 1. */
  places: Buffer | null;
  /** The sequence before the first new notification. */
  befores: Buffer | null;
  /** The time of the first new notification. */
  starts: Buffer | null;
  full: string[];
}

/** The keys of the rows to insert, as binary arrays. */
interface RowKeys {
  readonly userIds: Buffer;
  readonly ids: Buffer;
  readonly sequences: Buffer;
  readonly times: Buffer;
}

/**
 * For requests in which each delivery has its own content. The rows are inserted in the order of the users, so that
 * they are adjacent in most indexes.
 */
const insertOwnContents = statement<RowKeys & ContentArrays & PushChoice>(
  'notifications_publish_own_rows',
  (p) => sql`
    with delivery as materialized (
      select * from unnest(${array(p.userIds, 'uuid')}, ${array(p.ids, 'uuid')}, ${array(p.sequences, 'bigint')},
                           ${array(p.times, 'timestamptz')}, ${contentParameters(p)})
        as delivery (user_id, id, sequence, time, ${contentNames})
      order by user_id, sequence
    ),${recordPublication(sql`delivery`, p)}
    insert into notifications (${newRowColumns})
    select ${newRowValues} from delivery`,
);

/**
 * For requests in which several deliveries have the same content. Each content is sent to the database once, however
 * many users get it.
 */
const insertSharedContents = statement<RowKeys & { items: Buffer } & ContentArrays & PushChoice>(
  'notifications_publish_rows',
  (p) => sql`
    with delivery as materialized (
      select * from unnest(${array(p.userIds, 'uuid')}, ${array(p.ids, 'uuid')}, ${array(p.sequences, 'bigint')},
                           ${array(p.times, 'timestamptz')}, ${array(p.items, 'bigint')})
        as delivery (user_id, id, sequence, time, item)
      order by user_id, sequence
    ),${recordPublication(sql`delivery`, p)}
    insert into notifications (${newRowColumns})
    select ${newRowValues}
    from delivery join (
      select * from unnest(${contentParameters(p)}) with ordinality as content (${contentNames}, item)
    ) content using (item)`,
);

/**
 * Inserts many notifications, if all inboxes exist. The first statement moves the heads and returns the sequences. The
 * second statement inserts the rows. The process prepares the contents while the first one runs, and builds the answer
 * while the second one runs.
 *
 * @param userIds the users of the deliveries, in their order
 * @param prepare called while the heads move
 * @param pushes whether to add a row for the push relay
 * @returns the sequence 0 for an inbox that does not exist. Then no row is inserted, but the heads of the other inboxes
 *   have moved: the caller must let the transaction fail.
 */
export async function insertMany(
  tx: Transaction,
  userIds: readonly string[],
  prepare: () => Promise<Deliveries>,
  pushes: boolean,
): Promise<PendingInsert> {
  const inboxes = inboxesOf(userIds);
  const heads = uuidArray(inboxes.userIds);
  await tx.query(readByKey({}));
  const [[moved], { deliveries, users, ids, contents }] = await Promise.all([
    tx.query(moveHeads({ userIds: heads, rows: bigintArray(inboxes.rows) })),
    prepare().then((deliveries) => {
      const users = inboxes.userIds.length === userIds.length ? heads : uuidArray(userIds);
      return { deliveries, users, ids: uuidArray(deliveries.ids), contents: contentArrays(deliveries.contents) };
    }),
  ]);
  if (moved === undefined) throw new Error('an aggregate returned no row');
  const { sequences, times } = numbersOf(inboxes, moved);
  if (sequences.includes(0)) return { deliveries, sequences, times, inserted: Promise.resolve() };
  const values = {
    userIds: users,
    ids,
    sequences: bigintArray(sequences),
    times: timeArray(times),
    ...contents,
    pushes,
  };
  const inserted =
    deliveries.contents.length === userIds.length
      ? tx.query(insertOwnContents(values))
      : tx.query(insertSharedContents({ ...values, items: bigintArray(deliveries.items) }));
  return { deliveries, sequences, times, inserted: inserted.then(() => countFullBlocks(tx, moved.full)) };
}

interface Inboxes {
  readonly userIds: readonly string[];
  /** For each inbox, the number of its new notifications. */
  readonly rows: readonly number[];
  /** For each delivery, the place of its inbox in `userIds`. */
  readonly inboxOf: readonly number[];
  /** For each delivery, how many deliveries come before it in its inbox. */
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

function numbersOf({ rows, inboxOf, before }: Inboxes, { places, befores, starts }: MovedHeads): DeliveryNumbers {
  const firstSequences = rows.map(() => 0);
  const firstTimes = new BigInt64Array(rows.length);
  if (places !== null && befores !== null && starts !== null) {
    for (let index = 0; index < places.length / 8; index += 1) {
      const place = readBigint(places, index);
      firstSequences[place - 1] = 1 + readBigint(befores, index);
      firstTimes[place - 1] = readTime(starts, index);
    }
  }
  const times = new BigInt64Array(inboxOf.length);
  const sequences = inboxOf.map((inbox, delivery) => {
    const nth = before[delivery] ?? 0;
    const time = firstTimes[inbox] ?? 0n;
    times[delivery] = nth === 0 ? time : time + BigInt(nth);
    const firstSequence = firstSequences[inbox] ?? 0;
    return firstSequence === 0 ? 0 : firstSequence + nth;
  });
  return { sequences, times };
}
