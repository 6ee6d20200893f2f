import type { Notification } from '../../contract/notification.js';
import { arrayText } from '../../database/array-text.js';
import { createKeyedCoalescer } from '../../database/batching/keyed-coalescer.js';
import { createWriteCoalescer } from '../../database/batching/write-coalescer.js';
import type { Database, Queryable } from '../../database/database.js';
import { identifier, join, type Parameters, type Sql, sql, statement } from '../../database/sql.js';
import { orderedId } from '../../lib/ids.js';
import { instantFromPg } from '../../lib/times.js';
import { countFullBlocks, lockAndCountFullBlocks } from '../inbox/block-counts.js';
import { type Content, contentColumns, notificationOf } from '../inbox/row.js';
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

/** One notification to insert. */
interface NewRow {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/** The values of a new notification that the database sets. */
interface Created {
  readonly sequence: number;
  readonly created_at: string;
  /** Whether the inbox has full blocks (`blocks.ts`) that are not counted yet. */
  readonly isFull: boolean;
}

/** The notifications that a statement inserts, and the inbox rows that it locks. */
interface Source {
  /** Selects the rows `id, user_id, place` with the columns of a `Content`. */
  readonly deliveries: Sql;
  /** The condition, the order and the lock of a `select` from `inboxes`. */
  readonly lockedInboxes: Sql;
}

/**
 * The statement that numbers and inserts notifications. It locks the inbox rows in the order of their users, so that
 * two publishers never wait for each other in a cycle. The CTE `clock` depends on the number of locked inbox rows, so
 * its time is read when all locks are held. If an inbox does not exist or is skipped, the result has no sequence for
 * its notifications, and nothing is inserted for them.
 */
const insertStatement = <Values extends object>(name: string, source: (p: Parameters<Values>) => Source) =>
  statement<Values & PushChoice, CreatedTogether>(name, (p) => {
    const { deliveries, lockedInboxes } = source(p);
    return sql`
    with
    delivery as (
      ${deliveries}
    ),
    inbox as materialized (
      select user_id from inboxes where ${lockedInboxes}
    ),
    clock as materialized (select count(*) as locked, db_now() as now from inbox),
    advanced as (
      update inboxes
      set ${advanceInboxRow(sql`now`)}
      from (
        select user_id, count(*) as rows, now from delivery join inbox using (user_id) cross join clock group by user_id, now
      ) added
      where inboxes.user_id = added.user_id
      returning inboxes.user_id, ${advancedColumns}
    ),
    numbered as (
      select delivery.*, before + row_number() over own as sequence,
             start + (row_number() over own - 1) * interval '1 microsecond' as time
      from delivery left join advanced using (user_id)
      window own as (partition by delivery.user_id order by place)
    ),
    created as (
      insert into notifications (${newRowColumns})
      select ${newRowValues}
      from numbered where sequence is not null
    ),${recordPublished(sql`numbered where sequence is not null`, p)}
    select string_agg(coalesce(sequence::text, ''), ',' order by place) as sequences,
           string_agg(coalesce(time::text, ''), ',' order by place) as times,
           array(select user_id from advanced where is_full) as full
    from numbered`;
  });

/** One row with the values of all notifications, because reading one row for each is slow. */
interface CreatedTogether {
  /** The sequences, separated by commas like `times`. The place of a notification that was not inserted is empty. */
  sequences: string;
  times: string;
  /** Users whose inboxes have full blocks. */
  full: string[];
}

type OneRow = { readonly id: string; readonly userId: string } & Content;
type RowArrays = { readonly ids: string; readonly userIds: string } & ContentArrays;

/** For one notification. With arrays, one connection would publish 9 % fewer a second. */
const insertOneRow = insertStatement<OneRow>('notifications_publish_one', (p) => ({
  deliveries: sql`select ${p.id}::uuid as id, ${p.userId}::uuid as user_id, 1 as place,
             ${join(
               contentColumns.map(({ name, type }) => sql`${p[name]}::${identifier(type)} as ${identifier(name)}`),
               ', ',
             )}`,
  lockedInboxes: sql`user_id = ${p.userId}::uuid for update`,
}));

/** For several notifications. @param lock the lock of the inbox rows */
const insertRows = (name: string, lock: Sql) =>
  insertStatement<RowArrays>(name, (p) => ({
    deliveries: sql`
      select * from unnest(${array(p.ids, 'uuid')}, ${array(p.userIds, 'uuid')}, ${contentParameters(p)}) with ordinality
        as delivery (id, user_id, ${contentNames}, place)`,
    lockedInboxes: sql`user_id = any (${array(p.userIds, 'uuid')}::uuid[]) order by user_id ${lock}`,
  }));

/** For notifications of one inbox. The statement waits for the lock of the inbox. */
const insertInboxRows = insertRows('notifications_publish_inbox', sql`for update`);

/** For notifications of several inboxes. No request waits for the inbox of another user. */
const insertUnlockedRows = insertRows('notifications_publish_together', sql`for update skip locked`);

/** Inserts notifications of one inbox, in their order. @returns their values; undefined if the inbox does not exist */
async function insertIntoInbox(
  handle: Queryable,
  rows: readonly NewRow[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  const [row, ...others] = rows;
  if (row === undefined) return [];
  const { id, userId, content } = row;
  const statement =
    others.length === 0
      ? insertOneRow({ id, userId, ...content, pushes })
      : insertInboxRows({ ...arraysOf(rows), pushes });
  return createdOf(await handle.query(statement), rows);
}

function arraysOf(rows: readonly NewRow[]): RowArrays {
  return {
    ids: arrayText(rows.map(({ id }) => id)),
    userIds: arrayText(rows.map(({ userId }) => userId)),
    ...contentArrays(rows.map(({ content }) => content)),
  };
}

/** Reads the result of an `insertStatement`, in the order of the rows. */
function createdOf([result]: readonly CreatedTogether[], rows: readonly NewRow[]): (Created | undefined)[] {
  if (result === undefined) throw new Error('an aggregate returned no row');
  const times = result.times.split(',');
  return result.sequences.split(',').map((sequence, place) => {
    if (sequence === '') return undefined;
    const isFull = result.full.includes(rows[place]?.userId ?? '');
    return { sequence: Number(sequence), created_at: instantFromPg(times[place] ?? ''), isFull };
  });
}

/** Inserts a notification. Returns undefined, and inserts nothing, if its inbox does not exist. */
type Insert = (row: NewRow) => Promise<Created | undefined>;

/**
 * Publishes one notification to one user: an item with one delivery.
 * @param handle a transaction if the item shows an image or replaces a notification; otherwise anything that can look up users
 * @throws Problem `validation_failed` with every error
 */
export async function publishOne(
  handle: Queryable,
  rules: PublishRules,
  item: Item,
  insert: Insert,
): Promise<Notification> {
  const images = await validateItems(handle, [item], rules);
  const [delivery] = item.deliveries;
  if (delivery === undefined) throw new Error('an item without a user was not refused');
  const { userId } = delivery;
  if (replaces(item)) await deleteOlder(handle, [item]);
  const [id, content] = [orderedId(), contentOf(item, images.byUrl, rules.categories)];
  const created = await insert({ id, userId, content });
  // The user does not exist. This throws the right problem.
  if (created === undefined) return refuseMissing([item], rules, images, new Set());
  const { sequence, created_at } = created;
  return notificationOf(content, { id, user_id: userId, sequence, created_at, updated_at: created_at }, images.byId);
}

/** Inserts the notification in a transaction. */
export function insertIn(tx: Queryable, { pushes }: PublishRules): Insert {
  return async (row) => {
    const [created] = await insertIntoInbox(tx, [row], pushes);
    if (created?.isFull) await countFullBlocks(tx, [row.userId]);
    return created;
  };
}

/**
 * Inserts notifications with statements that commit by themselves. Notifications that are published at the same time
 * share a statement, at two levels. Those of one inbox form a group. Groups of several inboxes share a statement that skips locked inboxes, so no
 * request waits for the inbox of another user; a group that was skipped is inserted alone (decision 46).
 * @param batching if false, each notification has a statement of its own
 */
export function createCommittingInsert(database: Database, { pushes }: PublishRules, batching: boolean): Insert {
  type InsertAll = (rows: readonly NewRow[]) => Promise<readonly (Created | undefined)[]>;
  const intoInbox: InsertAll = async (rows) => insertIntoInbox(database.user(rows[0]?.userId ?? ''), rows, pushes);
  const intoInboxes = createWriteCoalescer<readonly NewRow[], readonly (Created | undefined)[]>({
    alone: intoInbox,
    async many(inboxes) {
      const all = inboxes.flat();
      const created = createdOf(await database.query(insertUnlockedRows({ ...arraysOf(all), pushes })), all);
      let next = 0;
      return inboxes.map((rows) => {
        const own = created.slice(next, next + rows.length);
        next += rows.length;
        // Undefined: the inbox was skipped or is missing. `alone` finds out.
        return own.includes(undefined) ? undefined : own;
      });
    },
  });
  const insertAndCount =
    (insert: InsertAll): InsertAll =>
    async (rows) => {
      const created = await insert(rows);
      const [row] = rows;
      if (row !== undefined && created.some((each) => each?.isFull)) await tryToCount(database, row.userId);
      return created;
    };
  if (batching) return createKeyedCoalescer(({ userId }) => userId, insertAndCount(intoInboxes));
  const insert = insertAndCount(intoInbox);
  return async (row) => (await insert([row]))[0];
}

/** Ignores failures: the notifications are committed, and the next publication to the inbox counts the blocks. */
async function tryToCount(database: Database, userId: string): Promise<void> {
  const count = database.user(userId).transaction((tx) => lockAndCountFullBlocks(tx, userId));
  await count.catch(() => undefined);
}
