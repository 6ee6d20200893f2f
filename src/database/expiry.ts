import type { Chore } from './chores.js';
import { sql } from './database.js';

/** Rows of a table that have outlived their use. */
interface Expired {
  readonly table: string;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  /** What tells them. */
  readonly when: string;
}

/** Found by an index, so that a look with nothing to do costs nothing. */
const indexed: readonly Expired[] = [
  {
    table: 'guess_budgets',
    key: ['user_id', 'bucket'],
    when: `not permanent and updated_at < db_now() - interval '30 days'`,
  },
  { table: 'request_limits', key: ['key'], when: 'refilled_at < db_now()' },
  { table: 'message_limits', key: ['key'], when: `updated_at < db_now() - interval '1 day'` },
  {
    table: 'idempotency_keys',
    key: ['caller', 'key_digest'],
    when: `created_at < db_now() - interval '25 hours'`,
  },
  { table: 'outbox', key: ['user_id', 'id'], when: `created_at < db_now() - interval '30 days'` },
  // Nobody can answer it any more; for a while it shows what there was.
  { table: 'challenges', key: ['user_id', 'id'], when: `expires_at < db_now() - interval '1 day'` },
  { table: 'push_deliveries', key: ['user_id', 'id'], when: `created_at < db_now() - interval '30 days'` },
  // Nobody derives pushes from them where push was switched off; and nothing is sent any more that is this old.
  { table: 'publications', key: ['id'], when: `created_at < db_now() - interval '28 days'` },
];

/**
 * Found by walking through the table in the order of its key: these rows are written while somebody waits, and an index
 * more would be written each time. A login that came to nothing can be read for 24 hours.
 */
const walked: readonly Expired[] = [
  // Taken away as they are told; what is left is what could not be.
  { table: 'notices', key: ['user_id', 'id'], when: `created_at < db_now() - interval '7 days'` },
  { table: 'sessions', key: ['user_id', 'id'], when: `expires_at < db_now() - interval '1 day'` },
  {
    table: 'authentications',
    key: ['user_id', 'id'],
    when: `case status when 'approved' then least(expires_at, ended_at) < db_now() - interval '30 days'
           else greatest(expires_at, updated_at) < db_now() - interval '25 hours' end`,
  },
];

/** Rows that a step removes, or looks at, at most. */
const batch = { removed: 1000, walked: 2000 };
/** Milliseconds from one look to the next. */
const rest = { indexed: 60_000, walked: 3_600_000 };

/** Removes what has expired. @param eventsAge milliseconds for which audit events are kept */
export function expiryChores(eventsAge: number): Chore[] {
  const events = {
    table: 'events',
    key: ['user_id', 'id'],
    when: `created_at < db_now() - interval '${eventsAge} milliseconds'`,
  };
  return [...[...indexed, events].map(lookUp), ...walked.map(walk)];
}

function lookUp({ table, key, when }: Expired): Chore {
  const columns = key.join(', ');
  const remove = sql(
    `delete from ${table} where (${columns}) in
       (select ${columns} from ${table} where ${when} limit ${batch.removed} for update skip locked)
     returning 1 as removed`,
  );
  return {
    name: `expire ${table}`,
    rest: rest.indexed,
    async step(tx) {
      const removed = (await tx.query(remove)).length;
      return removed < batch.removed ? { removed } : { removed, next: {} };
    },
  };
}

/** Keys of what is walked are two ids. A step with nothing to remove is one read. */
function walk({ table, key: [first = '', second = ''], when }: Expired): Chore {
  const slice = (where: string) =>
    sql(
      `select ${first}::text as first, ${second}::text as second, ${when} as is_expired
       from ${table} ${where} order by ${table}.${first}, ${table}.${second} limit ${batch.walked}`,
    );
  const begin = slice('');
  const goOn = slice(`where (${first}, ${second}) > ($1::uuid, $2::uuid)`);
  const remove = sql(
    `delete from ${table} using unnest($1::uuid[], $2::uuid[]) as found (first, second)
     where ${first} = found.first and ${second} = found.second and ${when}
     returning 1 as removed`,
  );
  return {
    name: `expire ${table}`,
    rest: rest.walked,
    async step(tx, from) {
      const seen = await (from === undefined
        ? tx.query<WalkedRow>(begin)
        : tx.query<WalkedRow>(goOn, [from.first, from.second]));
      const expired = seen.filter((row) => row.is_expired);
      const keys = [expired.map((row) => row.first), expired.map((row) => row.second)];
      const removed = expired.length === 0 ? 0 : (await tx.query(remove, keys)).length;
      const last = seen.at(-1);
      if (last === undefined || seen.length < batch.walked) return { removed };
      return { removed, next: { first: last.first, second: last.second } };
    },
  };
}

interface WalkedRow {
  readonly first: string;
  readonly second: string;
  readonly is_expired: boolean;
}
