import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Queryable } from '../database/database.js';
import { compose, sql } from '../database/sql.js';
import { packageFolder } from '../lib/own-package.js';

/** How the schema of a database compares with the migrations of this version. */
export interface SchemaState {
  /** Migrations that are not applied yet. */
  readonly pending: readonly string[];
  /** Why this version cannot use the schema, and what to do. Undefined if it can. */
  readonly refusal?: string;
}

/** The folder with the migrations of this version. */
export const migrationsFolder = fileURLToPath(new URL('migrations/', packageFolder));

/** The first migration of databases from before the first release. No step leads from their schema to the present one. */
const formerSchema = '0001_foundation.sql';

/** The names of the migrations in a folder, in their order. */
export async function listMigrations(folder = migrationsFolder): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
}

/** Compares the names of applied migrations with those of this version. */
export function compareMigrations(applied: readonly string[], own: readonly string[]): SchemaState {
  const refusal = refusalOf(applied, own);
  return {
    pending: own.filter((name) => !applied.includes(name)),
    ...(refusal !== undefined && { refusal }),
  };
}

function refusalOf(applied: readonly string[], own: readonly string[]): string | undefined {
  if (applied.includes(formerSchema)) {
    return (
      'The database was created by a Postern from before the first release, and this version cannot use it. ' +
      'Nothing was changed. Start with a new database: set DATABASE_URL or DATA_DIR to another one. ' +
      'If you need data from this one, export it first with the version that created it'
    );
  }
  const unknown = applied.filter((name) => !own.includes(name));
  if (unknown.length === 0) return undefined;
  return `The database is newer than this version, which does not know ${unknown.join(', ')}: run a newer Postern`;
}

/** Reads the state. Changes nothing. */
export async function readSchemaState(handle: Queryable): Promise<SchemaState> {
  return compareMigrations(await appliedMigrations(handle), await listMigrations());
}

async function appliedMigrations(handle: Queryable): Promise<string[]> {
  const [table] = await handle.query(
    compose<{ exists: boolean }>(sql`select to_regclass('schema_migrations') is not null as exists`),
  );
  if (table?.exists !== true) return [];
  const rows = await handle.query(compose<{ name: string }>(sql`select name from schema_migrations order by name`));
  return rows.map((row) => row.name);
}
