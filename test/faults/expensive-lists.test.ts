import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

/** The number of notifications of the user who lists. Each has a long text to search. */
const rows = 20_000;

let postern: TestApp;
let reader: { readonly user: User; readonly bearer: string };
let other: { readonly user: User; readonly bearer: string };
beforeAll(async () => {
  // Many requests wait for connections, on a busy machine for a long time.
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
  const people = [await createUser(postern), await createUser(postern)];
  const [first, second] = await Promise.all(
    people.map(async (user) => ({ user, bearer: (await signIn(postern, user)).session.token })),
  );
  if (first === undefined || second === undefined) throw new Error('nobody signed in');
  reader = first;
  other = second;
  await postern.database.query(
    testSql(
      `insert into notifications (user_id, id, sequence, change_sequence, notification_type, object_data_string,
           description, created_at, updated_at)
         select $1, gen_random_uuid(), n, n, 'payment', '', repeat('A payment of the month ', 20) || n, at, at
         from generate_series(1, ${rows}) n cross join lateral (select now() + n * interval '1 microsecond' as at) times`,
      [reader.user.id],
    ),
  );
  await postern.database.query(
    testSql(
      `update inboxes set last_change_sequence = ${rows}, total = ${rows}, last_time = now() + interval '1 second'
         where user_id = $1`,
      [reader.user.id],
    ),
  );
});
afterAll(() => postern.close());

/** Nothing matches, so all rows are searched. */
const expensive = `filter=${Array.from({ length: 3 }, () => 'description:like:month').join(',')},description:like:nowhere`;
const list = (bearer: string, query: string) => postern.api('GET', `/v1/notifications?${query}`, { bearer });

test('40 parallel expensive lists of one user do not affect other users, and some of the lists are refused with 429', async () => {
  let ended = 0;
  const lists = Array.from({ length: 40 }, async () => {
    const { status, headers } = await list(reader.bearer, expensive);
    if (status === 200) ended += 1;
    return { status, retryAfter: Number(headers['retry-after'] ?? 0) };
  });
  // One after the other, since each would wait for a connection if the lists took them all.
  for (let nth = 0; nth < 3; nth += 1) {
    const { status } = await postern.api('POST', '/v1/tokens', { body: passwordLogin(other.user.username) });
    expect(status).toBe(201);
    expect((await list(other.bearer, 'filter=description:like:month')).status).toBe(200);
  }
  expect(ended).toBeLessThan(20);

  const answers = await Promise.all(lists);
  // One runs at a time. On a busy machine, all others may be refused, because they wait for too long.
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, retryAfter } of refused) {
    expect(status).toBe(429);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
  }
});

test('a client with a few parallel lists is never refused, with or without a filter', async () => {
  const queries = ['', 'limit=100', 'page=2', 'filter=notification_type:payment', 'filter=description:like:month', ''];
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(queries.map((query) => list(other.bearer, query)));
    expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 200));
  }
});

test('lists without a filter have no limit of parallel requests', async () => {
  const answers = await Promise.all(Array.from({ length: 150 }, () => list(other.bearer, 'limit=5')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('operators can list the inbox of a user whose own lists are refused', async () => {
  const lists = Array.from({ length: 40 }, () => list(reader.bearer, expensive));
  const { status } = await postern.api('GET', `/admin/v1/users/${reader.user.id}/notifications?${expensive}`, {
    bearer: postern.adminKey,
  });
  expect(status).toBe(200);
  await Promise.all(lists);
});
