import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { openClient } from '../../database/connections/open-client.js';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { copyOwner, findEmbeddedInstallation, startEmbeddedPostgres } from '../../embedded/embedded.js';
import type { Log } from '../../embedded/membership.js';
import { installIndexCheck } from '../base/checks.js';
import { withSession } from '../base/session.js';
import { BackupError } from '../container/error.js';
import type { BackupHeader } from '../container/header.js';

/** Where the copy of a dump is restored to verify it. */
export interface TemporaryDatabase {
  /** The URL of a server that gets a new database. Undefined: a new embedded server. */
  readonly server: string | undefined;
  /** The folder of the embedded server, which does not exist. */
  readonly dataDir: string;
  readonly log: Log;
  readonly backup: BackupHeader;
}

/** Runs `work` with a new, empty database, which is removed at the end. @throws BackupError */
export async function withTemporaryDatabase<T>(
  where: TemporaryDatabase,
  work: (target: DatabaseTarget) => Promise<T>,
): Promise<T> {
  return where.server === undefined ? onEmbeddedServer(where, work) : onServer(where.server, work);
}

async function onEmbeddedServer<T>(
  { dataDir, log, backup: { postgres_version: version } }: TemporaryDatabase,
  work: (target: DatabaseTarget) => Promise<T>,
): Promise<T> {
  const { majorVersion } = await findEmbeddedInstallation(join(dataDir, 'postgres'));
  if (majorVersion < Number.parseInt(version, 10)) {
    throw new BackupError(
      `The backup is of PostgreSQL ${version}, and the embedded server, which verifies it, has version ${majorVersion}: ` +
        'set BACKUP_VERIFY_URL to a server on which Postern may create a temporary database.',
    );
  }
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    await giveTo(copyOwner, server.address);
    return await work({ ...server.address, user: copyOwner });
  } finally {
    await server.stop();
  }
}

/**
 * Gives the database to a new role, which can do nothing else. Restoring and reading a dump run functions that are in it, and a
 * superuser can run commands on this machine.
 */
async function giveTo(role: string, address: Exclude<DatabaseTarget, string> & { database: string }): Promise<void> {
  await withSession(address, async (client) => {
    await client.query(`create role ${role} login`);
    await client.query(`alter database ${client.escapeIdentifier(address.database)} owner to ${role}`);
    await installIndexCheck(client, role);
  });
}

async function onServer<T>(url: string, work: (target: DatabaseTarget) => Promise<T>): Promise<T> {
  const name = `postern_verify_${randomBytes(6).toString('hex')}`;
  const temporary = new URL(url);
  temporary.pathname = `/${name}`;
  // template1 may contain objects.
  await onMaintenance(url, `create database ${pg.escapeIdentifier(name)} template template0`);
  try {
    return await work(temporary.toString());
  } finally {
    await onMaintenance(url, `drop database ${pg.escapeIdentifier(name)} with (force)`);
  }
}

async function onMaintenance(url: string, statement: string): Promise<void> {
  const client = await openClient(url, {
    application_name: 'postern backup',
    connectionTimeoutMillis: 10_000,
    settings: { statement_timeout: '0', lock_timeout: '60000' },
  });
  try {
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
