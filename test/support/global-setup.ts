import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/embedded/embedded.js';
import { migrate } from '../../src/schema/migrate.js';
import { createRunningRole } from '../../src/schema/running-role.js';
import { copyServerFiles, sharedBuffers, walSegmentBytes } from './cluster.js';
import { createRunFolder, removeRunFolder } from './run-folder.js';

/** The tests' PostgreSQL server, as fields for `pg`. */
export interface TestServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    server: TestServer;
    /** The name of the migrated database. Each run has its own, because several may use one server at the same time. */
    template: string;
    /** The data directory of a stopped server whose database `postern` is migrated. See `copyCluster`. */
    cluster: string;
    /** The role of the services of the tests, which cannot change the schema. */
    runningRole: string;
  }
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * One PostgreSQL for the whole run: that of TEST_DATABASE_URL, or a temporary embedded one. Test files clone its migrated
 * template database.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await createRunFolder();
  // The processes of the files inherit this.
  process.env.TMPDIR = folder.temporary;
  const cluster = await createCluster(folder.cluster);
  const { server, isOurs, stop } = await openServer(process.env.TEST_DATABASE_URL, cluster, folder.data);
  await removeUnused(folder.cluster);
  const template = `postern_test_template_${process.pid}`;
  await runAsAdmin(server, [
    `drop database if exists ${template}`,
    `create database ${template}${isOurs ? ' template postern' : ''}`,
    // A temporary database needs no fsync.
    ...(isOurs ? ['alter role current_user set synchronous_commit = off'] : []),
  ]);
  if (!isOurs) await migrate({ ...server, database: template }, quiet);
  const runningRole = `postern_test_app_${process.pid}`;
  await createRunningRole({ ...server, database: template }, runningRole);
  project.provide('runningRole', runningRole);
  project.provide('cluster', cluster);
  project.provide('server', server);
  project.provide('template', template);
  return async () => {
    if (!isOurs) {
      await runAsAdmin(server, [`drop database if exists ${template} with (force)`, `drop role ${runningRole}`]);
    }
    await stop();
    await removeRunFolder(folder.path);
  };
}

async function runAsAdmin(server: TestServer, statements: readonly string[]): Promise<void> {
  const admin = new pg.Client({ ...server, database: 'postgres' });
  await admin.connect();
  for (const statement of statements) await admin.query(statement);
  await admin.end();
}

/** Creates and migrates the database of an embedded server. @returns the data directory of the stopped server */
async function createCluster(dataDir: string): Promise<string> {
  const embedded = await startEmbeddedPostgres({
    dataDir,
    log: quiet,
    // initdb chooses limits for the size of the log that suit the size of a segment. These are the usual ones.
    initdbOptions: [
      `--wal-segsize=${walSegmentBytes / 2 ** 20}`,
      ...['--set=max_wal_size=1GB', '--set=min_wal_size=80MB'],
    ],
  });
  await migrate(embedded.address, quiet);
  await embedded.stop();
  return join(dataDir, 'postgres');
}

/**
 * Removes what a service does not need, because the tests of backups write and read all files again and again: the template databases
 * are half of the files. A third of the rest are maps of free space and of visible rows, which a server writes again when it needs them.
 */
async function removeUnused(dataDir: string): Promise<void> {
  const embedded = await startEmbeddedPostgres({ dataDir, log: quiet });
  await runAsAdmin(embedded.address, [
    "update pg_database set datistemplate = false where datname like 'template_'",
    'drop database template0',
    'drop database template1',
  ]);
  await embedded.stop();
  const base = join(dataDir, 'postgres', 'base');
  const maps = (await readdir(base, { recursive: true })).filter((name) => /_(fsm|vm)$/.test(name));
  for (const name of maps) await rm(join(base, name));
}

async function openServer(
  url: string | undefined,
  cluster: string,
  dataDir: string,
): Promise<{ server: TestServer; isOurs: boolean; stop: () => Promise<void> }> {
  if (url !== undefined) {
    const { hostname, port, username, password } = new URL(url);
    const server = { host: hostname, port: Number(port || 5432), user: decodeURIComponent(username) };
    return {
      isOurs: false,
      server: password === '' ? server : { ...server, password: decodeURIComponent(password) },
      stop: async () => undefined,
    };
  }
  await mkdir(dataDir, { mode: 0o700 });
  await copyServerFiles(cluster, join(dataDir, 'postgres'));
  const embedded = await startEmbeddedPostgres({ dataDir, log: quiet, sharedBuffers });
  const { host, port, user } = embedded.address;
  return {
    isOurs: true,
    // The path of the socket's folder goes through a descriptor of this process, also for the processes of the tests.
    server: { host: host.replace('/proc/self/', `/proc/${process.pid}/`), port, user },
    stop: () => embedded.stop(),
  };
}
