import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../../../../src/contract/authentication.js';
import { codeTo } from '../../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { ageLogin, signInWithRole } from '../../../../support/operators.js';
import { createUser, newEmail, newPhone, password, passwordLogin, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', MAIL_PROVIDER: 'console', PASSWORD_MIN: '15' });
});
afterAll(() => postern.close());

interface Sent {
  readonly channel: string;
  readonly destination: string;
}
const send = (id: string, channel: string, bearer = postern.adminKey) =>
  postern.api<Sent & ProblemAnswer>('POST', `/admin/v1/users/${id}/password-codes`, { bearer, body: { channel } });
const start = (username: string | null, secret: string) =>
  postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(username, secret) });

test.each([
  ['email', newEmail],
  ['sms', newPhone],
] as const)(
  'a code by %s replaces the password for one login, which asks for the user’s own',
  async (channel, address) => {
    const to = address();
    const user = await createUser(postern, { [channel === 'sms' ? 'phone' : 'email']: to });
    const { token } = await signIn(postern, user);
    const operator = await signInWithRole(postern, 'operator');
    const sent = await send(user.id, channel, operator.bearer);
    expect(sent.status).toBe(201);
    expect(sent.body).toEqual({ channel, destination: expect.stringContaining('…') });
    const code = await codeTo(postern, to);
    // The operator sees nothing of the code, and the old password and logins are gone.
    expect(sent.text).not.toContain(code);
    expect((await start(user.username, password)).body.status).toBe('rejected');
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    const { body } = await start(user.username, code);
    expect(body).toMatchObject({ status: 'pending', challenge: { type: 'new_password' } });
    const own = 'nine dull horses sleep';
    const chosen = await postern.api<Authentication>('POST', `/v1/tokens/${body.id}/secret`, { body: { secret: own } });
    expect(chosen.body.status).toBe('approved');
    expect((await start(user.username, code)).body.status).toBe('rejected');
    expect((await start(user.username, own)).body.status).toBe('approved');
  },
);

test('no code goes to an address that is missing or unproven, and the password stays', async () => {
  const user = await createUser(postern, { email: newEmail(), email_verified: false });
  const refused = { status: 422, body: { errors: [{ field: 'channel', code: 'not_supported' }] } };
  expect(await send(user.id, 'sms')).toMatchObject(refused);
  expect(await send(user.id, 'email')).toMatchObject(refused);
  expect((await start(user.username, password)).body.status).toBe('approved');
});

test('operators send codes to more users than one client address may request in an hour', async () => {
  const statuses = [];
  for (let at = 0; at < 35; at += 1) {
    const user = await createUser(postern, { email: newEmail() });
    statuses.push((await send(user.id, 'email')).status);
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
});

test('codes have the limits of login codes, and a refused one leaves the password as it is', async () => {
  const email = newEmail();
  const user = await createUser(postern, { email });
  expect((await send(user.id, 'email')).status).toBe(201);
  const code = await codeTo(postern, email);
  expect((await send(user.id, 'email')).status).toBe(429);
  expect((await start(user.username, code)).body.status).toBe('pending');
});

test('a user with a role needs the scope admin, and a session a fresh proof', async () => {
  const operator = await signInWithRole(postern, 'operator');
  const support = await signInWithRole(postern, 'support');
  expect((await send(operator.user.id, 'email', support.bearer)).body.errors[0]?.code).toBe('insufficient_scope');
  const user = await createUser(postern, { email: newEmail() });
  expect((await send(user.id, 'email', support.bearer)).status).toBe(201);
  const other = await createUser(postern, { email: newEmail() });
  await ageLogin(postern, support.user.id, 16);
  const stale = await send(other.id, 'email', support.bearer);
  expect([stale.status, stale.body.errors[0]?.code]).toEqual([403, 'fresh_proof_required']);
});
