import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../../../../src/contract/session.js';
import { byPassword, codeTo } from '../../../../support/account.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, newPhone, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const check = async (token: string) =>
  (await postern.api<Session>('POST', '/v1/sessions/verify', { bearer: token })).body;
const prove = (bearer: string, proof: object) =>
  postern.api<{ token: string; proven_at: string }>('PUT', '/v1/account/session-proof', { bearer, body: { proof } });

describe('a check of a session', () => {
  test('says when and how the user logged in', async () => {
    const user = await createUser(postern);
    const { authentication, session } = await signIn(postern, user);
    const { authenticated_at: time, amr, proven_at: proven } = await check(session.token);
    expect([amr, proven]).toEqual([['pwd'], null]);
    expect(Date.parse(time)).toBeGreaterThanOrEqual(Date.parse(authentication.created_at));
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.parse(session.created_at));
  });

  test('shows a proof with its method, in all sessions of the login and on every instance', async () => {
    const other = await postern.another();
    const phone = newPhone();
    const user = await createUser(postern, { phone });
    const { token, session } = await signIn(postern, user);
    const { body: further } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
    const onOther = () => other.api<Session>('POST', '/v1/sessions/verify', { bearer: further.token });
    expect((await onOther()).body.amr).toEqual(['pwd']);

    const { body: started } = await postern.api<{ id: string }>('POST', '/v1/account/proofs', {
      bearer: session.token,
      body: { type: 'sms' },
    });
    const code = await codeTo(postern, phone);
    const { body: proven } = await prove(session.token, { type: 'code', id: started.id, secret: code });
    expect(await check(proven.token)).toMatchObject({ amr: ['pwd', 'sms', 'mfa'], proven_at: proven.proven_at });
    expect((await onOther()).body).toMatchObject({ amr: ['pwd', 'sms', 'mfa'], proven_at: proven.proven_at });

    const { body: again } = await prove(proven.token, byPassword);
    expect((await onOther()).body).toMatchObject({ amr: ['pwd', 'sms', 'mfa'], proven_at: again.proven_at });
    await other.close();
  });

  test('does not show the proofs of another login of the user', async () => {
    const user = await createUser(postern);
    const [one, two] = [await signIn(postern, user), await signIn(postern, user)];
    await prove(one.session.token, byPassword);
    expect((await check(two.session.token)).proven_at).toBeNull();
  });

  test('notices a second factor that somebody notes by hand', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    expect((await check(session.token)).amr).toEqual(['pwd']);
    await postern.database.query(
      testSql("update authentications set second_factor = 'totp' where user_id = $1", [user.id]),
    );
    expect((await check(session.token)).amr).toEqual(['pwd', 'otp', 'mfa']);
  });
});

test('the old session ends when the new one is first used, and a wrong proof changes nothing', async () => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  expect((await prove(session.token, { type: 'password', secret: 'a wrong password' })).status).toBe(400);
  expect(await check(session.token)).toMatchObject({ proven_at: null });
  const { body } = await prove(session.token, byPassword);
  const statusOf = async (token: string) =>
    (await postern.api('POST', '/v1/sessions/verify', { bearer: token })).status;
  expect([await statusOf(session.token), await statusOf(body.token), await statusOf(session.token)]).toEqual([
    200, 200, 401,
  ]);
});
