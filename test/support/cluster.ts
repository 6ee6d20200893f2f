import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { inject } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded.js';

/**
 * Megabytes of memory of a test's server. A server prepares all of its memory when it starts, and looks through it at each checkpoint and
 * for each database that is created or dropped. A small memory also stays in the caches of the processor.
 */
export const sharedBuffers = 64;

/**
 * The size of a segment of the write-ahead log in the copied cluster. Each backup contains at least one segment, so with the 16 MB of
 * the product most of a backup would be an empty log. A test for which this matters has a data directory that the product creates.
 */
export const walSegmentBytes = 1024 * 1024;

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Copies a data directory of a stopped server. Keeps the owner of each file: root's server runs as another account. */
export async function copyServerFiles(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

/**
 * Puts a migrated embedded database into a new DATA_DIR. A copy of the files takes a tenth of the time in which `initdb` and the
 * migrations write them. Not for tests of the first start.
 */
export async function copyCluster(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyServerFiles(inject('cluster'), join(dataDir, 'postgres'));
}

/** Starts an embedded PostgreSQL whose database has the schema of the product. */
export async function startMigratedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  await copyCluster(dataDir);
  return startEmbeddedPostgres({ dataDir, log: silent, sharedBuffers });
}

/**
 * Starts an embedded PostgreSQL for tests of backups, whose database has only the tables of backups. Without the files of all other
 * tables, each backup and each restored copy takes two thirds of the time.
 */
export async function startBackupPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startMigratedPostgres(dataDir);
  const client = new pg.Client(server.address);
  await client.connect();
  await client.query(`do $$ begin execute (
    select 'drop table ' || string_agg(oid::regclass::text, ', ') || ' cascade' from pg_class
    where relkind in ('r', 'p') and relnamespace in ('public'::regnamespace, 'graphile_worker'::regnamespace)
      and relname not in ('backups', 'backup_archive')); end $$`);
  // Removes the files.
  await client.query('checkpoint');
  await client.end();
  return server;
}
