import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { codeOf, createUser, newPhone, smsLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

/** The status of a login by SMS that started before a change of the user and gets the correct code afterwards. */
async function loginAcross(change: object): Promise<number> {
  const { api, adminKey } = postern;
  const user = await createUser(postern, { phone: newPhone() });
  const { body } = await api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  const secret = await codeOf(postern, body.id);
  expect((await api('PATCH', `/admin/v1/users/${user.id}`, { bearer: adminKey, body: change })).status).toBe(200);
  return (await api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret, pin: '2468' } })).status;
}

test('a code to a former number is refused', async () => {
  expect(await loginAcross({ phone: newPhone() })).toBe(400);
  expect(await loginAcross({ phone: null })).toBe(400);
});

test('a code stays valid when anything but the number changes', async () => {
  expect(await loginAcross({ name: 'Ada', email: `ada-${newPhone().slice(1)}@example.com` })).toBe(201);
});
