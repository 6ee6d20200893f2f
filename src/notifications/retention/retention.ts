import type { Database, Queryable } from '../../database/database.js';
import type { MaintenanceTask, Step } from '../../database/maintenance/tasks.js';
import { literal, type Parameters, sql, statement, unprepared } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';
import { blockRows } from '../inbox/blocks.js';
import { lockUnlockedInboxes } from '../inbox/inbox-locks.js';

/** How long notifications of a type are kept. */
export interface RetentionRule {
  readonly type: string;
  /** Milliseconds since `created_at`. */
  readonly age: number;
}

export interface Retention {
  /** The maintenance tasks that remove old notifications. */
  readonly tasks: readonly MaintenanceTask[];
  /**
   * By type, the time from which all notifications are kept; older ones may be removed. RFC 3339, in the database's
   * time. A type without a rule is absent: its notifications are kept forever.
   */
  retainedFrom(): Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Maximum numbers for one step: inboxes that it reads, rows that it removes, and rows of one inbox and type. */
const batch = { users: 200, rows: 500, each: 50 };
/** Milliseconds. */
const timing = { pauseMs: 3_600_000, refreshMs: 60_000 };

/** The rules as two arrays. */
interface RuleArrays {
  readonly types: readonly string[];
  /** Milliseconds. */
  readonly ages: readonly number[];
}

/** SQL: the rules as rows. */
const rules = (p: Parameters<RuleArrays>) => sql`unnest(${p.types}::text[], ${p.ages}::float8[]) as rule (type, age)`;

/**
 * SQL: the condition that a time fulfils if its row is to be removed. Rows stay an hour longer than `retainedFrom`
 * says, because a process may use a value of `retainedFrom` that is some minutes old.
 */
const isTooOld = sql`< db_now() - rule.age * interval '1 ms' - interval '1 hour'`;

/** Looks up only the oldest row of each user and type. The index orders the rows of one type by their age. */
const findUsers = statement<{ after: string } & RuleArrays, { user_id: string; is_due: boolean }>(
  'retention_find',
  (p) => sql`
    with inbox as materialized (
      select user_id, total from inboxes where user_id > ${p.after} order by user_id limit ${literal(batch.users)}
    )
    select user_id, total > 0 and exists (
      select from ${rules(p)}
        cross join lateral (
          select created_at from notifications n
          where n.user_id = inbox.user_id and n.notification_type = rule.type order by sequence limit 1
        ) oldest
      where oldest.created_at ${isTooOld}
    ) as is_due
    from inbox order by user_id`,
);

/**
 * Removes old rows of inboxes. An earlier statement has locked their inbox rows, so this statement sees the inboxes as
 * they are under the locks. It leaves no tombstones (records of deletions), because clients know the age at which
 * notifications expire. It raises the change sequence and the time of each inbox row, so every ETag changes and no
 * cached page matches the new state.
 */
const removeOld = statement<{ userIds: readonly string[] } & RuleArrays, { removed: number }>(
  'retention_remove',
  (p) => sql`
    with
    expired as materialized (
      select user_id, id
      from unnest(${p.userIds}::uuid[]) as locked (user_id) cross join ${rules(p)}
        cross join lateral (
          select id, created_at from notifications n
          where n.user_id = locked.user_id and n.notification_type = rule.type
          order by sequence limit ${literal(batch.each)}
        ) oldest
      where oldest.created_at ${isTooOld}
      limit ${literal(batch.rows)}
    ),
    deleted as (
      delete from notifications n using expired where n.user_id = expired.user_id and n.id = expired.id
      returning n.user_id, n.sequence, n.notification_type
    ),
    counted as materialized (
      select user_id, sequence / ${blockRows} as block, notification_type, count(*) as rows from deleted group by 1, 2, 3
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
      from (select user_id, count(*) as rows from deleted group by user_id) c
      where i.user_id = c.user_id
    )
    select 1 as removed from deleted`,
);

const selectRetained = unprepared(
  statement<RuleArrays, { type: string; retained: string }>(
    'retention_from',
    (p) => sql`select type, db_now() - age * interval '1 ms' as retained from ${rules(p)}`,
  ),
);

/** The start of the iteration. No user has this id, and it is lower than all ids. */
const firstUser = nilId;

/**
 * Removes notifications by their age, and keeps `retainedFrom` up to date. Without rules it does nothing.
 * @param onError called when the time of the database cannot be read. The next attempt is a minute later
 */
export async function startRetention(
  database: Database,
  typeRules: readonly RetentionRule[],
  onError: (error: unknown) => void,
): Promise<Retention> {
  if (typeRules.length === 0) return { tasks: [], retainedFrom: () => ({}), stop: async () => undefined };
  let retained = await readRetained(database, typeRules);
  let reading: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    reading = readRetained(database, typeRules).then((read) => {
      retained = read;
    }, onError);
  }, timing.refreshMs).unref();
  return {
    tasks: [retentionTask(typeRules)],
    retainedFrom: () => retained,
    async stop() {
      clearInterval(timer);
      await reading;
    },
  };
}

async function readRetained(
  database: Database,
  typeRules: readonly RetentionRule[],
): Promise<Readonly<Record<string, string>>> {
  const rows = await database.query(selectRetained(arraysOf(typeRules)));
  return Object.fromEntries(rows.map(({ type, retained }) => [type, retained]));
}

const arraysOf = (typeRules: readonly RetentionRule[]): RuleArrays => ({
  types: typeRules.map(({ type }) => type),
  ages: typeRules.map(({ age }) => age),
});

/** Reads all inboxes in keyset order, in batches. It repeats a step as long as the step removes rows. */
export function retentionTask(typeRules: readonly RetentionRule[]): MaintenanceTask {
  const ruleArrays = arraysOf(typeRules);
  return {
    name: 'notification retention',
    pauseMs: timing.pauseMs,
    async step(tx, from): Promise<Step> {
      const after = from?.user_id ?? firstUser;
      const users = await tx.query(findUsers({ after, ...ruleArrays }));
      const dueUsers = users.filter((user) => user.is_due).map((user) => user.user_id);
      const removedCount = await removeFrom(tx, dueUsers);
      // There may be more old rows. Inboxes that are locked now are left to the next run.
      if (removedCount > 0) return { removed: removedCount, next: { user_id: after } };
      const last = users.at(-1)?.user_id;
      return last === undefined || users.length < batch.users
        ? { removed: removedCount }
        : { removed: removedCount, next: { user_id: last } };
    },
  };

  async function removeFrom(tx: Queryable, due: readonly string[]): Promise<number> {
    if (due.length === 0) return 0;
    const userIds = await lockUnlockedInboxes(tx, due);
    return (await tx.query(removeOld({ userIds, ...ruleArrays }))).length;
  }
}

/** The tables with a user's rows, for the job that erases a deleted user. */
export const notificationTables = [
  { table: 'notification_states', key: 'sequence' },
  { table: 'notifications', key: 'sequence' },
  { table: 'inbox_blocks', key: 'block' },
  { table: 'notification_tombstones', key: 'change_sequence' },
  { table: 'markers', key: 'user_id' },
  { table: 'mutes', key: 'id' },
  { table: 'preferences', key: 'user_id' },
  { table: 'quiet_holds', key: 'user_id' },
  { table: 'category_caps', key: 'name' },
  { table: 'digests', key: 'category' },
  { table: 'subscriptions', key: 'topic_id' },
  { table: 'publication_recipients', key: 'publication_id' },
  { table: 'push_deliveries', key: 'id' },
  { table: 'step_deliveries', key: 'id' },
] as const;
