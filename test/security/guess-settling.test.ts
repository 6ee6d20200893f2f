import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { holdClock, stepClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, newPhone, password, passwordLogin, smsLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '10', TRUST_PROXY: '127.0.0.1' });
});
afterAll(() => postern.close());

/** Sends the request from a new address, so that the limit by address counts it alone. */
const post = (path: string, body: unknown) => {
  const headers = { 'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1` };
  return postern.api<Authentication>('POST', path, { body, headers });
};
const logIn = (user: User, secret = password, device: object = {}) =>
  post('/v1/tokens', passwordLogin(user.username, secret, device));

interface Budget {
  readonly failures: number;
  readonly slots: number;
}
const budgets = (user: User) =>
  postern.database.query<Budget>(
    testSql('select total_failures as failures, cardinality(slots) as slots from guess_budgets where user_id = $1', [
      user.id,
    ]),
  );

/** Locks the user's devices, like an open transaction, until `meanwhile` is done. The connection has no limit of time. */
async function withLockedDevices<T>(user: User, meanwhile: () => Promise<T>) {
  const client = await openClient(postern.databaseEnv.DATABASE_URL, {
    application_name: 'test',
    connectionTimeoutMillis: 10_000,
  });
  try {
    await client.query('begin');
    const { rowCount } = await client.query('select from devices where user_id = $1 for update', [user.id]);
    expect(rowCount).toBeGreaterThan(0);
    return { answer: await meanwhile() };
  } finally {
    await client.end();
  }
}

test('a correct secret whose approval cannot be stored is not counted as wrong, in either step', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const device = { id: randomUUID() };
  expect((await logIn(user, password, device)).body.status).toBe('approved');
  const { body } = await post('/v1/tokens', smsLogin(user.phone, device));
  const code = { secret: await codeOf(postern, body.id), pin: '1234' };
  const attempts = [() => logIn(user, password, device), () => post(`/v1/tokens/${body.id}/secret`, code)];
  for (const attempt of attempts) {
    expect((await withLockedDevices(user, attempt)).answer.status).toBe(503);
    await eventually('the guess to be given back', async () => ((await budgets(user)).length === 0 ? true : undefined));
    expect((await attempt()).body.status).toBe('approved');
  }
});

test('a correct secret of an account locked by an operator neither counts as wrong nor resets the budget', async () => {
  const user = await createUser(postern);
  expect((await logIn(user, 'wrong')).body.status).toBe('rejected');
  const lock = { bearer: postern.adminKey, body: { permanent: true } };
  expect((await postern.api('POST', `/admin/v1/users/${user.id}/lock`, lock)).status).toBe(200);
  for (let time = 0; time < 6; time += 1) expect((await logIn(user)).status).toBe(403);
  expect(await budgets(user)).toEqual([{ failures: 1, slots: 0 }]);
});

test('a login over the limit of its account uses no guess', async () => {
  // The limit refills by one login every six seconds, for which a busy machine could need longer.
  await holdClock(postern.database, Date.now());
  onTestFinished(() => stepClock(postern.database, '0'));
  const user = await createUser(postern);
  const statuses = [];
  for (let time = 0; time < 13; time += 1) statuses.push((await logIn(user, password, { id: randomUUID() })).status);
  expect(statuses).toEqual([...Array(10).fill(201), ...Array(3).fill(429)]);
  expect(await budgets(user)).toEqual([]);
});
