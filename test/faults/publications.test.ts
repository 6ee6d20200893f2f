import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Publication } from '../../src/contract/publication.js';
import { type Api, createApi } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService, type ServiceProcess, startProcess } from '../support/process.js';
import { testSql } from '../support/sql.js';

/** The service is killed, and the database ends its connections, while publications are written and recalled. */

let stored: TestDatabase;
let cwd: string;
let service: ServiceProcess;
let api: Api;
const adminKey = `admin-${randomBytes(24).toString('hex')}`;
const secretKey = randomBytes(32).toString('hex');

beforeAll(async () => {
  await buildService();
  [stored, cwd] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'postern-publications-'))]);
  await start();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await stored.drop();
  await rm(cwd, { recursive: true });
});

async function start() {
  const env = {
    PORT: '0',
    DATABASE_URL: stored.url,
    SECRET_KEY: secretKey,
    ADMIN_API_KEY: adminKey,
    LOG_LEVEL: 'error',
  };
  service = await startProcess({ cwd, env });
  api = createApi(service.url, () => undefined);
}
async function killAndRestart() {
  await service.stop('SIGKILL');
  await start();
}
const endConnections = () =>
  rows(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'postern%' and pid <> pg_backend_pid()`);
const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  stored.database.query<Row>(testSql(text, values));
const admin = <Body>(method: string, path: string, body?: object) =>
  api<Body>(method, `/admin/v1${path}`, { bearer: adminKey, ...(body && { body }) });

/** The number that a query counts. */
async function count(text: string, id: string): Promise<number> {
  const [row] = await rows<{ n: number }>(`select ${text} as n from notification_publications where id = $1`, [id]);
  return row?.n ?? 0;
}
const atLeast = (what: string, text: string, id: string, least: number) =>
  eventually(what, async () => ((await count(text, id)) >= least ? true : undefined));

test('each recipient gets one notification, and a recall removes all of them, whatever is killed meanwhile', async () => {
  const users = Array.from({ length: 12_000 }, () => randomUUID());
  await rows(
    `insert into users (id, created_at, updated_at) select id, db_now(), db_now() from unnest($1::uuid[]) id`,
    [users],
  );
  await rows('insert into inboxes (user_id) select id from unnest($1::uuid[]) id', [users]);
  await admin('PUT', '/topics/all', { title: 'All' });
  await rows(
    `insert into subscriptions (topic_id, user_id, created_at)
     select topics.id, u.id, db_now() from topics, unnest($1::uuid[]) u (id)`,
    [users],
  );
  const { body } = await admin<Publication>('POST', '/publications', {
    to: { topic: 'all' },
    notification: { notification_type: 'request', description: 'The tournament begins' },
    rate: 4000,
  });
  for (const [index, fault] of [killAndRestart, endConnections, killAndRestart].entries()) {
    await atLeast(`chunks before fault ${index}`, 'created', body.id, 2000 * (index + 1));
    await fault();
  }
  await eventually('the end', async () => ((await count(`(status = 'done')::int`, body.id)) === 1 ? true : undefined));
  const inboxes = `select count(*)::int as users, sum(n)::int as rows from (
    select user_id, count(*) as n from notifications group by user_id) inbox`;
  expect(await rows(inboxes)).toEqual([{ users: users.length, rows: users.length }]);
  expect(await count('created', body.id)).toBe(users.length);

  const recall = await admin('POST', `/publications/${body.id}/recall`);
  expect(recall.status).toBe(202);
  await atLeast('a part of the recall', 'removed', body.id, 1);
  await killAndRestart();
  await eventually('the end of the recall', async () =>
    (await count('(recall_finished_at is not null)::int', body.id)) === 1 ? true : undefined,
  );
  expect(await count('removed', body.id)).toBe(users.length);
  expect(
    await rows(
      'select (select count(*)::int from notifications) as n, (select count(*)::int from notification_tombstones) as t',
    ),
  ).toEqual([{ n: 0, t: users.length }]);
});
