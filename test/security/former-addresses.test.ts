import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { codeOf, createUser, newPhone, smsLogin } from '../support/people.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

/** The status of a login by SMS that was begun before a change of the user, and is answered with the right code after it. */
async function loginAcross(change: object): Promise<number> {
  const { api, adminKey } = postern;
  const user = await createUser(postern, { phone: newPhone() });
  const { body } = await api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  const secret = await codeOf(postern, body.id);
  expect((await api('PATCH', `/admin/v1/users/${user.id}`, { bearer: adminKey, body: change })).status).toBe(200);
  return (await api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret, pin: '2468' } })).status;
}

test('a code that went to a number lets nobody in once the user has another number, or none', async () => {
  expect(await loginAcross({ phone: newPhone() })).toBe(400);
  expect(await loginAcross({ phone: null })).toBe(400);
});

test('a code that went to a number goes on to let in across a change of anything else', async () => {
  expect(await loginAcross({ name: 'Ada', email: `ada-${newPhone().slice(1)}@example.com` })).toBe(201);
});
