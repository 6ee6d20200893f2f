import { prepared, type Queryable } from '../database/database.js';
import { blockSize } from './blocks.js';

/** What the database decides of a notification that it makes. */
export interface CreatedRow {
  id: string;
  user_id: string;
  sequence: number;
  created_at: string;
}

/** Where a statement gets what is to be made, and which heads that needs. */
interface Source {
  readonly delivery: string;
  readonly content: string;
  readonly heads: string;
  /** Of heads that are locked by others: to wait, or to leave those rows out. */
  readonly whenLocked?: 'wait' | 'skip locked';
}

/*
 * The heads are locked in the order of their users, so that two publishers never wait for each other, and read when
 * they are locked: after a wait, PostgreSQL gives the rows as they are then (EvalPlanQual), not as this statement's
 * snapshot has them. `clock` counts the locked heads first, so that its time is read under all the locks. Numbers and
 * times of the rows come from `head` alone, and the heads are moved to where the rows that were made ended.
 *
 * One statement whatever the number of items and users: an item's content travels once, however many get it. Ids are
 * made by the caller, who needs them to find each row again: an INSERT promises no order of what it returns.
 */
const insertFrom = (name: string, { delivery, content, heads, whenLocked = 'wait' }: Source, publication: string) =>
  prepared(
    name,
    `with
    delivery as (${delivery}),
    content as (${content}),
    head as materialized (
      select user_id, last_change_sequence, last_time from inboxes where ${heads} for update${whenLocked === 'wait' ? '' : ` ${whenLocked}`}
    ),
    clock as materialized (select count(*) as locked, db_now() as now from head),
    numbered as (
      select delivery.id, user_id, item, last_change_sequence,
             greatest(now, last_time + interval '1 microsecond') as start,
             row_number() over (partition by user_id order by place) as nth
      from delivery join head using (user_id) cross join clock
    ),
    created as (
      insert into notifications (user_id, id, sequence, change_sequence, actor_id, actor, notification_type,
        notification_key, object_id, object_data_number, object_data_string, description, image_id, created_at, updated_at)
      select user_id, id, last_change_sequence + nth, last_change_sequence + nth, actor_id, actor, notification_type,
        notification_key, object_id, object_data_number, object_data_string, description, image_id, time, time
      from numbered
        join content using (item)
        cross join lateral (select start + (nth - 1) * interval '1 microsecond' as time) moment
      returning id, user_id, sequence, notification_type, created_at
    ),
    moved as (
      update inboxes
      set last_change_sequence = added.sequence, last_time = added.time, total = total + added.rows
      from (
        select user_id, max(sequence) as sequence, max(created_at) as time, count(*) as rows
        from created group by user_id
      ) added
      where inboxes.user_id = added.user_id
    ),
    counted as (
      insert into inbox_blocks (user_id, block, notification_type, rows)
      select user_id, sequence / ${blockSize}, notification_type, count(*) from created group by 1, 2, 3
      on conflict (user_id, block, notification_type) do update set rows = inbox_blocks.rows + excluded.rows
    )${publication}
  select id, user_id, sequence, created_at from created`,
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
      select gen_random_uuid(), array_agg(user_id), array_agg(id), count(*), min(created_at)
      from created having count(*) > 0
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
export async function insertNotifications(tx: Queryable, columns: Columns, pushes: boolean): Promise<CreatedRow[]> {
  if (columns.every((column) => column.length === 1)) {
    return tx.query<CreatedRow>(pushes ? inserts.oneForPush : inserts.one, columns.flat());
  }
  return tx.query<CreatedRow>(pushes ? inserts.manyForPush : inserts.many, columns);
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
): Promise<(CreatedRow[] | undefined)[]> {
  const [ids = [], userIds, , ...contents] =
    requests[0]?.map((_, column) => requests.map((each) => each[column]?.[0])) ?? [];
  const items = requests.map((_, index) => index + 1);
  const statement = pushes ? inserts.togetherForPush : inserts.together;
  const rows = await database.query<CreatedRow>(statement, [ids, userIds, items, ...contents]);
  const made = new Map(rows.map((row) => [row.id, [row]]));
  return ids.map((id) => made.get(String(id)));
}
