import type { Queryable } from '../../database/database.js';
import { bound, compose, sql } from '../../database/sql.js';

/** A setting of PostgreSQL with which Postern cannot keep a promise. */
export interface HarmfulSetting {
  readonly name: string;
  /** As PostgreSQL shows it. */
  readonly value: string;
  readonly consequence: string;
  /** The statement that changes it. */
  readonly cure: string;
}

interface Rule {
  readonly name: string;
  /** Values that break the promise. A number is in the unit of `pg_settings`. */
  readonly isHarmful: (value: string) => boolean;
  readonly consequence: string;
  readonly cure: string;
}

const [isOn, isOff] = ['on', 'off'].map((harmful) => (value: string) => value === harmful) as [
  Rule['isHarmful'],
  Rule['isHarmful'],
];
const reload = 'select pg_reload_conf()';
const set = (name: string, value: string) => `alter system set ${name} = ${value}; ${reload}`;
const damage = 'a crash of the machine can damage the database';
const growth = 'PostgreSQL does not remove dead rows, so tables grow and statements become slow';

/** Milliseconds. A shorter limit of a role ends statements sooner than Postern's own limit (`requestSettings`). */
const statementLimit = 4000;

/**
 * Limits of sessions are absent, except for `statement_timeout`: each connection sets its own values first
 * (`prepareSession`). `default_transaction_read_only` is absent, because such a connection is refused.
 */
const rules: readonly Rule[] = [
  { name: 'fsync', isHarmful: isOff, consequence: damage, cure: set('fsync', 'on') },
  { name: 'full_page_writes', isHarmful: isOff, consequence: damage, cure: set('full_page_writes', 'on') },
  {
    name: 'synchronous_commit',
    isHarmful: isOff,
    consequence: 'a crash of PostgreSQL can lose changes that Postern has acknowledged',
    cure: set('synchronous_commit', 'on'),
  },
  {
    name: 'data_sync_retry',
    isHarmful: isOn,
    consequence: 'after an error of the disk, PostgreSQL can report changes as stored that are lost',
    cure: `alter system set data_sync_retry = off; then restart PostgreSQL`,
  },
  {
    name: 'zero_damaged_pages',
    isHarmful: isOn,
    consequence: 'PostgreSQL deletes the rows of a damaged page without an error',
    cure: set('zero_damaged_pages', 'off'),
  },
  {
    name: 'ignore_checksum_failure',
    isHarmful: isOn,
    consequence: 'PostgreSQL returns the rows of a damaged page without an error',
    cure: set('ignore_checksum_failure', 'off'),
  },
  { name: 'autovacuum', isHarmful: isOff, consequence: growth, cure: set('autovacuum', 'on') },
  {
    name: 'track_counts',
    isHarmful: isOff,
    consequence: `autovacuum does not work without it: ${growth}`,
    cure: set('track_counts', 'on'),
  },
  {
    name: 'session_replication_role',
    isHarmful: (value) => value === 'replica',
    consequence: 'triggers do not run, so counts and the numbers of changes become wrong',
    cure: set('session_replication_role', 'origin'),
  },
  {
    name: 'statement_timeout',
    isHarmful: (value) => Number(value) > 0 && Number(value) < statementLimit,
    consequence:
      'PostgreSQL can cancel the first statement of a connection, in which Postern sets its own limit, and other programs such as a backup can fail',
    cure: set('statement_timeout', '0'),
  },
];

interface SettingRow {
  readonly name: string;
  readonly value: string;
  readonly unit: string | null;
  readonly reset_statement: string | null;
}

interface ConnectionRow {
  readonly name: string;
  readonly value: number;
}

/**
 * Finds settings of the server, of the database and of the role with which Postern cannot keep a promise.
 * @param connections the number of connections that this instance may open
 */
export async function findHarmfulSettings(handle: Queryable, connections: number): Promise<HarmfulSetting[]> {
  // The value that the session began with, because Postern has set some of them. The statement of a role goes before that
  // of a database.
  const rows = await handle.query(
    compose<SettingRow>(
      sql`select s.name, s.reset_val as value, s.unit, own.reset_statement
          from pg_settings s left join lateral (
            select concat_ws(' ', 'alter',
                     case when r.setrole <> 0 then format('role %I', pg_get_userbyid(r.setrole)) end,
                     case when r.setrole <> 0 and r.setdatabase <> 0 then 'in' end,
                     case when r.setdatabase <> 0 then format('database %I', current_database()) end,
                     case when r.setrole = 0 and r.setdatabase = 0 then 'role all' end,
                     'reset', s.name) as reset_statement
            from pg_db_role_setting r, unnest(r.setconfig) entry
            where split_part(entry, '=', 1) = s.name
              and r.setdatabase in (0, (select oid from pg_database where datname = current_database()))
              and r.setrole in (0, (select oid from pg_roles where rolname = session_user))
            order by r.setrole <> 0 desc, r.setdatabase <> 0 desc limit 1) own on true
          where s.name = any(${bound(rules.map(({ name }) => name))}::text[])`,
    ),
  );
  const harmful = rules.flatMap(({ name, isHarmful, consequence, cure }) => {
    const row = rows.find((candidate) => candidate.name === name);
    if (row === undefined || !isHarmful(row.value)) return [];
    return [{ name, value: `${row.value}${row.unit ?? ''}`, consequence, cure: row.reset_statement ?? cure }];
  });
  return [...harmful, ...(await tooFewConnections(handle, connections))];
}

/** The smallest limit of connections, if it is less than what this instance may open. */
async function tooFewConnections(handle: Queryable, needed: number): Promise<HarmfulSetting[]> {
  const limits = await handle.query(
    compose<ConnectionRow>(
      sql`select name, value from (
            select 'max_connections' as name, (select sum(case name when 'max_connections' then setting::int else -setting::int end)
              from pg_settings where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections'))::int as value
            union all
            select 'connection limit of the role', rolconnlimit from pg_roles where rolname = session_user
            union all
            select 'connection limit of the database', datconnlimit from pg_database where datname = current_database()
          ) limits where value >= 0 order by value limit 1`,
    ),
  );
  return limits.flatMap(({ name, value }) => {
    if (value >= needed) return [];
    const isServer = name === 'max_connections';
    return [
      {
        name,
        value: isServer ? `${value} without those that are reserved` : `${value}`,
        consequence: `this instance opens up to ${needed} connections, so requests fail with 503 under load`,
        cure: isServer
          ? 'raise max_connections and restart PostgreSQL, or set fewer WORKERS'
          : `raise it with alter ${name.endsWith('role') ? 'role' : 'database'} … connection limit, or set fewer WORKERS`,
      },
    ];
  });
}

/** One sentence about a setting, for the log and the doctor. */
export function describeSetting({ name, value, consequence, cure }: HarmfulSetting): string {
  return `${name} is ${value}: ${consequence}. To change it: ${cure}`;
}
