import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { connectionFields, type DatabaseTarget } from '../../src/database/connections/target.js';

/** Larger files are not read: they are sparse files of tests. */
const maxReadBytes = 100e6;

/** A digest of the names, times, modes and contents in a folder, for tests that nothing was written. Links are followed. */
export async function folderDigest(folder: string): Promise<string> {
  const digest = createHash('sha256');
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const found = await stat(path);
    digest.update(`${name} ${found.size} ${found.mtimeMs} ${found.mode}\n`);
    if (found.isFile() && found.size < maxReadBytes) digest.update(await readFile(path));
  }
  return digest.digest('hex');
}

/**
 * A digest of all that is in a database: the definitions of its objects, and its rows with the transactions that wrote them.
 * It leaves out what PostgreSQL itself changes at any time, such as statistics.
 */
export async function databaseDigest(target: DatabaseTarget): Promise<string> {
  const client = new pg.Client({ ...connectionFields(target), ssl: false });
  await client.connect();
  try {
    const digest = createHash('sha256');
    const { rows: tables } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relkind in ('r', 'S') and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'pg_toast')
       order by 1`,
    );
    const catalogs = [
      'pg_attribute',
      'pg_proc',
      'pg_type',
      'pg_constraint',
      'pg_trigger',
      'pg_namespace',
      'pg_extension',
    ];
    const sources = [
      '(select oid, relname, relkind, relfilenode from pg_class)',
      ...catalogs.map((name) => `(select *, xmin from ${name})`),
      ...tables.map(({ name }) => `(select *, xmin from ${name})`),
    ];
    for (const source of sources) {
      const { rows } = await client.query(
        `select count(*), sum(hashtextextended(r::text, 0)::numeric) from ${source} r`,
      );
      digest.update(`${source} ${JSON.stringify(rows)}\n`);
    }
    return digest.digest('hex');
  } finally {
    await client.end();
  }
}
