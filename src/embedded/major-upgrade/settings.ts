import pg from 'pg';
import type { Log } from '../membership.js';

/**
 * Settings that are not copied: those of a recovery, of standbys, of certificates and of the places of files. With
 * them, the new server would not start because files are missing, or would wait for a standby that cannot follow it.
 */
const notMoved =
  /^(recovery_|restore_command|archive_cleanup|primary_|hot_standby|synchronous_standby|ssl|.*_(directory|directories|file)$)/;

/** Settings whose values are lists of names. */
const isList = (name: string) => /_preload_libraries$|^search_path$|^temp_tablespaces$/.test(name);

const selectFileSettings = `
  select distinct on (name) name, setting from pg_file_settings where setting is not null order by name, seqno desc`;

const selectSessionSettings = `
  select d.datname as database, r.rolname as role, c.config
  from pg_db_role_setting s left join pg_database d on d.oid = s.setdatabase left join pg_roles r on r.oid = s.setrole
  cross join unnest(s.setconfig) as c(config)`;

/**
 * Copies the settings in the configuration files of a server that differ from the defaults of a new server. Also copies
 * the settings of databases and roles. Reports a setting that the new server does not know.
 */
export async function copySettings(from: pg.Client, to: pg.Client, log: Log): Promise<void> {
  const { rows: own } = await to.query<{ name: string; setting: string }>(selectFileSettings);
  const known = new Map(own.map(({ name, setting }) => [name, setting]));
  const { rows: files } = await from.query<{ name: string; setting: string }>(selectFileSettings);
  for (const { name, setting } of files) {
    if (notMoved.test(name) || known.get(name) === setting) continue;
    await change(to, 'alter system', name, setting, log);
  }
  const { rows: sessions } = await from.query<{ database: string | null; role: string | null; config: string }>(
    selectSessionSettings,
  );
  for (const { database, role, config } of sessions) {
    const [name = ''] = config.split('=', 1);
    await change(to, targetOf(database, role), name, config.slice(name.length + 1), log);
  }
}

function targetOf(database: string | null, role: string | null): string {
  if (role === null) return `alter database ${pg.escapeIdentifier(database ?? '')}`;
  return `alter role ${pg.escapeIdentifier(role)}${database === null ? '' : ` in database ${pg.escapeIdentifier(database)}`}`;
}

async function change(to: pg.Client, target: string, name: string, value: string, log: Log): Promise<void> {
  const values = isList(name) ? value.split(',').map((part) => part.trim().replace(/^"(.*)"$/, '$1')) : [value];
  const parameter = name.split('.').map(pg.escapeIdentifier).join('.');
  try {
    await to.query(`${target} set ${parameter} to ${values.map(pg.escapeLiteral).join(', ')}`);
  } catch (error) {
    log.warn({ err: error, setting: name }, 'A setting of the former PostgreSQL does not apply to the new one');
  }
}
