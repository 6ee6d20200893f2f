import { prepared, type Queryable } from '../database/database.js';
import { instantFromPg } from '../lib/times.js';
import { blockSize, hasFullBlocks } from './blocks.js';

/** What the database decides of a notification that it makes. */
export interface CreatedRow {
  readonly sequence: number;
  readonly created_at: string;
}

export interface Created {
  /** One for each delivery, in their order; undefined where the inbox does not exist. */
  readonly rows: readonly (CreatedRow | undefined)[];
  /** Users whose inboxes have blocks that are full: they want to be counted (`countFullBlocks`). */
  readonly full: readonly string[];
}

/** One for all: of thousands of rows each would cost more to send and to read than what is in it. */
interface CreatedTogether {
  /** With a comma between two, as `times` are, and nothing where there is none. */
  sequences: string;
  times: string;
  full: string[];
}

/** Where a statement gets what is to be made, and which heads that needs. */
interface Source {
  readonly delivery: string;
  readonly content: string;
  readonly heads: string;
  /** Of heads that are locked by others: to wait, or to leave those rows out. */
  readonly whenLocked?: 'wait' | 'skip locked';
}

const microseconds = (count: string) => `${count} * interval '1 microsecond'`;

/*
 * The heads are locked in the order of their users, so that two publishers never wait for each other, and moved when all
 * are locked: after a wait, PostgreSQL gives the rows as they are then (EvalPlanQual), not as this statement's snapshot
 * has them. `clock` counts the locked heads first, so that its time is read under all the locks. Numbers and times of the
 * rows come from `moved` alone. Where an inbox does not exist, or is left out, they are null and nothing is made.
 *
 * One statement whatever the number of items and users: an item's content travels once, however many get it. What comes
 * back has the order of the deliveries, and nothing in it that the caller knows.
 */
const insertFrom = (name: string, { delivery, content, heads, whenLocked = 'wait' }: Source, publication: string) =>
  prepared(
    name,
    `with
    delivery as (${delivery}),
    content as (${content}),
    head as materialized (
      select user_id from inboxes where ${heads} for update${whenLocked === 'wait' ? '' : ` ${whenLocked}`}
    ),
    clock as materialized (select count(*) as locked, db_now() as now from head),
    moved as (
      update inboxes
      set last_change_sequence = last_change_sequence + rows,
          last_time = greatest(now, last_time + ${microseconds('1')}) + ${microseconds('(rows - 1)')},
          total = total + rows,
          counted_blocks = coalesce(counted_blocks, last_change_sequence / ${blockSize})
      from (
        select user_id, count(*) as rows, now from delivery join head using (user_id) cross join clock group by user_id, now
      ) added
      where inboxes.user_id = added.user_id
      returning inboxes.user_id, last_change_sequence - rows as before, last_time - ${microseconds('(rows - 1)')} as start,
        ${hasFullBlocks} as is_full
    ),
    numbered as (
      select place, delivery.id, delivery.user_id, item,
             before + row_number() over inbox as sequence, start + ${microseconds('(row_number() over inbox - 1)')} as time
      from delivery left join moved using (user_id)
      window inbox as (partition by delivery.user_id order by place)
    ),
    created as (
      insert into notifications (user_id, id, sequence, change_sequence, actor_id, actor, notification_type,
        notification_key, object_id, object_data_number, object_data_string, description, image_id, created_at, updated_at)
      select user_id, id, sequence, sequence, actor_id, actor, notification_type,
        notification_key, object_id, object_data_number, object_data_string, description, image_id, time, time
      from numbered join content using (item) where sequence is not null
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
const array = (parameter: number, type: string) => `(select $${parameter}::${type}[])`;

const many: Source = {
  delivery: `
      select id, user_id, item, place
      from unnest(${array(1, 'uuid')}, ${array(2, 'uuid')}, ${array(3, 'int')}) with ordinality
        as delivery (id, user_id, item, place)`,
  content: `
      select *
      from unnest(${array(4, 'uuid')}, ${array(5, 'text')}, ${array(6, 'text')}, ${array(7, 'text')},
                  ${array(8, 'uuid')}, ${array(9, 'numeric')}, ${array(10, 'text')}, ${array(11, 'text')},
                  ${array(12, 'uuid')}) with ordinality
        as content (actor_id, actor, notification_type, notification_key, object_id, object_data_number,
                    object_data_string, description, image_id, item)`,
  heads: `user_id = any (${array(2, 'uuid')}::uuid[]) order by user_id`,
};

/** Requests of a moment. None of them waits for another's user: what is not made here is made alone. */
const together: Source = { ...many, whenLocked: 'skip locked' };

/** One notification to one user: without arrays there is less to start. */
const one: Source = {
  delivery: 'select $1::uuid as id, $2::uuid as user_id, $3::int as item, 1 as place',
  content: `
      select $4::uuid as actor_id, $5::text as actor, $6::text as notification_type, $7::text as notification_key,
        $8::uuid as object_id, $9::numeric as object_data_number, $10::text as object_data_string,
        $11::text as description, $12::uuid as image_id, 1 as item`,
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
  many: insertFrom('notifications_publish', many, ''),
  manyForPush: insertFrom('notifications_publish_for_push', many, forPush),
  one: insertFrom('notifications_publish_one', one, ''),
  oneForPush: insertFrom('notifications_publish_one_for_push', one, forPush),
  together: insertFrom('notifications_publish_together', together, ''),
  togetherForPush: insertFrom('notifications_publish_together_for_push', together, forPush),
};

/** What is to be made: of the deliveries their ids, users and items (from 1), and of the items their contents. */
export type Columns = readonly (readonly unknown[])[];

/** Makes notifications in the inboxes that exist. */
export async function insertNotifications(tx: Queryable, columns: Columns, pushes: boolean): Promise<Created> {
  if (columns.every((column) => column.length === 1)) {
    return read(await tx.query<CreatedTogether>(pushes ? inserts.oneForPush : inserts.one, columns.flat()));
  }
  return read(await tx.query<CreatedTogether>(pushes ? inserts.manyForPush : inserts.many, asArrays(columns)));
}

/**
 * Makes one notification of each of several requests, without waiting for any inbox.
 * @param requests the columns of each, with one delivery and its content
 * @returns in their order what was made; undefined where the inbox does not exist, or is locked at the moment
 */
export async function insertTogether(
  database: Queryable,
  requests: readonly Columns[],
  pushes: boolean,
): Promise<(Created | undefined)[]> {
  const [ids = [], userIds = [], , ...contents] =
    requests[0]?.map((_, column) => requests.map((each) => each[column]?.[0])) ?? [];
  const items = requests.map((_, index) => index + 1);
  const statement = pushes ? inserts.togetherForPush : inserts.together;
  const values = asArrays([ids, userIds, items, ...contents]);
  const { rows, full } = read(await database.query<CreatedTogether>(statement, values));
  return rows.map((row, place) => row && { rows: [row], full: full.filter((userId) => userId === userIds[place]) });
}

/**
 * Ids and numbers need no quoting, which for thousands of them takes longer than all else that is done here. And nothing
 * is sent of what is null in all contents: `unnest` fills up what is shorter.
 */
function asArrays([ids = [], userIds = [], items = [], ...contents]: Columns): unknown[] {
  return [
    ...[ids, userIds, items].map((values) => `{${values.join(',')}}`),
    ...contents.map((values) => (values.every((value) => value === null) ? [] : values)),
  ];
}

function read([created]: readonly CreatedTogether[]): Created {
  if (created === undefined) throw new Error('an aggregate had no row');
  const times = created.times.split(',');
  // Whoever is published to in one request mostly gets the same time.
  let last = { text: '', time: '' };
  const timeOf = (text: string) => {
    if (text !== last.text) last = { text, time: instantFromPg(text) };
    return last.time;
  };
  const rows = created.sequences.split(',').map((sequence, place) => {
    return sequence === '' ? undefined : { sequence: Number(sequence), created_at: timeOf(times[place] ?? '') };
  });
  return { rows, full: created.full };
}
