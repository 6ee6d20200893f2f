import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event } from '../../../src/contract/administration.js';
import type { System } from '../../../src/contract/operation/system.js';
import type { User } from '../../../src/contract/user.js';
import { type ProblemAnswer, startShardedApp, type TestApp } from '../../support/app.js';
import { createTestNotifications } from '../../support/inbox.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser, newEmail, newPhone } from '../../support/users.js';

let app: TestApp;
let shards: TestShards;
/** In the order of their creation. */
let users: User[];
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { SMS_PROVIDER: 'console' });
  users = [];
  for (let count = 0; count < 20; count += 1) {
    users.push(await createUser(app, { email: newEmail(), phone: newPhone(), name: `Ada ${count}` }));
  }
});
afterAll(() => app.close());

const serverOf = (userId: string) => app.database.shardOf(userId).name;
const get = <Body>(path: string) => app.api<Body>('GET', path, { bearer: app.adminKey });
const post = <Body>(path: string, body: object, headers = {}) =>
  app.api<Body>('POST', path, { bearer: app.adminKey, body, headers });

/** The ids of all pages of a list. */
async function idsByCursor(path: string): Promise<string[]> {
  const ids: string[] = [];
  for (let next: string | undefined = `${path}&limit=3`; next !== undefined; ) {
    const { body, headers }: { body: { id: string }[]; headers: Readonly<Record<string, string>> } = await get(next);
    ids.push(...body.map(({ id }) => id));
    next = /<([^>]*)>; rel="next"/.exec(headers.link ?? '')?.[1];
  }
  return ids;
}

/** Lets a server refuse all connections. @returns a function that ends this */
async function stopServer(name: string): Promise<() => Promise<void>> {
  const url = new URL(shards.databases.get(name)?.url ?? '');
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`alter database ${database} allow_connections false`);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  return () => run(`alter database ${database} allow_connections true`);
}

test('the list of users merges the servers, with pages by number and by cursor', async () => {
  expect(new Set(users.map(({ id }) => serverOf(id)))).toEqual(new Set(['main', 'east', 'west']));
  const ids = users.map(({ id }) => id);
  expect(await idsByCursor('/admin/v1/users?sort=created_at:asc')).toEqual(ids);
  expect(await idsByCursor('/admin/v1/users?sort=created_at:desc')).toEqual([...ids].reverse());
  // The text is in every name, and a search reads each server in another way than the list.
  expect(await idsByCursor('/admin/v1/users?search=Ada&sort=created_at:asc')).toEqual(ids);
  const { body } = await get<User[]>('/admin/v1/users?sort=created_at:asc&search=Ada&page=2&limit=7');
  expect(body.map(({ id }) => id)).toEqual(ids.slice(7, 14));
});

test('the next page by cursor equals page 2, and the page before it equals page 1', async () => {
  const first = await get<User[]>('/admin/v1/users?sort=created_at:asc&limit=6');
  const relation = (answer: { headers: Readonly<Record<string, string>> }, name: string) =>
    new RegExp(`<([^>]*)>; rel="${name}"`).exec(answer.headers.link ?? '')?.[1] ?? '';
  const second = await get<User[]>('/admin/v1/users?sort=created_at:asc&limit=6&page=2');
  expect(relation(first, 'next')).not.toBe('');
  expect(second.headers['x-total-count']).toBe('20');
  const cursorPage = await get<User[]>(relation(first, 'next'));
  expect(cursorPage.body).toEqual(second.body);
  const back = await get<User[]>(relation(cursorPage, 'prev'));
  expect(back.body).toEqual(first.body);
});

test('a search finds a user by mail address and by id on any server', async () => {
  for (const { id, email } of users) {
    for (const text of [email ?? '', id]) {
      const found = await get<User[]>(`/admin/v1/users?search=${encodeURIComponent(text)}`);
      expect(found.body.map((user) => user.id)).toEqual([id]);
    }
  }
});

test('the events of all users are one list, with names', async () => {
  const { body } = await get<Event[]>('/admin/v1/events?filter=type:eq:user.created&limit=100&sort=created_at:asc');
  expect(body.map(({ user_id }) => user_id)).toEqual(users.map(({ id }) => id));
  expect(body.map(({ user_name }) => user_name)).toEqual(users.map(({ name }) => name));
});

test('a publication to users on several servers reaches all of them or none', async () => {
  const counts = async () => {
    const rows = app.database.shards.map(({ everyone }) =>
      everyone.query<{ count: number }>(testSql('select count(*)::int as count from notifications')),
    );
    return (await Promise.all(rows)).flat().map(({ count }) => count);
  };
  const own = users.map(({ id }, place) => ({
    user_id: id,
    notification_type: 'payment',
    description: `Number ${place}`,
  }));
  const shared = { user_ids: users.map(({ id }) => id), notification_type: 'payment', description: 'For all' };
  const headers = { 'Idempotency-Key': randomUUID() };
  const published = await post<{ user_id: string; description: string; sequence: number }[]>(
    '/admin/v1/notifications/batch',
    [...own, shared],
    headers,
  );
  expect(published.status).toBe(201);
  expect(published.body.map(({ user_id, description, sequence }) => [user_id, description, sequence])).toEqual([
    ...users.map(({ id }, place) => [id, `Number ${place}`, 1]),
    ...users.map(({ id }) => [id, 'For all', 2]),
  ]);
  const before = await counts();
  expect(before.reduce((sum, count) => sum + count, 0)).toBe(40);
  const repeated = await post('/admin/v1/notifications/batch', [...own, shared], headers);
  expect(repeated.headers['idempotent-replayed']).toBe('true');
  expect(repeated.body).toEqual(published.body);

  const unknown = { user_id: randomUUID(), notification_type: 'payment', description: 'Nobody' };
  const refused = await post<{ errors: { field: string; code: string }[] }>('/admin/v1/notifications/batch', [
    ...own,
    unknown,
  ]);
  expect(refused.status).toBe(422);
  expect(refused.body.errors).toMatchObject([{ field: '20.user_id', code: 'unknown_user' }]);
  expect(await counts()).toEqual(before);
  for (const { everyone } of app.database.shards) {
    expect(await everyone.query(testSql(`select from pg_prepared_xacts where database = current_database()`))).toEqual(
      [],
    );
  }
  const tried = await post<{ deliveries: number }>('/admin/v1/notifications/dry-run', [shared]);
  expect(tried.body.deliveries).toBe(20);
});

test('an import creates users on their servers, and finds those that exist', async () => {
  const lines = Array.from({ length: 12 }, (_, place) =>
    JSON.stringify({ username: `imported${place}x${randomUUID().slice(0, 8)}`, password: 'a battery of horses' }),
  ).join('\n');
  const importLines = async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await app.api('POST', '/admin/v1/users/import', { bearer: app.adminKey, body: lines, headers });
    return answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; result: string });
  };
  const created = await importLines();
  expect(created.filter(({ result }) => result === 'created')).toHaveLength(12);
  expect(new Set(created.map(({ id }) => serverOf(id))).size).toBeGreaterThan(1);
  for (const { id } of created) expect((await get(`/admin/v1/users/${id}`)).status).toBe(200);
  const again = await importLines();
  expect(again.filter(({ result }) => result === 'exists').map(({ id }) => id)).toEqual(created.map(({ id }) => id));
});

test('a server that does not answer is missing in lists, and requests about its users get 503', async () => {
  const [down] = users.filter(({ id }) => serverOf(id) === 'east');
  const others = users.filter(({ id }) => serverOf(id) !== 'east');
  const start = await stopServer('east');
  try {
    const list = await get<User[]>('/admin/v1/users?filter=name:like:Ada&sort=created_at:asc&limit=100');
    expect(list).toMatchObject({
      status: 200,
      headers: { 'x-partial': 'shard', 'postern-missing-shards': 'east', 'x-total-count-capped': 'true' },
    });
    expect(list.body.map(({ id }) => id)).toEqual(others.map(({ id }) => id));
    expect((await get('/admin/v1/events')).headers['postern-missing-shards']).toBe('east');
    expect((await get('/admin/v1/outbox')).headers['postern-missing-shards']).toBe('east');
    const [other] = others;
    for (const list of ['events', 'outbox']) {
      const ofUser = (user: User | undefined) => get<object[]>(`/admin/v1/${list}?filter=user_id:${user?.id}`);
      expect(await ofUser(down)).toMatchObject({
        status: 200,
        body: [],
        headers: { 'postern-missing-shards': 'east' },
      });
      expect((await ofUser(other)).headers).not.toHaveProperty('postern-missing-shards');
    }
    expect((await get<Event[]>(`/admin/v1/events?filter=user_id:${other?.id}`)).body).toHaveLength(1);
    const refused = await get(`/admin/v1/users/${down?.id}`);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect((await get('/readyz')).body).toEqual({ status: 'ok', missing_shards: ['east'] });
    const { findings } = (await get<System>('/admin/v1/system')).body;
    expect(findings).toContainEqual(expect.objectContaining({ level: 'fail', what: 'database of east' }));
    expect(findings).toContainEqual(expect.objectContaining({ level: 'ok', what: 'encrypted values of west' }));
    for (const { id } of others) expect((await get(`/admin/v1/users/${id}`)).status).toBe(200);
  } finally {
    await start();
  }
  expect((await get(`/admin/v1/users/${down?.id}`)).status).toBe(200);
});

test('a page number that is too far from the start of a list over several servers is refused', async () => {
  const refused = await get<ProblemAnswer>('/admin/v1/users?limit=100&page=102');
  expect([refused.status, refused.body.errors]).toMatchObject([422, [{ field: 'page', code: 'invalid_page' }]]);
  expect((await get<User[]>('/admin/v1/users?limit=100&page=101')).status).toBe(200);
});

test('the state of inboxes is read, also if a user of the batch has moved to another server meanwhile', async () => {
  const former = app.database.shardOf(users[0]?.id ?? '');
  const known = new Set<string>();
  const { state } = createTestNotifications({
    ...app.database,
    shardOf(userId) {
      if (known.has(userId)) return app.database.shardOf(userId);
      known.add(userId);
      return former;
    },
  });
  const { state: stateOf } = createTestNotifications(app.database);
  const expected = await Promise.all(users.map(({ id }) => stateOf(id)));
  expect(expected).not.toContain(undefined);
  expect(await Promise.all(users.map(({ id }) => state(id)))).toEqual(expected);
});
