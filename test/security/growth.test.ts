import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expiryTasks } from '../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { holdClock, stepClock } from '../support/clock.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

/** Tables that one user or a stranger could make grow stay small. */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000', GUESS_LIMIT_PERMANENT: '2' },
  });
});
afterAll(() => postern.close());

async function count(text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await postern.database.query<{ count: number }>(
    testSql(`select count(*)::int as count from ${text}`, values),
  );
  return row?.count ?? -1;
}

test('a user changes the own name and devices a hundred times an hour, and an operator has no such limit', async () => {
  // The limit refills every 36 seconds, which a busy machine may need for the requests.
  await holdClock(postern.database, Date.now());
  onTestFinished(() => stepClock(postern.database, '0'));
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const rename = (at: number) =>
    postern.api('PATCH', '/v1/account', { bearer: session.token, body: { name: `Ada ${at}` } });
  const statuses: number[] = [];
  for (let at = 0; at < 60; at += 1) statuses.push((await rename(at)).status);
  for (let at = 0; at < 40; at += 1) {
    const body = { make: `Acme ${at}` };
    statuses.push((await postern.api('PUT', '/v1/devices/current', { bearer: session.token, body })).status);
  }
  expect(new Set(statuses)).toEqual(new Set([200]));
  const refused = await rename(60);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await postern.api('PUT', '/v1/devices/current', { bearer: session.token, body: {} })).status).toBe(429);
  const byOperator = await postern.api('PATCH', `/admin/v1/users/${user.id}`, {
    bearer: postern.adminKey,
    body: { name: 'Ada' },
  });
  expect(byOperator.status).toBe(200);
});

test('a user has the last hundred former names', async () => {
  const user = await createUser(postern, { name: 'No 0' });
  for (let at = 1; at <= 130; at += 1) {
    await postern.database.query(testSql('update users set name = $2 where id = $1', [user.id, `No ${at}`]));
  }
  const names = await postern.database.query<{ name: string }>(
    testSql('select name from former_names where user_id = $1 order by until', [user.id]),
  );
  expect(names.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, at) => `No ${30 + at}`));
});

test('a login has about ten thousand stored sessions, and the newest ones stay', async () => {
  const user = await createUser(postern);
  const { token, session } = await signIn(postern, user);
  await postern.database.query(
    testSql(
      `insert into sessions select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
         'created_at', s.created_at - n * interval '1 second'))).* from sessions s, generate_series(1, 10500) n where s.id = $1`,
      [session.id],
    ),
  );
  const stored = () => count('sessions where user_id = $1', [user.id]);
  // One creation in 256 deletes the oldest sessions, so nearly always one of 5000 does.
  for (let at = 0; at < 5000 && (await stored()) > 10_300; at += 50) {
    await Promise.all(Array.from({ length: 50 }, () => postern.api('POST', '/v1/sessions', { basic: token })));
  }
  expect(await stored()).toBeLessThan(10_300);
  expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
});

test('a permanent lock ends 90 days after the last wrong secret, of known and of unknown identities alike', async () => {
  const user = await createUser(postern);
  const names = [user.username, `nobody${randomUUID()}`];
  const attempt = (name: string | null) => postern.api('POST', '/v1/tokens', { body: passwordLogin(name, 'wrong') });
  for (const name of names) {
    for (let at = 0; at < 2; at += 1) expect((await attempt(name)).status).toBe(201);
    expect((await attempt(name)).status).toBe(403);
  }
  const age = (days: number) =>
    postern.database.query(
      testSql(`update guess_budgets set updated_at = db_now() - $1::int * interval '1 day' where permanent`, [days]),
    );
  await age(89);
  await runMaintenanceOnce(postern.database, expiryTasks(1e12));
  for (const name of names) expect((await attempt(name)).status).toBe(403);
  await age(91);
  await runMaintenanceOnce(postern.database, expiryTasks(1e12));
  for (const name of names) expect((await attempt(name)).status).toBe(201);
  expect(await count('guess_budgets where permanent', [])).toBe(0);
});

test('a user changes states of notifications a thousand times an hour, so that their events have a bound', async () => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const { body: published } = await postern.api<{ readonly id: string }>('POST', '/admin/v1/notifications', {
    bearer: postern.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description: 'One' },
  });
  const change = (at: number) =>
    postern.api('PATCH', '/v1/notifications/states', {
      bearer: session.token,
      body: { ids: [published.id], read: at % 2 === 0 },
    });
  await postern.database.query(testSql('delete from request_limits'));
  expect((await change(0)).status).toBe(200);
  // As after 995 more of them: each takes 3.6 s of the hour.
  await postern.database.query(
    testSql(`update request_limits set refilled_at = refilled_at + 995 * interval '3.6 seconds'`),
  );
  const statuses = [];
  for (let at = 1; at < 20; at += 1) statuses.push((await change(at)).status);
  expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
  expect(statuses.at(-1)).toBe(429);
  // Reading is not limited.
  expect((await postern.api('GET', '/v1/notifications/states', { bearer: session.token })).status).toBe(200);
});
