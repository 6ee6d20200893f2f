import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openClient } from '../../src/database/connections/open-client.js';
import { createDatabase } from '../../src/database/database.js';
import { compose, sql } from '../../src/database/sql.js';
import { runCommand } from '../cli/command.js';
import { databaseDigest } from '../support/digests.js';
import { eventually } from '../support/eventually.js';
import { startPgBouncer } from '../support/fault-injection/pgbouncer.js';
import {
  createServerFolder,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
  startStandby,
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

test('behind PgBouncer in session mode the service works, and its statements have their time limits', async () => {
  const { url } = await startPgBouncer(folder, server, 'session');
  const installation = await createInstallation({ DATABASE_URL: url });
  onTestFinished(() => installation.remove());
  const service = await installation.start();
  const { session } = await signIn(service, await createUser(service));
  expect((await service.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  expect(await service.stop()).toBe(0);

  const database = createDatabase({ target: url, size: 2, onConnectionError: () => undefined });
  onTestFinished(() => database.close());
  const limits = compose<{ statement: string; lock: string }>(
    sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
  );
  expect(await database.query(limits)).toEqual([{ statement: '4s', lock: '2s' }]);
});

const sharedMessage = 'The pooler gives each transaction another session (transaction mode).';
const smallMessage = 'raise default_pool_size';

test.each([
  ['transaction', '', sharedMessage],
  ['transaction', 'server_round_robin = 1', sharedMessage],
  ['statement', '', sharedMessage],
  ['session', 'default_pool_size = 1', smallMessage],
] as const)(
  'PgBouncer with pool_mode = %s %s is refused, and nothing is written and no lock left behind',
  async (mode, extra, message) => {
    const { url: DATABASE_URL } = await startPgBouncer(folder, server, mode, extra);
    const installation = await createInstallation({ DATABASE_URL });
    const direct = `postgres://postgres@127.0.0.1:${server.port}/postern`;
    const before = await databaseDigest(direct);
    const { exitCode, stderr } = await runProcess({
      cwd: join(installation.folder, 'cwd'),
      env: { PORT: '0', DATA_DIR: installation.dataDir, DATABASE_URL, SECRET_KEY: 'x'.repeat(32) },
    });
    await installation.remove();
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
    expect(await server.query("select 1 from pg_locks where locktype = 'advisory'")).toEqual([]);
    expect(await databaseDigest(direct)).toBe(before);
  },
);

test('a start behind a PgBouncer whose connections are all in use says that the database does not answer', async () => {
  const { url } = await startPgBouncer(folder, server, 'session', 'default_pool_size = 1');
  const client = await openClient(url, { application_name: 'test', connectionTimeoutMillis: 10_000 });
  onTestFinished(() => client.end());
  const { code, stderr } = await runCommand(['serve'], { PORT: '0', DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) });
  expect(stderr).toMatch(/^The database does not answer, see DATABASE_URL: .+\n$/);
  expect(code).toBe(1);
});

test.each([
  ['dies', (primary: PostgresServer) => primary.kill()],
  ['stays alive', () => undefined],
])(
  'when the primary %s and PgBouncer is switched to the promoted standby, the service follows',
  async (_, endPrimary) => {
    const servers = await createServerFolder();
    onTestFinished(() => servers.remove());
    const primary = await startPrimary(servers);
    const standby = await startStandby(servers, primary, 'standby');
    const pooler = await startPgBouncer(servers, primary, 'session');
    const installation = await createInstallation({ DATABASE_URL: pooler.url });
    onTestFinished(() => installation.remove());
    const service = await installation.start();
    const user = await createUser(service);
    const [unrevoked, revoked] = [await signIn(service, user), await signIn(service, user)];
    const verify = async (token: string) =>
      (await service.api('POST', '/v1/sessions/verify', { bearer: token })).status;
    expect(await verify(revoked.session.token)).toBe(200);

    endPrimary(primary);
    await standby.query('select pg_promote()');
    await pooler.switchTo(standby);
    // Another instance, which has only connections to the new primary.
    const other = await installation.start({ DATABASE_URL: `postgres://postgres@127.0.0.1:${standby.port}/postern` });
    onTestFinished(() => other.stop().then(() => undefined));
    const path = `/v1/tokens/${revoked.authentication.id}`;
    expect((await other.api('DELETE', path, { bearer: revoked.session.token })).status).toBe(200);
    await eventually('the revoked session to be refused', async () =>
      (await verify(revoked.session.token)) === 401 ? true : undefined,
    );
    expect(await verify(unrevoked.session.token)).toBe(200);
    await createUser(service);
    expect(await service.stop()).toBe(0);
  },
);
