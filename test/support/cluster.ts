import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded.js';

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
  return startEmbeddedPostgres({ dataDir, log: silent });
}
