import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { sessionChangesChore } from '../../src/authentication/session-changes.js';
import { createSessions } from '../../src/authentication/sessions.js';
import { finishChores } from '../../src/database/chores.js';
import { createDatabase, sql } from '../../src/database/database.js';
import { startEmbeddedPostgres } from '../../src/database/embedded.js';
import { migrate } from '../../src/database/migrate.js';
import { newId } from '../../src/lib/ids.js';
import { newToken } from '../../src/lib/token-strings.js';
import { eventually } from '../support/eventually.js';

vi.setConfig({ testTimeout: 90_000 });

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A server of its own, for it is to crash. */
async function startServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'postern-crash-'));
  const embedded = await startEmbeddedPostgres({ dataDir, log: quiet });
  const target = { ...embedded.address, database: 'postgres' };
  await migrate(target);
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

/** A transaction that is rolled back has a number, and nobody waits until the log says so. Returns once the server is back. */
async function crashAfterRollbacks(target: pg.ClientConfig, userId: string, look: () => Promise<unknown>) {
  const client = await connect(target);
  for (let count = 0; count < 20; count += 1) {
    await client.query('begin');
    await client.query('update users set name = name where id = $1', [userId]);
    await client.query('rollback');
  }
  await look();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const bystander = await connect(target);
  const ended = new Promise((resolve) => bystander.once('end', resolve));
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  // Until the server has noticed, its other connections go on as if nothing had happened.
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
  'a session that is revoked after a crash is refused, though numbers of transactions begin anew (chore first: %s)',
  async (choreFirst) => {
    const server = await startServer();
    const database = createDatabase({ target: server.target, size: 5, onConnectionError: () => undefined });
    try {
      const [userId, authenticationId, id] = [newId(), newId(), newId()];
      const { token, digest } = newToken('session', [userId, id]);
      await database.query(
        sql('insert into users (id, created_at, updated_at) select $1, now, now from db_now() now'),
        [userId],
      );
      await database.query(
        sql(`insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
           select $1, $2, $2, 'password', 'approved', 0, now + interval '1 day', now, now from db_now() now`),
        [userId, authenticationId],
      );
      await database.query(
        sql(`insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
           select $1, $2, $3, $3, $4, now, now + interval '1 hour' from db_now() now`),
        [userId, id, authenticationId, digest],
      );
      const { verify } = createSessions(database, { lifetime: 60_000, batching: true });
      for (let count = 0; count < 3; count += 1) await verify(token);
      await crashAfterRollbacks(server.target, userId, () => verify(token));

      if (choreFirst) await finishChores(database, [sessionChangesChore]);
      await database.query(sql('update users set epoch = epoch + 1 where id = $1'), [userId]);
      for (let count = 0; count < 3; count += 1) {
        await expect(verify(token)).rejects.toThrow('invalid_session_token');
      }
    } finally {
      await database.close();
      await server.stop();
    }
  },
);
