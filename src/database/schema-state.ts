import { readdir } from 'node:fs/promises';
import type { Queryable } from './database.js';
import { compose, sql } from './sql.js';

/** How the schema of a database compares with the migrations of this version. */
export interface SchemaState {
  /** Migrations that are not applied yet. */
  readonly pending: readonly string[];
  /** Applied migrations that this version does not have: it is older than the database. */
  readonly unknown: readonly string[];
}

const folder = new URL('../../migrations/', import.meta.url);

/** Reads the state. Changes nothing. */
export async function readSchemaState(handle: Queryable): Promise<SchemaState> {
  const ownMigrations = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const applied = await appliedMigrations(handle);
  return {
    pending: ownMigrations.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !ownMigrations.includes(name)),
  };
}

async function appliedMigrations(handle: Queryable): Promise<string[]> {
  const [table] = await handle.query(
    compose<{ exists: boolean }>(sql`select to_regclass('schema_migrations') is not null as exists`),
  );
  if (table?.exists !== true) return [];
  const rows = await handle.query(compose<{ name: string }>(sql`select name from schema_migrations order by name`));
  return rows.map((row) => row.name);
}
