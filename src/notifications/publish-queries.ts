import { arrayText, textArrayText } from '../database/array-text.js';
import { prepared, type Queryable } from '../database/database.js';
import { instantFromPg } from '../lib/times.js';
import { blockSize, hasFullBlocks } from './blocks.js';
import type { Content } from './row.js';

/** One notification that is to be made. */
export interface NewRow {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/** What the database decides of a notification that it makes. */
export interface CreatedRow {
  readonly sequence: number;
  readonly created_at: string;
}

export interface Created extends CreatedRow {
  /** Whether the inbox has blocks that are full: they want to be counted (`countFullBlocks`). */
  readonly isFull: boolean;
}

/** One for all: of many rows each would cost more to send and to read than what is in it. */
interface CreatedTogether {
  /** With a comma between two, as `times` are, and nothing where there is none. */
  sequences: string;
  times: string;
  /** Users. */
  full: string[];
}

/** Where a statement gets what is to be made, and which heads that needs. */
interface Source {
  readonly delivery: string;
  readonly heads: string;
  /** Of heads that are locked by others: to wait, or to leave those rows out. */
  readonly whenLocked?: 'wait' | 'skip locked';
}

const microseconds = (count: string) => `${count} * interval '1 microsecond'`;

/** SQL of what publishing `rows` notifications does to a head, and of the first one's place in the inbox. */
export const headMoves = (now: string) => `last_change_sequence = last_change_sequence + rows,
          last_time = greatest(${now}, last_time + ${microseconds('1')}) + ${microseconds('(rows - 1)')},
          total = total + rows,
          counted_blocks = coalesce(counted_blocks, last_change_sequence / ${blockSize})`;
export const beforeFirst = 'last_change_sequence - rows';
export const timeOfFirst = `last_time - ${microseconds('(rows - 1)')}`;

/** The columns of a `Content`, and their types. */
const contentColumns = [
  ['actor_id', 'uuid'],
  ['actor', 'text'],
  ['notification_type', 'text'],
  ['notification_key', 'text'],
  ['object_id', 'uuid'],
  ['object_data_number', 'numeric'],
  ['object_data_string', 'text'],
  ['description', 'text'],
  ['image_id', 'uuid'],
] as const satisfies (readonly [keyof Content, string])[];
export const contentNames = contentColumns.map(([name]) => name).join(', ');

/** SQL: the columns that a new row of `notifications` is given, and of what; times and numbers are those of its creation. */
export const givenColumns = `user_id, id, sequence, change_sequence, ${contentNames}, created_at, updated_at`;
export const givenValues = `user_id, id, sequence, sequence, ${contentNames}, time, time`;

/*
 * The heads are locked in the order of their users, so that two publishers never wait for each other, and moved when all
 * are locked: after a wait, PostgreSQL gives the rows as they are then (EvalPlanQual), not as this statement's snapshot
 * has them. `clock` counts the locked heads first, so that its time is read under all the locks. Numbers and times of the
 * rows come from `moved` alone. Where an inbox does not exist, or is left out, they are null and nothing is made.
 *
 * What comes back has the order of the deliveries, and nothing in it that the caller knows.
 */
const insertFrom = (name: string, { delivery, heads, whenLocked = 'wait' }: Source, publication: string) =>
  prepared(
    name,
    `with
    delivery as (${delivery}),
    head as materialized (
      select user_id from inboxes where ${heads} for update${whenLocked === 'wait' ? '' : ` ${whenLocked}`}
    ),
    clock as materialized (select count(*) as locked, db_now() as now from head),
    moved as (
      update inboxes
      set ${headMoves('now')}
      from (
        select user_id, count(*) as rows, now from delivery join head using (user_id) cross join clock group by user_id, now
      ) added
      where inboxes.user_id = added.user_id
      returning inboxes.user_id, ${beforeFirst} as before, ${timeOfFirst} as start, ${hasFullBlocks} as is_full
    ),
    numbered as (
      select delivery.*, before + row_number() over inbox as sequence,
             start + ${microseconds('(row_number() over inbox - 1)')} as time
      from delivery left join moved using (user_id)
      window inbox as (partition by delivery.user_id order by place)
    ),
    created as (
      insert into notifications (${givenColumns})
      select ${givenValues}
      from numbered where sequence is not null
    )${publication}
  select string_agg(coalesce(sequence::text, ''), ',' order by place) as sequences,
         string_agg(coalesce(time::text, ''), ',' order by place) as times,
         array(select user_id from moved where is_full) as full
  from numbered`,
  );

/**
 * By way of a scalar subquery no plan sees an array's length. To one that does, each length is worth a plan of its own,
 * which is longer in the making than a small statement runs, and from a thousand users on reads the heads of everybody.
 */
export const array = (parameter: number, type: string) => `(select $${parameter}::${type}[])`;

/** SQL that reads contents from nine arrays, of which this is the first one's parameter. */
export function contentsFrom(first: number): string {
  return `select * from unnest(${contentArraysFrom(first)}) with ordinality as content (${contentNames}, item)`;
}

/** These arrays, as `unnest` takes them. */
export function contentArraysFrom(first: number): string {
  return contentColumns.map(([, type], place) => array(first + place, type)).join(', ');
}

/** Requests of a moment. None of them waits for another's user: what is not made here is made alone. */
const together: Source = {
  delivery: `
      select * from unnest(${array(1, 'uuid')}, ${array(2, 'uuid')}, ${contentArraysFrom(3)}) with ordinality
        as delivery (id, user_id, ${contentNames}, place)`,
  heads: `user_id = any (${array(2, 'uuid')}::uuid[]) order by user_id`,
  whenLocked: 'skip locked',
};

/** Requests of a moment for one inbox, which is waited for. */
const inbox: Source = { ...together, whenLocked: 'wait' };

/** One notification to one user: without arrays there is less to start. */
const one: Source = {
  delivery: `
      select $1::uuid as id, $2::uuid as user_id, 1 as place,
             ${contentColumns.map(([name, type], place) => `$${3 + place}::${type} as ${name}`).join(', ')}`,
  heads: 'user_id = $2::uuid',
};

/** One more row for the relay that derives the pushes, however many notifications there are. */
const forPush = `,
    publication as (
      insert into publications (id, user_ids, notification_ids, size, created_at)
      select gen_random_uuid(), array_agg(user_id), array_agg(id), count(*), min(time)
      from numbered where sequence is not null having count(*) > 0
    )`;

const inserts = {
  one: insertFrom('notifications_publish_one', one, ''),
  oneForPush: insertFrom('notifications_publish_one_for_push', one, forPush),
  inbox: insertFrom('notifications_publish_inbox', inbox, ''),
  inboxForPush: insertFrom('notifications_publish_inbox_for_push', inbox, forPush),
  together: insertFrom('notifications_publish_together', together, ''),
  togetherForPush: insertFrom('notifications_publish_together_for_push', together, forPush),
};

/** @returns undefined where the inbox does not exist: then none is made */
export async function insertOne(tx: Queryable, row: NewRow, pushes: boolean): Promise<Created | undefined> {
  const { id, userId, content } = row;
  const values = [id, userId, ...contentColumns.map(([name]) => content[name])];
  const found = await tx.query<CreatedTogether>(pushes ? inserts.oneForPush : inserts.one, values);
  return read(found, [row])[0];
}

/**
 * Makes each of several notifications, without waiting for any inbox.
 * @returns in their order what was made; undefined where the inbox does not exist, or is locked at the moment
 */
export async function insertTogether(
  database: Queryable,
  rows: readonly NewRow[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  const statement = pushes ? inserts.togetherForPush : inserts.together;
  return read(await database.query<CreatedTogether>(statement, rowArrays(rows)), rows);
}

/**
 * Makes each of several notifications of one inbox, in their order.
 * @returns undefined for all where the inbox does not exist: then none is made
 */
export async function insertIntoInbox(
  tx: Queryable,
  rows: readonly NewRow[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  const statement = pushes ? inserts.inboxForPush : inserts.inbox;
  return read(await tx.query<CreatedTogether>(statement, rowArrays(rows)), rows);
}

function rowArrays(rows: readonly NewRow[]): string[] {
  return [
    arrayText(rows.map(({ id }) => id)),
    arrayText(rows.map(({ userId }) => userId)),
    ...contentArrays(rows.map(({ content }) => content)),
  ];
}

/** What `contentsFrom` reads. Nothing is sent of what is null in all contents: `unnest` fills up what is shorter. */
export function contentArrays(contents: readonly Content[]): string[] {
  return contentColumns.map(([name]) => {
    const values = contents.map((content) => content[name]);
    return values.every((value) => value === null) ? '{}' : textArrayText(values);
  });
}

function read([created]: readonly CreatedTogether[], asked: readonly NewRow[]): (Created | undefined)[] {
  if (created === undefined) throw new Error('an aggregate had no row');
  const times = created.times.split(',');
  return created.sequences.split(',').map((sequence, place) => {
    if (sequence === '') return undefined;
    const isFull = created.full.includes(asked[place]?.userId ?? '');
    return { sequence: Number(sequence), created_at: instantFromPg(times[place] ?? ''), isFull };
  });
}
