import { bound, compose, identifier, join, literal, type Sql, sql } from '../sql.js';
import type { MaintenanceTask } from './tasks.js';

/** Rows that expire some time after a time that is indexed. */
interface AgedRows {
  /** The name of the task, if it is older than the name of the table: the former release locks the same task. */
  readonly name?: string;
  readonly table: string;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  /** The column with the time, which begins an index. */
  readonly time: string;
  /** SQL: how long after this time a row is kept, as an interval. */
  readonly age: Sql;
  /** SQL: the condition of the index, if it is a partial one. */
  readonly condition?: Sql;
}

/** The rows of a table that have expired. */
interface ExpiredRows {
  /** The name of the task, if another one removes rows of the same table. */
  readonly name?: string;
  readonly table: string;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  /** SQL: whether a row has expired. */
  readonly isExpired: Sql;
  /** SQL: CTEs that run with the removal. They read the removed rows from the CTE `removed`. */
  readonly afterRemoval?: Sql;
}

const hour = sql`interval '1 hour'`;
const days = (count: number) => sql`${literal(count)} * interval '1 day'`;

/** The expired rows of these tables are found by an index, so a step that finds nothing is cheap. */
const indexed: readonly AgedRows[] = [
  {
    table: 'guess_budgets',
    key: ['user_id', 'bucket'],
    time: 'updated_at',
    age: days(30),
    condition: sql`not permanent`,
  },
  { table: 'request_limits', key: ['key'], time: 'refilled_at', age: days(0) },
  { table: 'message_limits', key: ['key'], time: 'updated_at', age: days(1) },
  { table: 'idempotency_keys', key: ['caller', 'key_digest'], time: 'created_at', age: sql`25 * ${hour}` },
  // A new stream gets this much history. No access token lasts longer.
  {
    table: 'revocations',
    key: ['transaction', 'created_at', 'id'],
    time: 'created_at',
    age: sql`interval '35 minutes'`,
  },
  { table: 'outbox', key: ['user_id', 'id'], time: 'created_at', age: days(30) },
  { table: 'mail_deliveries', key: ['user_id', 'id'], time: 'created_at', age: days(30) },
  {
    table: 'early_mail_reports',
    key: ['provider', 'provider_reference', 'address_digest', 'outcome'],
    time: 'created_at',
    age: sql`interval '10 minutes'`,
  },
  // A mailbox that bounced a year ago may exist again. If not, the next mail suppresses it again.
  {
    table: 'suppressions',
    key: ['id'],
    time: 'created_at',
    age: days(365),
    condition: sql`reason in ('hard_bounce', 'soft_bounces')`,
  },
  // The nonce of a DPoP proof is valid for 30 minutes.
  {
    name: 'expire used_proofs',
    table: 'used_dpop_proofs',
    key: ['user_id', 'digest'],
    time: 'used_at',
    age: hour,
  },
  // As long as the login of each. The audit events stay longer.
  { table: 'support_logins', key: ['user_id', 'id'], time: 'created_at', age: days(31) },
  // An expired challenge is kept for a day, for support.
  { table: 'challenges', key: ['user_id', 'id'], time: 'expires_at', age: days(1) },
  // An expired set-up link is kept for a week, to tell its holder that it has expired.
  { table: 'setup_links', key: ['id'], time: 'expires_at', age: days(7) },
  // An ended block is kept for 30 days, so that operators can see it in the list.
  { table: 'address_blocks', key: ['id'], time: 'ends_at', age: days(30), condition: sql`ends_at is not null` },
  // Ended test identities are kept for 30 days, so that operators can see them in the list.
  { table: 'test_identities', key: ['id'], time: 'expires_at', age: days(30) },
  { table: 'push_deliveries', key: ['user_id', 'id'], time: 'created_at', age: days(30) },
  { table: 'step_deliveries', key: ['user_id', 'id'], time: 'created_at', age: days(30) },
  // A cap counts what was sent in 30 days at most.
  { table: 'category_caps', key: ['user_id', 'name'], time: 'updated_at', age: days(31) },
  // After twice the longest wait of a step, none can join the former digest any more.
  {
    table: 'digests',
    key: ['user_id', 'category', 'channel'],
    time: 'updated_at',
    age: days(62),
    condition: sql`due_at is null`,
  },
  // The text of a publication. It takes its chunks with it, so it can no longer be recalled.
  {
    table: 'notification_publications',
    key: ['id'],
    time: 'ended_at',
    age: days(30),
    condition: sql`ended_at is not null and due_at is null`,
  },
  { table: 'step_refusals', key: ['id'], time: 'created_at', age: days(30) },
  // The engine of steps removes these rows. No step may be as late as this.
  { table: 'pending_steps', key: ['id'], time: 'due_at', age: days(31) },
  // Backups whose files are gone or were never complete, so that operators see their history for a year.
  {
    table: 'backups',
    key: ['id'],
    time: 'started_at',
    age: days(365),
    condition: sql`(removed_at is not null or finished_at is null or error is not null)`,
  },
  { table: 'webhook_events', key: ['user_id', 'sequence'], time: 'created_at', age: days(30) },
  { table: 'webhook_deliveries', key: ['user_id', 'id'], time: 'created_at', age: days(30) },
  // The push fan-out removes these rows, unless push was turned off. Notifications as old as this are no longer pushed.
  { name: 'expire push fan-outs', table: 'push_fan_outs', key: ['id'], time: 'created_at', age: days(28) },
];

/**
 * SQL: whether a device has more than 20 newer logins whose tokens were not used either. Somebody logs in again and again
 * without using the tokens: only the newest can be of use.
 */
const hasNewerUnused = sql`(
  select count(*) > 20 from (
    select from authentications newer
    where newer.user_id = authentications.user_id and newer.device_id = authentications.device_id
      and newer.status = 'approved' and newer.ended_at is null and newer.first_used_at is null
      and (newer.approved_at, newer.id) > (authentications.approved_at, authentications.id)
    limit 21) unused)`;

/**
 * The expired rows of these tables are found by keyset iteration over the whole table. Requests write these rows, and
 * each further index would make the requests slower. A login that did not complete can be read for 24 hours.
 */
const unindexed: readonly ExpiredRows[] = [
  // A permanent lock ends 90 days after the last wrong secret, whether or not a user has the identity.
  {
    name: 'expire permanent locks',
    table: 'guess_budgets',
    key: ['user_id', 'bucket'],
    isExpired: sql`permanent and updated_at < db_now() - interval '90 days'`,
  },
  // A notice is removed when it is sent. The rows left here could not be sent.
  { table: 'notices', key: ['user_id', 'id'], isExpired: sql`created_at < db_now() - interval '7 days'` },
  // The queues of deleted webhook endpoints.
  {
    table: 'webhook_queues',
    key: ['user_id', 'endpoint_id'],
    isExpired: sql`not exists (select from webhook_endpoints e where e.id = webhook_queues.endpoint_id)`,
  },
  // A row counts the webhook events of one user. It is removed if the user is deleted, or if there is no webhook
  // endpoint. It stays while the user has stored events, so that no two events get the same number. The lock of the
  // relay (webhooks/relay-queries.ts) ensures that no event gets a number during the removal.
  {
    table: 'webhook_users',
    key: ['user_id'],
    isExpired: sql`
      case when not exists (select from webhook_outbox)
            and not exists (select from webhook_events e where e.user_id = webhook_users.user_id)
            and (not exists (select from webhook_endpoints)
                 or webhook_users.user_id <> '00000000-0000-0000-0000-000000000000'
                    and not exists (select from users u where u.id = webhook_users.user_id))
        then pg_try_advisory_xact_lock(7203415045) else false end`,
  },
  {
    table: 'sessions',
    key: ['user_id', 'id'],
    isExpired: sql`expires_at < db_now() - interval '1 day'`,
    // Keeps the time at which the device was last used.
    afterRemoval: sql`
      device as (
        select d.user_id, d.id, removed.used_at from devices d join (
          select user_id, device_id, max(created_at) as used_at from removed group by user_id, device_id) removed
          on removed.user_id = d.user_id and removed.device_id = d.id
        where d.last_used_at is null or d.last_used_at < removed.used_at
        order by d.user_id, d.id for no key update of d),
      kept as (
        update devices d set last_used_at = device.used_at from device
        where d.user_id = device.user_id and d.id = device.id)`,
  },
  // A device on which nobody is logged in any more is kept for a year, so that a login on it is no login on a new device.
  {
    table: 'devices',
    key: ['user_id', 'id'],
    isExpired: sql`
      case when greatest(last_login_at, last_used_at, updated_at) < db_now() - interval '365 days'
        then not exists (select from authentications a
                         where a.user_id = devices.user_id and a.device_id = devices.id and a.status = 'approved'
                           and a.ended_at is null and a.expires_at > db_now())
        else false end`,
  },
  {
    table: 'authentications',
    key: ['user_id', 'id'],
    isExpired: sql`
      case status
        when 'approved' then least(expires_at, ended_at) < db_now() - interval '30 days'
          or ended_at is null and first_used_at is null and ${hasNewerUnused}
        else greatest(expires_at, updated_at) < db_now() - interval '25 hours'
      end`,
  },
];

/** The maximum number of rows that a step removes or reads. */
const batchSizes = { removed: 1000, read: 2000 };
/** Milliseconds from the end of a task to its next start. */
const pauseMs = { indexed: 60_000, unindexed: 3_600_000 };

/** The tasks that remove expired rows. @param eventsAge milliseconds for which audit events are kept */
export function expiryTasks(eventsAge: number): MaintenanceTask[] {
  const age = sql`${bound(eventsAge)}::float8 * interval '1 millisecond'`;
  const events: AgedRows = { table: 'events', key: ['user_id', 'id'], time: 'created_at', age };
  return [...[...indexed, events].map(indexedTask), ...unindexed.map(iteratingTask)];
}

/**
 * Removes the oldest rows first. An index finds them only if the time is computed once, in a subquery. Without the order, the
 * planner expects many expired rows everywhere and reads the whole table. Rows that a request has locked are skipped: the
 * next step removes them.
 */
function indexedTask({ name, table, key, time, age, condition = sql`true` }: AgedRows): MaintenanceTask {
  const columns = join(key.map(identifier), ', ');
  const at = identifier(time);
  const remove = compose(
    sql`delete from ${identifier(table)} where (${columns}) in
          (select ${columns} from ${identifier(table)}
           where ${condition} and ${at} < (select db_now()) - ${age}
           order by ${at} limit ${bound(batchSizes.removed)} for update skip locked)
        returning 1 as removed`,
  );
  return {
    name: name ?? `expire ${table}`,
    pauseMs: pauseMs.indexed,
    async step(tx) {
      const removed = (await tx.query(remove)).length;
      return removed < batchSizes.removed ? { removed } : { removed, next: {} };
    },
  };
}

interface IteratedRow {
  readonly first: string;
  readonly second: string;
  readonly is_expired: boolean;
}

/** The keys of these tables are one or two ids. A step that finds nothing to remove is one read, without locks. */
function iteratingTask({ name, table, key, isExpired, afterRemoval }: ExpiredRows): MaintenanceTask {
  const [first, second = first] = key.map((column) => identifier(`${table}.${column}`));
  if (first === undefined || second === undefined) throw new Error(`the key of ${table} has no columns`);
  const read = (condition: Sql) =>
    compose<IteratedRow>(
      sql`select ${first}::text as first, ${second}::text as second, ${isExpired} as is_expired
          from ${identifier(table)} ${condition}
          order by ${first}, ${second} limit ${bound(batchSizes.read)}`,
    );
  const remove = (expired: readonly IteratedRow[]) =>
    compose(
      sql`with removed as (
          delete from ${identifier(table)}
          using unnest(${bound(expired.map((row) => row.first))}::uuid[], ${bound(expired.map((row) => row.second))}::uuid[])
            as found (first, second)
          where ${first} = found.first and ${second} = found.second and ${isExpired}
          returning ${identifier(table)}.*)${afterRemoval === undefined ? sql`` : sql`, ${afterRemoval}`}
          select 1 as removed from removed`,
    );
  return {
    name: name ?? `expire ${table}`,
    pauseMs: pauseMs.unindexed,
    async step(tx, position) {
      const condition =
        position === undefined
          ? sql``
          : sql`where (${first}, ${second}) > (${bound(position.first)}::uuid, ${bound(position.second)}::uuid)`;
      const rows = await tx.query(read(condition));
      const expired = rows.filter((row) => row.is_expired);
      const removed = expired.length === 0 ? 0 : (await tx.query(remove(expired))).length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchSizes.read) return { removed };
      return { removed, next: { first: last.first, second: last.second } };
    },
  };
}
