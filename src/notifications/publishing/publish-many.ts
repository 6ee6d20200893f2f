import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Image } from '../../contract/image.js';
import type { Notification } from '../../contract/notification.js';
import { bigintArray, readBigint, readTime, timeArray, uuidArray } from '../../database/binary-arrays.js';
import type { Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { orderedIds } from '../../lib/ids.js';
import { instantsOfMicroseconds } from '../../lib/times.js';
import { countFullBlocks } from '../inbox/block-counts.js';
import { type Content, notificationOf } from '../inbox/row.js';
import { contentOf } from './content.js';
import {
  advancedColumns,
  advanceInboxRow,
  array,
  type ContentArrays,
  contentArrays,
  contentNames,
  contentParameters,
  newRowColumns,
  newRowValues,
  type PushChoice,
  recordPublished,
} from './publish-queries.js';
import { deleteOlder, replaces } from './replace.js';
import { type Item, type PublishRules, refuseMissing, validateItems } from './validation.js';

/** The number of notifications that one turn of the event loop builds. This takes about a millisecond. */
const partLength = 250;

/**
 * Called with each part of the notifications, in order. Do not show a part to clients before the transaction commits.
 */
export type OnPart = (part: readonly Notification[]) => void;

/** A setting that makes the planner read the inbox rows by their key in `advanceInboxes`. */
const readByKey = statement<Record<never, never>>(
  'notifications_publish_by_key',
  () => sql`set local enable_seqscan = off`,
);

/**
 * Locks and advances the inbox rows in the order of their users, so that two publishers never wait for each other in a
 * cycle: with `readByKey`, the join keeps the order of its sorted side. If the statement has waited for a lock,
 * PostgreSQL reads the current version of the row. The times do not decrease from row to row. An inbox row that was
 * deleted in the meantime is not returned (decision 46).
 */
const advanceInboxes = statement<{ userIds: Buffer; rows: Buffer }, AdvancedInboxes>(
  'notifications_publish_inboxes',
  (p) => sql`
    with advanced as (
      update inboxes
      set ${advanceInboxRow(sql`db_now()`)}
      from (
        select user_id, rows, place
        from unnest(${array(p.userIds, 'uuid')}, ${array(p.rows, 'bigint')}) with ordinality as requested (user_id, rows, place)
        order by user_id
      ) sorted
      where inboxes.user_id = sorted.user_id
      returning inboxes.user_id, place, ${advancedColumns}
    )
    select string_agg(int8send(place), '') as places, string_agg(int8send(before), '') as befores,
           string_agg(timestamptz_send(start), '') as starts, array(select user_id from advanced where is_full) as full
    from advanced`,
);

/**
 * One row with the values of all inbox rows, because reading thousands of rows is slow. A value is null if there is no
 * inbox row.
 */
interface AdvancedInboxes {
  /** For each inbox row, the position of its user in the request, from 1. */
  places: Buffer | null;
  /** The sequence before the first new notification. */
  befores: Buffer | null;
  /** The time of the first new notification. */
  starts: Buffer | null;
  full: string[];
}

/** The rows to insert, as binary arrays. */
interface RowArrays extends PushChoice, ContentArrays {
  readonly userIds: Buffer;
  readonly ids: Buffer;
  readonly sequences: Buffer;
  readonly times: Buffer;
  /** For each row, the position of its content, from 1. */
  readonly items: Buffer;
}

/**
 * Each content is sent to the database once, however many users get it. The rows are inserted in the order of the users, so that they are adjacent in most indexes.
 */
const insertDeliveries = statement<RowArrays>(
  'notifications_publish_rows',
  (p) => sql`
    with delivery as materialized (
      select * from unnest(${array(p.userIds, 'uuid')}, ${array(p.ids, 'uuid')}, ${array(p.sequences, 'bigint')},
                           ${array(p.times, 'timestamptz')}, ${array(p.items, 'bigint')})
        as delivery (user_id, id, sequence, time, item)
      order by user_id, sequence
    ),${recordPublished(sql`delivery`, p)}
    insert into notifications (${newRowColumns})
    select ${newRowValues}
    from delivery join (
      select * from unnest(${contentParameters(p)}) with ordinality as content (${contentNames}, item)
    ) content using (item)`,
);

/**
 * Publishes every notification of several items or to several users, or none: the caller must let the transaction fail
 * when this throws. The first statement advances the inbox rows and returns the sequences. The second one inserts the
 * rows. The process prepares the rows while the first one runs, and builds the answer while the second one runs.
 *
 * @returns the notifications in the order of the items, and for each item in the order of its deliveries
 * @throws Problem `validation_failed` with every error
 */
export async function publishMany(
  tx: Transaction,
  rules: PublishRules,
  items: readonly Item[],
  onPart: OnPart | undefined,
): Promise<Notification[]> {
  const images = await validateItems(tx, items, rules);
  const userIds = items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId));
  const inboxes = inboxesOf(userIds);
  if (items.some(replaces)) await deleteOlder(tx, items);
  await tx.query(readByKey({}));
  const [[moved], deliveries] = await Promise.all([
    tx.query(advanceInboxes({ userIds: uuidArray(inboxes.userIds), rows: bigintArray(inboxes.rows) })),
    nextTurn().then(() => deliveriesOf(items, userIds, images.byUrl, rules.categories)),
  ]);
  if (moved === undefined) throw new Error('an aggregate returned no row');
  const numbers = numbersOf(inboxes, moved);
  if (numbers.sequences.includes(0)) {
    return refuseMissing(items, rules, images, new Set(userIds.filter((_, place) => numbers.sequences[place] !== 0)));
  }
  const rows = {
    ...deliveries.arrays,
    sequences: bigintArray(numbers.sequences),
    times: timeArray(numbers.times),
    pushes: rules.pushes,
  };
  const inserted = tx.query(insertDeliveries(rows)).then(() => countFullBlocks(tx, moved.full));
  const notifications = notificationsOf(deliveries, numbers, images.byId, onPart);
  // No statement may still run when the transaction ends.
  await Promise.allSettled([notifications, inserted]);
  await inserted;
  return notifications;
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

/**
 * The sequences and times of the deliveries, in the order of the deliveries. They are stored as columns and not as
 * objects, because thousands of objects would survive several garbage collections.
 */
interface Numbers {
  /** 0 if the inbox does not exist. */
  readonly sequences: readonly number[];
  /** Microseconds, as `instantsOfMicroseconds` reads them. */
  readonly times: BigInt64Array;
}

function numbersOf({ rows, inboxOf, before }: Inboxes, { places, befores, starts }: AdvancedInboxes): Numbers {
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

/** Deliveries as columns. A delivery is one notification for one user. */
interface Deliveries {
  readonly ids: readonly string[];
  readonly userIds: readonly string[];
  readonly contents: readonly Content[];
  /** For each delivery, the position of its content, counted from 1 as WITH ORDINALITY does. */
  readonly items: readonly number[];
  /** The same, as parameters of a statement. */
  readonly arrays: ContentArrays & Pick<RowArrays, 'ids' | 'userIds' | 'items'>;
}

function deliveriesOf(
  items: readonly Item[],
  userIds: readonly string[],
  newImages: ReadonlyMap<string, Image>,
  categories: PublishRules['categories'],
): Deliveries {
  const ids = orderedIds(userIds.length);
  const contents = items.map((item) => contentOf(item, newImages, categories));
  const places = items.flatMap((item, index) => item.deliveries.map(() => index + 1));
  const arrays = { ids: uuidArray(ids), userIds: uuidArray(userIds), items: bigintArray(places) };
  return { ids, userIds, contents, items: places, arrays: { ...arrays, ...contentArrays(contents) } };
}

/**
 * Builds the notifications that are being inserted, from the request and from the sequences and times of the database.
 * Between two parts, the process sends pending data and serves other requests.
 */
async function notificationsOf(
  { ids, userIds, contents, items }: Deliveries,
  { sequences, times }: Numbers,
  images: ReadonlyMap<string, Image>,
  onPart: OnPart | undefined,
): Promise<Notification[]> {
  const parts: Notification[][] = [];
  const instantOf = instantsOfMicroseconds();
  for (let from = 0; from < sequences.length; from += partLength) {
    await nextTurn();
    const part = sequences.slice(from, from + partLength).map((sequence, index) => {
      const place = from + index;
      const [id, user_id, content] = [ids[place], userIds[place], contents[(items[place] ?? 0) - 1]];
      if (id === undefined || user_id === undefined || content === undefined) {
        throw new Error('more notifications were inserted than requested');
      }
      const created_at = instantOf(times[place] ?? 0n);
      return notificationOf(content, { id, user_id, sequence, created_at, updated_at: created_at }, images);
    });
    onPart?.(part);
    parts.push(part);
  }
  return parts.flat();
}
