import type { Chore, Step } from '../database/chores.js';
import { type Database, prepared, type Queryable, sql } from '../database/database.js';
import { nilId } from '../lib/ids.js';
import { blockSize } from './blocks.js';

/** How long notifications of a type are kept. */
export interface RetentionRule {
  readonly type: string;
  /** Milliseconds since `created_at`. */
  readonly age: number;
}

export interface Retention {
  /** For `startChores`. */
  readonly chores: readonly Chore[];
  /**
   * By type, since when notifications are all there; older ones may be gone. RFC 3339, in the database's time. A type
   * that is kept for ever is not in it.
   */
  retainedFrom(): Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Inboxes that a step looks at, rows that it removes at most, and of these of one inbox and type. */
const batch = { users: 200, rows: 500, each: 50 };
/** Milliseconds. */
const timing = { rest: 3_600_000, refresh: 60_000 };
/** What is removed is older by this than what `retainedFrom` says, which may be some minutes old. */
const margin = `interval '1 hour'`;

const rules = `unnest($2::text[], $3::float8[]) as rule (type, age)`;
const tooOld = `< db_now() - rule.age * interval '1 ms' - ${margin}`;

/** One look into the index per user and type: rows of a type are as old as they stand in its order. */
const findUsers = prepared(
  'retention_find',
  `with slice as materialized (
     select user_id, total from inboxes where user_id > $1 order by user_id limit ${batch.users}
   )
   select user_id, total > 0 and exists (
     select from ${rules}
       cross join lateral (
         select created_at from notifications n
         where n.user_id = slice.user_id and n.notification_type = rule.type order by sequence limit 1
       ) oldest
     where oldest.created_at ${tooOld}
   ) as is_due
   from slice order by user_id`,
);
const lockHeads = prepared(
  'retention_lock_heads',
  'select user_id from inboxes where user_id = any ($1::uuid[]) order by user_id for update skip locked',
);
/**
 * Without tombstones: that something is gone by its age everybody can tell. The heads move by one number and in time, so
 * that every ETag changes and no page that a process has kept is of the new state. A statement after the one that locks
 * them, so that it sees the inboxes as they are under the locks.
 */
const removeOld = prepared(
  'retention_remove',
  `with
    old as materialized (
      select user_id, id
      from unnest($1::uuid[]) as locked (user_id) cross join ${rules}
        cross join lateral (
          select id, created_at from notifications n
          where n.user_id = locked.user_id and n.notification_type = rule.type order by sequence limit ${batch.each}
        ) oldest
      where oldest.created_at ${tooOld}
      limit ${batch.rows}
    ),
    gone as (
      delete from notifications n using old where n.user_id = old.user_id and n.id = old.id
      returning n.user_id, n.sequence, n.notification_type
    ),
    counted as materialized (
      select user_id, sequence / ${blockSize} as block, notification_type, count(*) as rows from gone group by 1, 2, 3
    ),
    emptied as (
      delete from inbox_blocks b using counted c
      where b.user_id = c.user_id and b.block = c.block and b.notification_type = c.notification_type and b.rows <= c.rows
    ),
    lowered as (
      update inbox_blocks b set rows = b.rows - c.rows from counted c
      where b.user_id = c.user_id and b.block = c.block and b.notification_type = c.notification_type and b.rows > c.rows
    ),
    moved as (
      update inboxes i
      set total = total - c.rows,
          last_change_sequence = last_change_sequence + 1,
          last_time = greatest(db_now(), last_time + interval '1 microsecond')
      from (select user_id, count(*) as rows from gone group by user_id) c
      where i.user_id = c.user_id
    )
  select 1 from gone`,
);

/** No user has this id. */
const beforeAll = nilId;

/** Removes notifications by their age, and knows since when they are all there. Without rules it does nothing. */
export async function startRetention(
  database: Database,
  kept: readonly RetentionRule[],
  onError: (error: unknown) => void,
): Promise<Retention> {
  if (kept.length === 0) return { chores: [], retainedFrom: () => ({}), stop: async () => undefined };
  let retained = await readRetained(database, kept);
  let reading: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    reading = readRetained(database, kept).then((read) => {
      retained = read;
    }, onError);
  }, timing.refresh).unref();
  return {
    chores: [retentionChore(kept)],
    retainedFrom: () => retained,
    async stop() {
      clearInterval(timer);
      await reading;
    },
  };
}

async function readRetained(
  handle: Queryable,
  kept: readonly RetentionRule[],
): Promise<Readonly<Record<string, string>>> {
  const rows = await handle.query<{ type: string; retained: string }>(
    sql(`select type, db_now() - age * interval '1 ms' as retained
         from unnest($1::text[], $2::float8[]) as rule (type, age)`),
    [kept.map(({ type }) => type), kept.map(({ age }) => age)],
  );
  return Object.fromEntries(rows.map(({ type, retained }) => [type, retained]));
}

/** Walks through all inboxes, a few hundred at a time, and stays with those that have too much to remove at once. */
export function retentionChore(kept: readonly RetentionRule[]): Chore {
  const values = [kept.map(({ type }) => type), kept.map(({ age }) => age)];
  return {
    name: 'notification retention',
    rest: timing.rest,
    async step(tx, from): Promise<Step> {
      const after = from?.user_id ?? beforeAll;
      const users = await tx.query<{ user_id: string; is_due: boolean }>(findUsers, [after, ...values]);
      const removed = await removeFrom(
        tx,
        users.filter((user) => user.is_due).map((user) => user.user_id),
      );
      // There may be more; of an inbox that is locked the next walk takes care.
      if (removed > 0) return { removed, next: { user_id: after } };
      const last = users.at(-1)?.user_id;
      return last === undefined || users.length < batch.users ? { removed } : { removed, next: { user_id: last } };
    },
  };

  async function removeFrom(tx: Queryable, due: readonly string[]): Promise<number> {
    if (due.length === 0) return 0;
    const locked = await tx.query<{ user_id: string }>(lockHeads, [due]);
    return (await tx.query(removeOld, [locked.map((row) => row.user_id), ...values])).length;
  }
}
