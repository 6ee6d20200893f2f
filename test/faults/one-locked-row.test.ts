import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { median } from '../support/fault-injection/service.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

vi.setConfig({ testTimeout: 90_000 });

/** Milliseconds that the service waits for a lock. */
const lockWait = 2000;
/** The same, with a margin for a busy machine. */
const longestAnswer = 8000;
const samples = 30;

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

/** Locks a row, like an open transaction. */
async function lockRow(table: string, condition: string, value: string): Promise<void> {
  const client = new pg.Client({ connectionString: postern.config.DATABASE_URL });
  await client.connect();
  release = async () => {
    release = async () => undefined;
    await client.end();
  };
  await client.query('begin');
  const { rowCount } = await client.query(`select from ${table} where ${condition} for update`, [value]);
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
  readonly blocked: (user: User, token: string) => Promise<ApiAnswer<unknown>>;
}

const cases: readonly Case[] = [
  { what: 'user', lock: ({ id }) => lockRow('users', 'id = $1', id), blocked: unlock },
  { what: 'inbox', lock: ({ id }) => lockRow('inboxes', 'user_id = $1', id), blocked: ({ id }) => publish(id) },
  {
    what: 'guess budget',
    async lock(user) {
      await logIn(user, 'wrong');
      await lockRow('guess_budgets', 'user_id = $1', user.id);
    },
    blocked: (user) => logIn(user),
  },
  {
    what: 'new token',
    lock: ({ id }) => lockRow('authentications', 'user_id = $1', id),
    blocked: (_user, token) => postern.api('POST', '/v1/sessions', { basic: token }),
  },
];

async function timed<T>(work: () => Promise<T>): Promise<{ answer: T; time: number }> {
  const startedAt = performance.now();
  const answer = await work();
  return { answer, time: performance.now() - startedAt };
}

/** The duration of requests of another user, one after the other. They must succeed. */
async function othersTimes(): Promise<number[]> {
  const times = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const { answer, time } = await timed(async () => [
      (await verify(other.bearer)).status,
      (await publish(other.user.id)).status,
    ]);
    expect(answer).toEqual([200, 201]);
    times.push(time);
  }
  return times;
}

const waiting = async (): Promise<number> => {
  const [row] = await postern.database.everyone.query<{ count: number }>(
    testSql(`select count(*)::int as count from pg_stat_activity
         where datname = current_database() and application_name = 'postern' and wait_event_type = 'Lock'`),
  );
  return row?.count ?? 0;
};

describe.each(cases)('a locked $what', ({ lock, blocked }) => {
  async function lockedUser() {
    const user = await createUser(postern);
    const { body } = await postern.api<{ token: string }>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
    await lock(user);
    return { user, token: body.token };
  }

  test.each([1, 100])(
    'answers %i requests that need it with 503 in bounded time, and slows no other user',
    async (count) => {
      const { user, token } = await lockedUser();
      const before = median(await othersTimes());
      const stuck = Array.from({ length: count }, () => timed(() => blocked(user, token)));
      await eventually('requests to wait', async () => ((await waiting()) > 0 ? true : undefined));
      const meanwhile = await othersTimes();
      for (const { answer, time } of await Promise.all(stuck)) {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        expect(time).toBeLessThan(longestAnswer);
      }
      await release();
      expect((await blocked(user, token)).status).toBeLessThan(300);
      // Measured before and afterwards, since the machine may get busier in between.
      const otherwise = Math.max(before, median(await othersTimes()));
      expect(median(meanwhile) / otherwise).toBeLessThan(3);
      // If every connection waited for the lock, the first request would wait too, and the others would not.
      expect(Math.max(...meanwhile)).toBeLessThan(lockWait / 2);
    },
  );
});

test('a user whose row is locked can log in and use sessions, since readers do not wait for the row', async () => {
  const user = await createUser(postern);
  const { session, token } = await signIn(postern, user);
  await lockRow('users', 'id = $1', user.id);
  expect((await verify(session.token)).status).toBe(200);
  expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
  expect((await logIn(user)).status).toBe(201);
  expect((await publish(user.id)).status).toBe(201);
  expect((await postern.api('GET', '/v1/notifications', { bearer: session.token })).status).toBe(200);
});
