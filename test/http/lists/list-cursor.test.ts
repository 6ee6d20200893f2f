import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ListPage } from '../../../src/contract/common.js';
import { bound, compose, type Sql, sql } from '../../../src/database/sql.js';
import { decodeListCursor, encodeListCursor } from '../../../src/http/lists/list-cursor.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import { queriesOf, type SentQuery } from '../../support/queries.js';
import { linksOf } from '../../support/readers.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

interface Item {
  readonly id: string;
  readonly created_at: string;
}

let postern: TestApp;
let userId: string;
let session: string;
beforeAll(async () => {
  postern = await startTestApp();
  const user = await createUser(postern);
  userId = user.id;
  session = (await signIn(postern, user)).session.token;
});
afterAll(() => postern.close());

const insertEvents = (userId: Sql) =>
  sql`insert into events (user_id, id, type, actor, created_at) select ${userId}, id, 'login.approved', 'user', t from rows`;

const insertDevices = (userId: Sql) =>
  sql`insert into devices (user_id, id, created_at, updated_at) select ${userId}, id, t, t from rows`;

const insertLogins = (userId: Sql) => sql`
  insert into authentications
    (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at, approved_at)
  select ${userId}, id, gen_random_uuid(), 'password', 'approved', 0, t + interval '9 days', t, t, t from rows`;

const insertSessions = (userId: Sql) => sql`
  insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
  select ${userId}, rows.id, a.id, a.device_id, sha256('x'), t, t + interval '9 days'
  from rows, lateral (select * from authentications a where a.user_id = ${userId} and a.status = 'approved' limit 1) a`;

/** Every list with a cursor: its path, its sort fields, and a statement that inserts `rows` with an `id` and a time `t`. */
const lists: readonly {
  readonly path: (userId: string) => string;
  readonly sorts: readonly string[];
  readonly insert: (userId: Sql) => Sql;
  /** True for the lists of the signed-in user, which need a session. The others need an API key. */
  readonly isOwn?: true;
}[] = [
  {
    path: () => '/admin/v1/users',
    sorts: ['created_at', 'updated_at'],
    insert: () => sql`insert into users (id, created_at, updated_at) select id, t, t from rows`,
  },
  { path: () => '/admin/v1/events', sorts: ['created_at'], insert: insertEvents },
  {
    path: () => '/admin/v1/outbox',
    sorts: ['created_at', 'updated_at'],
    insert: (userId) => sql`
      insert into outbox (user_id, id, channel, kind, state, expires_at, created_at, updated_at)
      select ${userId}, id, 'sms', 'sms.code', 'sent', t, t, t from rows`,
  },
  {
    path: () => '/admin/v1/keys',
    sorts: ['created_at'],
    insert: () => sql`
      insert into api_keys (id, name, scopes, token_digest, created_at) select id, 'x', '{admin}', sha256('x'), t from rows`,
  },
  { path: (id) => `/admin/v1/users/${id}/devices`, sorts: ['updated_at', 'created_at'], insert: insertDevices },
  { path: (id) => `/admin/v1/users/${id}/tokens`, sorts: ['created_at', 'updated_at'], insert: insertLogins },
  { path: (id) => `/admin/v1/users/${id}/sessions`, sorts: ['created_at', 'expires_at'], insert: insertSessions },
  { path: (id) => `/admin/v1/users/${id}/activity`, sorts: ['created_at'], insert: insertEvents },
  { path: () => '/v1/devices', sorts: ['created_at', 'updated_at'], insert: insertDevices, isOwn: true },
  { path: () => '/v1/account/activity', sorts: ['created_at'], insert: insertEvents, isOwn: true },
];

type Insert = (typeof lists)[number]['insert'];

/** Inserts rows whose times are these numbers of seconds after a fixed time in the past. @returns their ids */
async function insertRowsAt(insert: Insert, seconds: readonly number[]): Promise<string[]> {
  const ids = seconds.map(() => randomUUID());
  const { text, values } = compose(sql`
    with rows as (
      select id, date_trunc('day', db_now()) - interval '2 days' + seconds * interval '1 second' as t
      from unnest(${bound(ids)}::uuid[], ${bound(seconds)}::int[]) given (id, seconds))
    ${insert(sql`${bound(userId)}::uuid`)}`);
  await postern.database.query(testSql(text, values));
  return ids;
}

/** Two rows share each time. */
const insertRows = (insert: Insert, count: number) =>
  insertRowsAt(
    insert,
    Array.from({ length: count }, (_, n) => Math.floor(n / 2)),
  );

const get = <Body>(path: string, isOwn: boolean | undefined) =>
  postern.api<Body>('GET', path, { bearer: isOwn === true ? session : postern.adminKey });

const describedLists = lists.map((list) => ({ ...list, name: list.path('{id}') }));

describe.each(describedLists)('$name', ({ path, sorts, insert, isOwn }) => {
  const pageOf = (query: Record<string, string>) =>
    get<ListPage<Item>>(`${path(userId)}/page?${new URLSearchParams(query)}`, isOwn);
  const arrayOf = (query: Record<string, string>) =>
    get<Item[]>(`${path(userId)}?${new URLSearchParams(query)}`, isOwn);

  const orders = sorts.flatMap((sort) => [`${sort}:desc`, `${sort}:asc`]);
  const mixed = sorts.length > 1 ? [`${sorts[0]}:desc,${sorts[1]}:asc`] : [];

  test.each([...orders, ...mixed])('shows each row once, by %s, while rows are inserted', async (sort) => {
    const before = await insertRows(insert, 9);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    for (let number = 1; cursor !== null; number += 1) {
      // The rows of earlier tests come in a few large pages.
      const limit = number < 8 ? 2 : 50;
      const { body, status } = await pageOf({ sort, limit: `${limit}`, ...(cursor !== undefined && { cursor }) });
      expect(status).toBe(200);
      expect(body.page).toMatchObject({ number, limit });
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.page.next_cursor;
      // Inserts rows on both sides of the current position.
      if (number < 6) await insertRowsAt(insert, [-number, 1000 + number]);
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(before.filter((id) => !seen.includes(id))).toEqual([]);
  });

  test('applies filter and since, and returns the same order and items as pages by number', async () => {
    await insertRows(insert, 5);
    const query = { sort: `${sorts[0]}:asc`, limit: '3', filter: 'created_at:lt:2999-01-01 00:00:00' };
    const [first, second] = [await arrayOf(query), await arrayOf({ ...query, page: '2' })];
    const page = await pageOf({ ...query, since: '2001-01-01 00:00:00' });
    expect(page.body.data).toEqual(first.body);
    const cursor = page.body.page.next_cursor ?? '';
    const next = await pageOf({ ...query, since: '2001-01-01 00:00:00', cursor });
    expect(next.body.data).toEqual(second.body);
    expect(next.body.page).toMatchObject({ number: 2, total: page.body.page.total, total_is_exact: true });
    expect((await arrayOf({ ...query, cursor })).body).toEqual(second.body);
  });

  test('ignores a page number that is sent with a cursor', async () => {
    await insertRows(insert, 5);
    const query = { limit: '2' };
    const { body } = await pageOf(query);
    const cursor = body.page.next_cursor ?? '';
    expect((await pageOf({ ...query, cursor, page: '1' })).body).toEqual((await pageOf({ ...query, cursor })).body);
  });

  test('links to both neighbours by cursor if the request has a cursor, and by number otherwise', async () => {
    await insertRows(insert, 6);
    const query = { limit: '2', sort: `${sorts[0]}:asc` };
    const first = await pageOf(query);
    expect(Object.entries(linksOf(first.headers.link)).filter(([, link]) => link.includes('cursor='))).toEqual([]);
    const second = await pageOf({ ...query, cursor: first.body.page.next_cursor ?? '' });
    const links = linksOf(second.headers.link);
    expect(Object.keys(links).slice(0, 3)).toEqual(['first', 'prev', 'next']);
    const previous = await get<ListPage<Item>>(links.prev ?? '', isOwn);
    expect(previous.body).toEqual(first.body);
    const third = await get<ListPage<Item>>(links.next ?? '', isOwn);
    expect(third.body.page.number).toBe(3);
    expect(third.body).toEqual((await pageOf({ ...query, page: '3' })).body);
  });

  test('refuses a cursor that is invalid, altered, repeated or from another order', async () => {
    await insertRows(insert, 4);
    const { body } = await pageOf({ limit: '1', sort: `${sorts[0]}:desc` });
    const cursor = body.page.next_cursor ?? '';
    const altered = Buffer.from(cursor, 'base64url').toString().replace(/.$/, 'x');
    const queries = [
      'cursor=',
      'cursor=nonsense',
      `cursor=${cursor.slice(0, -9)}&sort=${sorts[0]}:desc`,
      `cursor=${Buffer.from(altered).toString('base64url')}&sort=${sorts[0]}:desc`,
      `cursor=${cursor}&sort=${sorts[0]}:asc`,
      `cursor=${cursor}&cursor=${cursor}`,
    ];
    for (const query of queries) {
      const refused = await get<ProblemAnswer>(`${path(userId)}/page?${query}`, isOwn);
      const [error] = refused.body.errors;
      expect([query, refused.status, error?.field, error?.code]).toEqual([query, 422, 'cursor', 'invalid_cursor']);
    }
  });
});

describe('a cursor', () => {
  const scope = { list: 'users', sort: [{ field: 'created_at', direction: 'desc' }] } as const;
  const key = ['2017-10-19T17:02:03.181879Z', '582a5abb-1335-4794-4855-11e067b8c55e'];

  test('decodes to the value that was encoded', () => {
    const cursor = { page: 7, anchor: { side: 'before', key } } as const;
    expect(decodeListCursor(encodeListCursor(scope, cursor), scope)).toEqual(cursor);
  });

  test('is refused with an invalid time or id, or if parts are missing', () => {
    const texts = [
      `users,created_at:desc 2 after 2017-02-30T17:02:03.181879Z ${key[1]}`,
      `users,created_at:desc 2 after ${key[0]} nonsense`,
      `users,created_at:desc 2 after ${key[1]}`,
      `users,created_at:desc 0 after ${key.join(' ')}`,
      `users,created_at:desc 2 beside ${key.join(' ')}`,
      `users,created_at:desc 2 after ${key.join(' ')} more`,
      `users,created_at:desc,updated_at:desc 2 after ${key.join(' ')}`,
    ];
    const decoded = texts.map((text) => decodeListCursor(Buffer.from(text).toString('base64url'), scope));
    expect(decoded).toEqual(texts.map(() => undefined));
  });

  test('is refused by another list', () => {
    const text = encodeListCursor(scope, { page: 2, anchor: { side: 'after', key } });
    expect(decodeListCursor(text, { ...scope, list: 'events' })).toBeUndefined();
  });
});

test('a page of users by cursor starts at its position in the index, at any depth', async () => {
  const { database } = postern;
  await database.query(
    testSql(`insert into users (id, created_at, updated_at)
             select gen_random_uuid(), t, t from generate_series(1, 20000) n, lateral (select db_now() - n * interval '1 s') at (t)`),
  );
  await database.query(testSql('analyze users'));
  const sort = 'created_at:desc';
  const deep = await postern.api<ListPage<Item>>('GET', `/admin/v1/users/page?sort=${sort}&limit=20&page=500`, {
    bearer: postern.adminKey,
  });
  const cursor = deep.body.page.next_cursor ?? '';
  const sent = await queriesOf(() => get(`/admin/v1/users/page?sort=${sort}&limit=20&cursor=${cursor}`, false));
  const select = sent.find(({ text }) => text.includes('from users u') && text.includes('order by'));
  const plan = await explain(select);
  expect(plan).toMatch(/Index Scan Backward using users_by_created_at/);
  expect(plan).toMatch(/Index Cond: \(ROW\(created_at, id\) < ROW\(/);
});

async function explain(query: SentQuery | undefined): Promise<string> {
  const text = `explain (costs off) ${query?.text}`;
  const rows = await postern.database.query({
    ...compose<{ 'QUERY PLAN': string }>(sql`select`),
    text,
    values: [...(query?.values ?? [])],
  });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
