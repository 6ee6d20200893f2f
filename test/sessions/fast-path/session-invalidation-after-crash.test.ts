import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase } from '../../../src/database/database.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { newToken } from '../../../src/lib/crypto/token-strings.js';
import { newId } from '../../../src/lib/ids.js';
import { sessionChangesTask } from '../../../src/sessions/fast-path/session-invalidation.js';
import { createSnapshotVerifier } from '../../../src/sessions/fast-path/snapshot-verifier.js';
import { startMigratedPostgres } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';

/** Starts a separate server, because the test crashes it. */
async function startServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'postern-crash-'));
  const embedded = await startMigratedPostgres(dataDir);
  const target = embedded.address;
  return {
    target,
    async stop() {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function connect(target: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(target);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * Rolls back transactions, whose numbers never reach the write-ahead log, calls `check`, and crashes the server.
 * Returns when the server has restarted.
 */
async function crashAfterRollbacks(target: pg.ClientConfig, userId: string, check: () => Promise<unknown>) {
  const client = await connect(target);
  for (let count = 0; count < 20; count += 1) {
    await client.query('begin');
    await client.query('update users set name = name where id = $1', [userId]);
    await client.query('rollback');
  }
  await check();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const bystander = await connect(target);
  const ended = new Promise((resolve) => bystander.once('end', resolve));
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  // Until the server notices the crash, its other connections still work.
  await ended;
  await eventually('the server to be back', async () => {
    try {
      await (await connect(target)).end();
      return true;
    } catch {
      return undefined;
    }
  });
}

test.each([false, true])(
  'a session that is revoked after a crash is refused, although transaction numbers are reused (maintenance first: %s)',
  async (maintenanceFirst) => {
    const server = await startServer();
    const database = createDatabase({ target: server.target, size: 5, onConnectionError: () => undefined });
    try {
      const [userId, authenticationId, id] = [newId(), newId(), newId()];
      const { token, digest } = newToken('session', [userId, id]);
      await database.query(
        testSql('insert into users (id, created_at, updated_at) select $1, now, now from db_now() now', [userId]),
      );
      await database.query(
        testSql(
          `insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
           select $1, $2, $2, 'password', 'approved', 0, now + interval '1 day', now, now from db_now() now`,
          [userId, authenticationId],
        ),
      );
      await database.query(
        testSql(
          `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
           select $1, $2, $3, $3, $4, now, now + interval '1 hour' from db_now() now`,
          [userId, id, authenticationId, digest],
        ),
      );
      const { verify } = createSnapshotVerifier(database);
      for (let count = 0; count < 3; count += 1) await verify(token);
      await crashAfterRollbacks(server.target, userId, () => verify(token));

      if (maintenanceFirst) await runMaintenanceOnce(database, [sessionChangesTask]);
      await database.query(testSql('update users set epoch = epoch + 1 where id = $1', [userId]));
      for (let count = 0; count < 3; count += 1) {
        await expect(verify(token)).rejects.toThrow('invalid_session_token');
      }
    } finally {
      await database.close();
      await server.stop();
    }
  },
);
