import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

let postern: TestApp;
let other: { readonly user: User; readonly bearer: string };
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000' });
  const user = await createUser(postern);
  other = { user, bearer: (await signIn(postern, user)).session.token };
});
afterAll(() => postern.close());

let release: () => Promise<unknown> = async () => undefined;
afterEach(() => release());

/** Locks the rows of a user in a table, like an open transaction. */
async function lockRows(table: string, { id }: User, column = 'user_id'): Promise<void> {
  const client = await openClient(postern.databaseEnv.DATABASE_URL, {
    application_name: 'test',
    connectionTimeoutMillis: 10_000,
  });
  release = async () => {
    release = async () => undefined;
    await client.end();
  };
  await client.query('begin');
  const { rowCount } = await client.query(`select from ${table} where ${column} = $1 for update`, [id]);
  if (rowCount === 0) throw new Error(`there is no row of ${table} to lock`);
}

const publish = (userId: string) =>
  postern.api('POST', '/admin/v1/notifications', {
    bearer: postern.adminKey,
    body: { user_id: userId, notification_type: 'payment', description: 'Lunch' },
  });
const logIn = (user: User, secret?: string) =>
  postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, secret) });
const unlock = (user: User) => postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
const verify = (bearer: string) => postern.api('POST', '/v1/sessions/verify', { bearer });

interface Case {
  readonly what: string;
  readonly lock: (user: User) => Promise<void>;
  /** A request that needs the row. */
  readonly sendRequest: (user: User, token: string) => Promise<ApiAnswer<unknown>>;
}

const cases: readonly Case[] = [
  { what: 'user', lock: (user) => lockRows('users', user, 'id'), sendRequest: unlock },
  { what: 'inbox', lock: (user) => lockRows('inboxes', user), sendRequest: ({ id }) => publish(id) },
  {
    what: 'guess budget',
    async lock(user) {
      await logIn(user, 'wrong');
      await lockRows('guess_budgets', user);
    },
    sendRequest: (user) => logIn(user),
  },
  {
    what: 'new token',
    lock: (user) => lockRows('authentications', user),
    sendRequest: (_user, token) => postern.api('POST', '/v1/sessions', { basic: token }),
  },
];

/** The statements that wait for a lock. Each is one wait: a later one of the same connection starts at another time. */
const findWaits = async (): Promise<readonly string[]> => {
  const rows = await postern.database.query<{ wait: string }>(
    testSql(`select concat_ws(' ', pid, query_start) as wait from pg_stat_activity
         where datname = current_database() and application_name ~ '^postern( map|$)' and wait_event_type = 'Lock'`),
  );
  return rows.map(({ wait }) => wait);
};

/**
 * Sends requests of another user, which must succeed, while statements wait for the lock.
 * @returns whether all of them still waited when the last request was answered. If the requests needed a connection
 *   of one of these statements, they would be answered only after that statement had given up.
 */
async function areOthersAnsweredMeanwhile(): Promise<boolean> {
  const before = await eventually('requests to wait', async () => {
    const found = await findWaits();
    return found.length > 0 ? found : undefined;
  });
  for (let count = 0; count < 3; count += 1) {
    expect((await verify(other.bearer)).status).toBe(200);
    expect((await publish(other.user.id)).status).toBe(201);
  }
  const after = new Set(await findWaits());
  return before.every((wait) => after.has(wait));
}

/**
 * On a busy machine, the other user may be answered too late in some rounds. With a wait for the lock, it is too late in
 * all.
 */
const rounds = 10;

describe.each(cases)('a locked $what', ({ lock, sendRequest }) => {
  async function lockedUser() {
    const user = await createUser(postern);
    const { body } = await postern.api<{ token: string }>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
    await lock(user);
    return { user, token: body.token };
  }

  test.each([1, 100])(
    'answers %i requests that need the row with 503 before the lock is released, and delays no other user',
    async (count) => {
      const { user, token } = await lockedUser();
      let areOthersAnswered = false;
      for (let round = 0; round < rounds && !areOthersAnswered; round += 1) {
        const stuck = Array.from({ length: count }, () => sendRequest(user, token));
        areOthersAnswered = await areOthersAnsweredMeanwhile();
        for (const answer of await Promise.all(stuck)) {
          expect(answer.status).toBe(503);
          expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        }
      }
      expect(areOthersAnswered).toBe(true);
      await release();
      expect((await sendRequest(user, token)).status).toBeLessThan(300);
    },
  );
});

test('a user whose row is locked can log in and use sessions, since readers do not wait for the row', async () => {
  const user = await createUser(postern);
  const { session, token } = await signIn(postern, user);
  await lockRows('users', user, 'id');
  expect((await verify(session.token)).status).toBe(200);
  expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
  expect((await logIn(user)).status).toBe(201);
  expect((await publish(user.id)).status).toBe(201);
  expect((await postern.api('GET', '/v1/notifications', { bearer: session.token })).status).toBe(200);
});
