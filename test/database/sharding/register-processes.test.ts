import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { BUILD_TIMEOUT, buildService, type ServiceProcess, startProcess } from '../../support/process.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';

const adminKey = `admin-${randomBytes(24).toString('hex')}`;
const keys = { SECRET_KEY: randomBytes(32).toString('hex'), ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn', PORT: '0' };
let cwd: string;
let shards: TestShards;
const running: ServiceProcess[] = [];
const clients: pg.Client[] = [];

beforeAll(async () => {
  await buildService();
  cwd = await mkdtemp(join(tmpdir(), 'postern-register-'));
}, BUILD_TIMEOUT);
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
  await Promise.all(running.splice(0).map((service) => service.stop('SIGKILL')));
  await shards.drop();
});
afterAll(() => rm(cwd, { recursive: true }));

async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startProcess({ cwd, env: { ...keys, ...env } });
  running.push(service);
  return service;
}
/** A connection to the server of DATABASE_URL, until the test ends. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: shards.databases.get('main')?.url });
  await client.connect();
  clients.push(client);
  return client;
}
const startWithout = () => start({ DATABASE_URL: shards.env.DATABASE_URL ?? '' });
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
async function createUser({ url }: ServiceProcess) {
  const body = JSON.stringify({ username: `u${randomBytes(8).toString('hex')}` });
  const answer = await fetch(`${url}/admin/v1/users`, { method: 'POST', headers, body });
  return { status: answer.status, id: ((await answer.json()) as { id: string }).id };
}
const statusOf = async ({ url }: ServiceProcess, path: string) => (await fetch(url + path, { headers })).status;

test('a process that runs without SHARDS cannot use its server any more when the servers are registered', async () => {
  shards = await createTestShards(2);
  const former = await startWithout();
  expect(await statusOf(former, '/admin/v1/users')).toBe(200);
  const next = await start(shards.env);
  expect((await createUser(former)).status).toBe(503);
  expect(await statusOf(former, '/readyz')).toBe(503);
  await eventually('the reason in the log', async () =>
    `${former.stdout()}${former.stderr()}`.includes('set SHARDS as on the other instances') ? true : undefined,
  );
  const ids: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const { status, id } = await createUser(next);
    expect(status).toBe(201);
    ids.push(id);
  }
  expect((await createUser(former)).status).toBe(503);
  const database = await shards.open();
  for (const { name, everyone } of database.shards) {
    const rows = await everyone.query(testSql<{ id: string }>('select id from users'));
    expect(rows.map(({ id }) => id).sort()).toEqual(ids.filter((id) => database.shardOf(id).name === name).sort());
  }
  await database.close();
  await former.stop();
  const restarted = await start(shards.env);
  for (const id of ids) expect(await statusOf(restarted, `/admin/v1/users/${id}`)).toBe(200);
});

test('no user is lost that a process without SHARDS creates while the servers are registered', async () => {
  shards = await createTestShards(2);
  const former = await startWithout();
  const [blocker, observer] = [await connect(), await connect()];
  // The registration waits for this lock when it spreads the buckets.
  await blocker.query('begin');
  await blocker.query('lock table shard_buckets in share mode');
  const starting = start(shards.env);
  starting.catch(() => undefined);
  await eventually('the wait of the registration', async () => {
    const { rows } = await observer.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'postern migrate' and wait_event_type = 'Lock'`,
    );
    return rows.length > 0 ? true : undefined;
  });
  const created = await Promise.all(Array.from({ length: 8 }, () => createUser(former)));
  await blocker.query('commit');
  const next = await starting;
  for (const { status, id } of created) {
    expect([201, 503]).toContain(status);
    if (status === 201) expect(await statusOf(next, `/admin/v1/users/${id}`)).toBe(200);
  }
  expect((await createUser(next)).status).toBe(201);
});
