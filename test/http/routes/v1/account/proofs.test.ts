import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AccountDetails } from '../../../../../src/contract/account/account.js';
import type { StartedProof } from '../../../../../src/contract/account/proof.js';
import type { Person } from '../../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { createFactors } from '../../../../support/factors.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, newPhone, password, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('a proof by code starts, and the code goes to the account’s phone', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const { session } = await signIn(postern, user);
  const started = await postern.api<StartedProof>('POST', '/v1/account/proofs', {
    bearer: session.token,
    body: { type: 'sms' },
  });
  expect(started.status).toBe(201);
  const { phone } = user;
  expect(started.body).toEqual({
    ...{ id: expect.any(String), type: 'code', expires_at: expect.any(String), resend_at: expect.any(String) },
    destination: `${phone?.slice(0, 3)}…${phone?.slice(-2)}`,
  });
  // A code lives five minutes, and the next code may be requested after one minute. That minute starts a moment earlier,
  // so the difference is rounded.
  const { resend_at, expires_at } = started.body;
  expect(Math.round((Date.parse(expires_at) - Date.parse(resend_at ?? '')) / 60_000)).toBe(4);
});

test.each(['sms', 'email', 'passkey'])('a proof by %s is 422 for a user without it', async (type) => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const answer = await postern.api<ProblemAnswer>('POST', '/v1/account/proofs', {
    bearer: session.token,
    body: { type },
  });
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([{ field: 'type', code: 'not_supported' }]);
});

test('codes are limited: a second one within a minute is 429', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const { session } = await signIn(postern, user);
  const start = () => postern.api('POST', '/v1/account/proofs', { bearer: session.token, body: { type: 'sms' } });
  expect((await start()).status).toBe(201);
  const second = await start();
  expect(second.status).toBe(429);
  expect(Number(second.headers['retry-after'])).toBeGreaterThan(30);
});

describe('the proofs that GET /v1/account lists', () => {
  const { person, ask, enrolTotp, enrolPasskey } = createFactors(() => postern);
  const proofsOf = async (who: Person) => (await ask<AccountDetails>(who, 'GET', '')).body.proofs;
  const summaryOf = async (who: Person) =>
    (await proofsOf(who)).map(({ type, start, accepted_for: uses, reason }) =>
      [start ?? type, ...(reason === null ? uses : [reason])].join(' '),
    );

  test('are all that the user has, with the destination of each code', async () => {
    const who = await person({ email: 'ada@example.com' });
    const { phone } = who.user;
    expect(await proofsOf(who)).toEqual([
      { type: 'password', start: null, destination: null, accepted_for: ['account', 'pin'], reason: null },
      {
        ...{ type: 'code', start: 'sms', destination: `${phone?.slice(0, 3)}…${phone?.slice(-2)}` },
        ...{ accepted_for: ['account', 'pin'], reason: null },
      },
      { type: 'code', start: 'email', destination: 'a…@example.com', accepted_for: ['account', 'pin'], reason: null },
      { type: 'passkey', start: 'passkey', destination: null, accepted_for: [], reason: 'not_set' },
      { type: 'totp', start: null, destination: null, accepted_for: [], reason: 'not_set' },
      { type: 'pin', start: null, destination: null, accepted_for: [], reason: 'not_set' },
    ]);
  });

  test('for a change of the PIN include no code if the user has a PIN', async () => {
    const who = await person({ pin: '2468' });
    expect(await summaryOf(who)).toEqual([
      'password account pin',
      'sms account',
      'email not_set',
      'passkey not_set',
      'totp not_set',
      'pin pin',
    ]);
  });

  test('are only those that include the second factor, also in a session from before it was enrolled', async () => {
    const who = await person({ pin: '2468' });
    await enrolTotp(who);
    expect(await summaryOf(who)).toEqual([
      'password second_factor_required',
      'sms second_factor_required',
      'email not_set',
      'passkey not_set',
      'totp account pin',
      'pin second_factor_required',
    ]);
  });

  test('for a change of the PIN are the PIN alone, during the delay after a code has set the password', async () => {
    const who = await person({ pin: '2468' });
    await enrolPasskey(who);
    await postern.database.query(
      testSql(`update users set pin_guarded_until = db_now() + interval '1 hour' where id = $1`, [who.user.id]),
    );
    expect(await summaryOf(who)).toEqual([
      'password account',
      'sms account',
      'email not_set',
      'passkey account',
      'totp not_set',
      'pin pin',
    ]);
  });

  test('are accepted and refused as listed', async () => {
    const secrets: Readonly<Record<string, string>> = { password, pin: '2468' };
    for (const enrols of [false, true]) {
      const who = await person({ pin: '2468' });
      if (enrols) await enrolTotp(who);
      for (const { type, accepted_for: uses } of await proofsOf(who)) {
        const secret = secrets[type];
        if (secret === undefined) continue;
        const proof = { type, secret };
        const { status: accountStatus } = await ask(who, 'PATCH', '', { username: who.user.username, proof });
        const { status: pinStatus } = await ask(who, 'PUT', '/pin', { pin: '2468', proof });
        expect([type, accountStatus, pinStatus]).toEqual([
          type,
          uses.includes('account') ? 200 : 422,
          uses.includes('pin') ? 200 : 422,
        ]);
      }
    }
  });
});

test('a service without a provider offers no codes as proofs', async () => {
  const silent = await startTestApp({ SMS_PROVIDER: 'none', MAIL_PROVIDER: 'none' });
  onTestFinished(() => silent.close());
  const { session } = await signIn(silent, await createUser(silent, { phone: newPhone() }));
  const { body } = await silent.api<AccountDetails>('GET', '/v1/account', { bearer: session.token });
  const codes = body.proofs.filter(({ type }) => type === 'code');
  expect(codes.map(({ start, reason }) => [start, reason])).toEqual([
    ['sms', 'not_offered'],
    ['email', 'not_offered'],
  ]);
});
