import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/database/database.js';
import type { TestServer } from './global-setup.js';

export type TestTarget = TestServer & { readonly database: string };

export interface TestDatabase {
  readonly target: TestTarget;
  /** The target as a connection string, for processes that a test starts. */
  readonly url: string;
  readonly database: Database;
  drop(): Promise<void>;
}

/**
 * A fresh database with the product's schema, on the run's server. Drop it in `afterAll`.
 * @param options of `create database`. The default copies the template of the tests. With other options, the database is
 *   empty
 * @param limits `queryTimeout` is that of `createDatabase`. Tests in which statements wait for a lock that the test holds need a
 *   long one: on a busy machine, the lock may be held for longer than the service waits
 */
export async function createTestDatabase(
  options = `template ${inject('template')} strategy file_copy`,
  limits: Pick<DatabaseOptions, 'queryTimeout'> = {},
): Promise<TestDatabase> {
  const server = inject('server');
  const name = `postern_test_${randomBytes(6).toString('hex')}`;
  await runInPostgresDatabase(server, `create database ${name} ${options}`);
  const target = { ...server, database: name };
  const database = createDatabase({ target, size: 10, onConnectionError: () => undefined, ...limits });
  return {
    target,
    url: connectionString(target),
    database,
    async drop() {
      await database.close();
      await runInPostgresDatabase(server, `drop database if exists ${name} with (force)`);
    },
  };
}

export function connectionString({ host, port, user, password, database }: TestTarget): string {
  const auth = password === undefined ? user : `${user}:${encodeURIComponent(password)}`;
  // The folder of a socket is a parameter, because a host name cannot contain slashes.
  if (host.startsWith('/')) return `postgres://${auth}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  return `postgres://${auth}@${host}:${port}/${database}`;
}

/** A connection string whose sessions have the rights of a role. It must be a role of the user. */
export function withRole(url: string, role: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c role=${role}`)}`;
}

let admin: Promise<pg.Client> | undefined;

/** Runs a statement in the database `postgres` of the server. The files of a process share the connection. */
async function runInPostgresDatabase(server: TestServer, statement: string): Promise<void> {
  admin ??= connectToPostgresDatabase(server);
  const client = await admin;
  await client.query(statement);
}

async function connectToPostgresDatabase(server: TestServer): Promise<pg.Client> {
  const client = new pg.Client({ ...server, database: 'postgres' });
  const forget = () => {
    admin = undefined;
  };
  client.on('error', forget).on('end', forget);
  await client.connect();
  return client;
}
