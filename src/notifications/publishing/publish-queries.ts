import { arrayText, textArrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { identifier, join, type Parameters, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import { instantFromPg } from '../../lib/times.js';
import { blockRows, hasFullBlocks } from '../inbox/blocks.js';
import { type Content, contentColumns } from '../inbox/row.js';
import { recordInboxEvents } from '../inbox/webhook-events.js';

/** One notification to insert. */
export interface NewRow {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/** The values of a new notification that the database sets. */
export interface CreatedRow {
  readonly sequence: number;
  readonly created_at: string;
}

export interface Created extends CreatedRow {
  /** Whether the inbox has full blocks that are not counted yet: then call `countFullBlocks`. */
  readonly isFull: boolean;
}

/** One row with the values of all notifications, because reading one row for each is slow. */
interface CreatedTogether {
  /** The sequences, separated by commas like `times`. The place of a notification that was not inserted is empty. */
  sequences: string;
  times: string;
  /** Users whose inboxes have full blocks. */
  full: string[];
}

/** SQL: moves a head (the inbox's row in `inboxes`, see `heads.ts`) by `rows` new notifications. */
export const headMoves = (now: Sql) => sql`last_change_sequence = last_change_sequence + rows,
          last_time = greatest(${now}, last_time + interval '1 microsecond') + (rows - 1) * interval '1 microsecond',
          total = total + rows,
          counted_blocks = coalesce(counted_blocks, last_change_sequence / ${blockRows})`;

/**
 * SQL: columns of a moved head: the sequence before the first new notification, the time of that notification, and
 * whether to count blocks.
 */
export const movedColumns = sql`last_change_sequence - rows as before,
          last_time - (rows - 1) * interval '1 microsecond' as start,
          ${hasFullBlocks} as is_full`;

/** SQL: the names of these columns. */
export const contentNames = join(
  contentColumns.map(({ name }) => identifier(name)),
  ', ',
);

/** SQL: the columns of a new row of `notifications`, and their values from rows that have a `sequence` and a `time`. */
export const newRowColumns = sql`user_id, id, sequence, change_sequence, ${contentNames}, created_at, updated_at`;
export const newRowValues = sql`user_id, id, sequence, sequence, ${contentNames}, time, time`;

/**
 * SQL: an array parameter, through a scalar subquery, so that no plan depends on its length. Otherwise PostgreSQL plans
 * again for each length, which takes longer than a small statement, and scans all heads if there are a thousand users.
 */
export const array = (parameter: SqlPart, type: string) => sql`(select ${parameter}::${identifier(type)}[])`;

/** The contents of several notifications: an array for each column, as text. */
export type ContentArrays = Readonly<Record<keyof Content, string>>;

/** SQL: the arrays of contents, as arguments of `unnest`. */
export function contentParameters(p: Parameters<ContentArrays>): Sql {
  return join(
    contentColumns.map(({ name, type }) => array(p[name], type)),
    ', ',
  );
}

/** Whether a publishing statement also adds a row for the push relay. */
export interface PushChoice {
  readonly pushes: boolean;
}

/**
 * SQL: the CTEs of a publishing statement that record its notifications for webhooks and, if the parameter `pushes` is
 * true, for the push relay: one row, however many notifications the statement inserts. The relay computes the pushes
 * later (decision 28).
 *
 * @param from what follows `from`: rows with `user_id`, `id`, `sequence` and `time` of the new notifications
 */
export const recordPublication = (from: Sql, { pushes }: Parameters<PushChoice>): Sql => sql`
    webhook as (${recordInboxEvents(sql`'notification.created'`, from)}
    ),
    publication as (
      insert into publications (id, user_ids, notification_ids, size, created_at)
      select gen_random_uuid(), array_agg(user_id), array_agg(id), count(*), min(time)
      from (select user_id, id, time from ${from}) published
      where ${pushes}::boolean
      having count(*) > 0
    )`;

/** The rows that a statement inserts, and the heads that it locks. */
interface Source {
  /** The rows `id, user_id, place` with the columns of a `Content`. */
  readonly deliveries: Sql;
  /** The condition, the order and the lock of a `select` from `inboxes`. */
  readonly lockedHeads: Sql;
}

/**
 * Numbers and inserts notifications. It locks the heads in the order of their users, so that two publishers never wait
 * for each other in a cycle. The CTE `clock` depends on the number of locked heads, so its time is read when all locks
 * are held. If an inbox does not exist or is skipped, the result has no sequence for its deliveries, and nothing is
 * inserted for them.
 */
const insertStatement = <Values extends object>(name: string, source: (p: Parameters<Values>) => Source) =>
  statement<Values & PushChoice, CreatedTogether>(name, (p) => {
    const { deliveries, lockedHeads } = source(p);
    return sql`
    with
    delivery as (
      ${deliveries}
    ),
    head as materialized (
      select user_id from inboxes where ${lockedHeads}
    ),
    clock as materialized (select count(*) as locked, db_now() as now from head),
    moved as (
      update inboxes
      set ${headMoves(sql`now`)}
      from (
        select user_id, count(*) as rows, now from delivery join head using (user_id) cross join clock group by user_id, now
      ) added
      where inboxes.user_id = added.user_id
      returning inboxes.user_id, ${movedColumns}
    ),
    numbered as (
      select delivery.*, before + row_number() over inbox as sequence,
             start + (row_number() over inbox - 1) * interval '1 microsecond' as time
      from delivery left join moved using (user_id)
      window inbox as (partition by delivery.user_id order by place)
    ),
    created as (
      insert into notifications (${newRowColumns})
      select ${newRowValues}
      from numbered where sequence is not null
    ),${recordPublication(sql`numbered where sequence is not null`, p)}
    select string_agg(coalesce(sequence::text, ''), ',' order by place) as sequences,
           string_agg(coalesce(time::text, ''), ',' order by place) as times,
           array(select user_id from moved where is_full) as full
    from numbered`;
  });

type OneRow = { readonly id: string; readonly userId: string } & Content;
type RowArrays = { readonly ids: string; readonly userIds: string } & ContentArrays;

/** For one notification to one user: without arrays, PostgreSQL plans and runs the statement faster. */
const insertOneRow = insertStatement<OneRow>('notifications_publish_one', (p) => ({
  deliveries: sql`select ${p.id}::uuid as id, ${p.userId}::uuid as user_id, 1 as place,
             ${join(
               contentColumns.map(({ name, type }) => sql`${p[name]}::${identifier(type)} as ${identifier(name)}`),
               ', ',
             )}`,
  lockedHeads: sql`user_id = ${p.userId}::uuid for update`,
}));

const rowsOf = (p: Parameters<RowArrays>) => sql`
      select * from unnest(${array(p.ids, 'uuid')}, ${array(p.userIds, 'uuid')}, ${contentParameters(p)}) with ordinality
        as delivery (id, user_id, ${contentNames}, place)`;

/** For requests for one inbox that arrived together. The statement waits for the lock of the inbox. */
const insertInboxRows = insertStatement<RowArrays>('notifications_publish_inbox', (p) => ({
  deliveries: rowsOf(p),
  lockedHeads: sql`user_id = any (${array(p.userIds, 'uuid')}::uuid[]) order by user_id for update`,
}));

/**
 * For requests for several inboxes that arrived together. The statement skips locked inboxes, so no request waits for
 * the inbox of another user.
 */
const insertUnlockedRows = insertStatement<RowArrays>('notifications_publish_together', (p) => ({
  deliveries: rowsOf(p),
  lockedHeads: sql`user_id = any (${array(p.userIds, 'uuid')}::uuid[]) order by user_id for update skip locked`,
}));

/** @returns undefined when the inbox does not exist; then nothing is inserted */
export async function insertOne(tx: Queryable, row: NewRow, pushes: boolean): Promise<Created | undefined> {
  const { id, userId, content } = row;
  const statement = insertOneRow({ id, userId, ...content, pushes });
  return read(await tx.query(statement), [row])[0];
}

/**
 * Inserts several notifications, without waiting for any inbox.
 * @returns the results in the order of the notifications; undefined if the inbox does not exist or is locked now
 */
export async function insertTogether(
  database: Queryable,
  rows: readonly NewRow[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  return read(await database.query(insertUnlockedRows({ ...rowArrays(rows), pushes })), rows);
}

/**
 * Inserts several notifications of one inbox, in their order.
 * @returns undefined for all when the inbox does not exist; then nothing is inserted
 */
export async function insertIntoInbox(
  tx: Queryable,
  rows: readonly NewRow[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  return read(await tx.query(insertInboxRows({ ...rowArrays(rows), pushes })), rows);
}

function rowArrays(rows: readonly NewRow[]): RowArrays {
  return {
    ids: arrayText(rows.map(({ id }) => id)),
    userIds: arrayText(rows.map(({ userId }) => userId)),
    ...contentArrays(rows.map(({ content }) => content)),
  };
}

/** A column that is null in all contents is sent as an empty array: `unnest` fills up shorter arrays with nulls. */
export function contentArrays(contents: readonly Content[]): ContentArrays {
  const arrayOf = (name: keyof Content) => {
    const values = contents.map((content) => content[name]);
    return values.every((value) => value === null) ? '{}' : textArrayText(values);
  };
  return {
    actor_id: arrayOf('actor_id'),
    actor: arrayOf('actor'),
    notification_type: arrayOf('notification_type'),
    notification_key: arrayOf('notification_key'),
    object_id: arrayOf('object_id'),
    object_data_number: arrayOf('object_data_number'),
    object_data_string: arrayOf('object_data_string'),
    description: arrayOf('description'),
    image_id: arrayOf('image_id'),
  };
}

/** Reads the result of `insertStatement` for these rows. */
function read([result]: readonly CreatedTogether[], rows: readonly NewRow[]): (Created | undefined)[] {
  if (result === undefined) throw new Error('an aggregate returned no row');
  const times = result.times.split(',');
  return result.sequences.split(',').map((sequence, place) => {
    if (sequence === '') return undefined;
    const isFull = result.full.includes(rows[place]?.userId ?? '');
    return { sequence: Number(sequence), created_at: instantFromPg(times[place] ?? ''), isFull };
  });
}
