import { readdir } from 'node:fs/promises';
import { type Queryable, sql } from './database.js';

/** How the schema of a database compares with this version's migrations. */
export interface SchemaState {
  /** Migrations that were not applied yet. */
  readonly pending: readonly string[];
  /** Migrations that were applied and that this version does not know: it is older than the database. */
  readonly unknown: readonly string[];
}

const folder = new URL('../../migrations/', import.meta.url);

/** Compares, and changes nothing. */
export async function readSchemaState(handle: Queryable): Promise<SchemaState> {
  const own = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const applied = await appliedMigrations(handle);
  return {
    pending: own.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !own.includes(name)),
  };
}

async function appliedMigrations(handle: Queryable): Promise<string[]> {
  const [table] = await handle.query<{ exists: boolean }>(
    sql(`select to_regclass('schema_migrations') is not null as exists`),
  );
  if (table?.exists !== true) return [];
  const rows = await handle.query<{ name: string }>(sql('select name from schema_migrations order by name'));
  return rows.map((row) => row.name);
}
