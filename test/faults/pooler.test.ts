import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClient } from '../../src/database/connections/open-client.js';
import { createDatabase } from '../../src/database/database.js';
import { compose, sql } from '../../src/database/sql.js';
import { eventually } from '../support/eventually.js';
import {
  createServerFolder,
  freePort,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
} from '../support/fault-injection/postgres.js';
import { createInstallation } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService, runProcess } from '../support/process.js';
import { createUser, signIn } from '../support/users.js';

let folder: ServerFolder;
let server: PostgresServer;

beforeAll(buildService, BUILD_TIMEOUT);
beforeAll(async () => {
  folder = await createServerFolder();
  server = await startPrimary(folder);
});
afterAll(() => folder?.remove());

/** Starts PgBouncer in front of the server. @returns its URL */
async function startPgBouncer(mode: 'session' | 'transaction', extra = ''): Promise<string> {
  const port = await freePort();
  const file = join(folder.path, `${mode}.ini`);
  const settings = [
    '[databases]',
    `postern = host=127.0.0.1 port=${server.port} user=postgres`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
    ...[`pool_mode = ${mode}`, 'default_pool_size = 90', extra],
  ];
  await writeFile(file, settings.join('\n'));
  folder.start('/usr/sbin/pgbouncer', file);
  const url = `postgres://postgres@127.0.0.1:${port}/postern`;
  await eventually('PgBouncer', async () => {
    const client = await openClient(url, { application_name: 'test', connectionTimeoutMillis: 1000 }).catch(
      () => undefined,
    );
    await client?.end();
    return client;
  });
  return url;
}

test('behind PgBouncer in session mode the service works, with the limits of its statements', async ({
  onTestFinished,
}) => {
  const url = await startPgBouncer('session');
  const installation = await createInstallation({ DATABASE_URL: url });
  onTestFinished(() => installation.remove());
  const service = await installation.start();
  const { session } = await signIn(service, await createUser(service));
  expect((await service.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  expect(await service.stop()).toBe(0);

  const database = createDatabase({ target: url, size: 2, onConnectionError: () => undefined });
  onTestFinished(() => database.close());
  const limits = compose<{ statement: string; lock: string }, 'everyone'>(
    'everyone',
    sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
  );
  expect(await database.everyone.query(limits)).toEqual([{ statement: '4s', lock: '2s' }]);
});

test.each(['', 'server_round_robin = 1'])(
  'PgBouncer in transaction mode is refused, and leaves no lock behind (%s)',
  async (extra) => {
    const DATABASE_URL = await startPgBouncer('transaction', extra);
    const installation = await createInstallation({ DATABASE_URL });
    const { exitCode, stderr } = await runProcess({
      cwd: join(installation.folder, 'cwd'),
      env: { PORT: '0', DATA_DIR: installation.dataDir, DATABASE_URL, SECRET_KEY: 'x'.repeat(32) },
    });
    await installation.remove();
    expect(stderr).toContain('The pooler of DATABASE_URL gives each transaction another session (transaction mode).');
    expect(exitCode).toBe(1);
    expect(await server.query("select 1 from pg_locks where locktype = 'advisory'")).toEqual([]);
  },
);
