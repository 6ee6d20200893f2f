import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import type { OutboxMessage } from '../../../../src/contract/administration.js';
import type { User } from '../../../../src/contract/user.js';
import { byPassword, createSelfService, type Person } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createFactors } from '../../../support/factors.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { createRecoverySteps } from '../../../support/recovery.js';
import { testSql } from '../../../support/sql.js';
import { codeOf, newEmail, smsLogin } from '../../../support/users.js';

const env = {
  ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', SESSION_TTL: '30d' },
  ...{ GUESS_LIMIT: '5', GUESS_LOCK: '1h' },
};
let fcm: FcmFake;
let postern: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  fcm.behave({ status: 200, body: {} });
  postern = await startTestApp({ ...fcm.env, ...env });
});
afterEach(() => setClockAhead('0'));
afterAll(async () => {
  await postern.close();
  await fcm.close();
});

const { person, ask, refused, isLoggedIn } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const { begin, complete, recoverPin, cancelCode, cancel, loginWith, acceptedPins, setClockAhead } = createRecoverySteps(
  () => postern,
);

const owner = (fields: object = {}) => person({ pin: '2468', email: newEmail(), ...fields });
const pendingRecoveryOf = async ({ user }: Pick<Person, 'user'>) =>
  (await admin<User>('GET', `/users/${user.id}`)).body.pin_recovery;
const typesOf = async ({ user }: Person) => (await eventsOf(user.id)).map(({ type }) => type);

describe('a PIN that a code has recovered', () => {
  test('replaces the old one a day later, and not a moment before', async () => {
    const who = await owner();
    const answer = await recoverPin(who.user, '1357');
    expect([answer.status, answer.body]).toEqual([
      200,
      { id: expect.any(String), recovered: 'pin', status: 'pending', effective_at: expect.any(String) },
    ]);
    const shown = (await ask<Account>(who, 'GET', '')).body.pin_recovery;
    expect(shown).toEqual({ started_at: expect.any(String), effective_at: answer.body.effective_at });
    expect(Date.parse(shown?.effective_at ?? '') - Date.parse(shown?.started_at ?? '')).toBe(86_400_000);
    expect(await acceptedPins(who)).toEqual(['2468']);
    await setClockAhead('23 hours 59 minutes');
    expect(await acceptedPins(who)).toEqual(['2468']);
    expect(await isLoggedIn(who)).toBe(true);
    await setClockAhead('24 hours');
    expect(await acceptedPins(who, ['1357'])).toEqual(['1357']);
    expect(await acceptedPins(who, ['2468'])).toEqual([]);
    expect(await isLoggedIn(who)).toBe(false);
    expect(await pendingRecoveryOf(who)).toBeNull();
    const types = await typesOf(who);
    expect(types).toEqual(
      expect.arrayContaining(['pin_recovery.started', 'recovery.completed', 'user.pin_changed', 'user.logged_out']),
    );
    expect(types.indexOf('recovery.completed')).toBeGreaterThan(types.indexOf('pin_recovery.started'));
  });

  test('does not let a thief of the SIM log in, neither by SMS nor with a recovered password', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await postern.database.query(testSql('delete from message_limits'));
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(who.user.phone) });
    const body = { secret: await codeOf(postern, begun.id), pin: '1357' };
    expect((await postern.api('POST', `/v1/tokens/${begun.id}/secret`, { body })).status).toBe(400);
    const { path, secret } = await begin(who.user, 'password');
    const stolen = 'nine dull horses';
    const recovered = await complete(path, { secret, password: stolen });
    expect(recovered.body).toEqual({ id: expect.any(String), recovered: 'password' });
    expect(await loginWith(who.user, undefined, stolen)).toBe('rejected');
    expect(await loginWith(who.user, '1357', stolen)).toBe('rejected');
    // The recovery of the password has ended the recovery of the PIN.
    await setClockAhead('25 hours');
    expect(await acceptedPins(who, ['1357'], stolen)).toEqual([]);
    expect(await acceptedPins(who, ['2468'], stolen)).toEqual(['2468']);
  });

  test('takes effect for all parallel logins at the same time', async () => {
    for (const pin of ['1357', '2468']) {
      const who = await owner();
      await recoverPin(who.user, '1357');
      await setClockAhead('24 hours 1 second');
      const statuses = await Promise.all(Array.from({ length: 5 }, () => loginWith(who.user, pin)));
      expect(new Set(statuses)).toEqual(new Set([pin === '1357' ? 'approved' : 'rejected']));
      expect((await typesOf(who)).filter((type) => type === 'recovery.completed')).toHaveLength(1);
      await setClockAhead('0');
    }
  });

  test('applies to a login that was started with the old one', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await setClockAhead('23 hours 59 minutes');
    await postern.database.query(testSql('delete from message_limits'));
    const login = { ...smsLogin(who.user.phone), pin: '2468' };
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: login });
    const secret = await codeOf(postern, begun.id);
    await setClockAhead('24 hours 1 second');
    const answer = { body: { secret, pin: '2468' } };
    expect((await postern.api('POST', `/v1/tokens/${begun.id}/secret`, answer)).status).toBe(400);
  });

  test('ends a session that sends the old one as a proof', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await setClockAhead('24 hours 1 second');
    const change = { pin: '9876', proof: { type: 'pin', secret: '2468' } };
    expect(await refused(who, 'PUT', '/pin', change)).toEqual([401, 'invalid_session_token']);
    expect(await acceptedPins(who, ['1357'])).toEqual(['1357']);
  });

  test('takes effect without a login, by the queue, and ends existing logins', async () => {
    const hasty = await startTestApp({ ...env, PIN_RECOVERY_DELAY: '1s' });
    try {
      const self = createSelfService(() => hasty);
      const who = await self.person({ pin: '2468' });
      await createRecoverySteps(() => hasty).recoverPin(who.user, '1357');
      await eventually('the session to end', async () => ((await self.isLoggedIn(who)) ? undefined : true));
      const { loginWith: logIn } = createRecoverySteps(() => hasty);
      expect([await logIn(who.user, '2468'), await logIn(who.user, '1357')]).toEqual(['rejected', 'approved']);
    } finally {
      await hasty.close();
    }
  });

  test('takes effect at once without a delay', async () => {
    const prompt = await startTestApp({ ...env, PIN_RECOVERY_DELAY: '0' });
    try {
      const self = createSelfService(() => prompt);
      const steps = createRecoverySteps(() => prompt);
      const who = await self.person({ pin: '2468' });
      const { body } = await steps.recoverPin(who.user, '1357');
      expect(body).toEqual({ id: expect.any(String), recovered: 'pin' });
      expect(await self.isLoggedIn(who)).toBe(false);
      const statuses = [await steps.loginWith(who.user, '2468'), await steps.loginWith(who.user, '1357')];
      expect(statuses).toEqual(['rejected', 'approved']);
    } finally {
      await prompt.close();
    }
  });

  test('does not change the second factor', async () => {
    const factors = createFactors(() => postern);
    const who = await owner();
    const { app } = await factors.enrolTotp(who);
    await recoverPin(who.user, '1357');
    expect(await loginWith(who.user, '2468')).toBe('pending');
    await setClockAhead('24 hours 1 second');
    const login = { ...smsLogin(who.user.phone), pin: '1357' };
    await postern.database.query(testSql('delete from message_limits'));
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: login });
    const first = { secret: await codeOf(postern, begun.id), pin: '1357' };
    const halfway = await postern.api<{ status: string }>('POST', `/v1/tokens/${begun.id}/secret`, { body: first });
    expect(halfway.body.status).toBe('pending');
    await app.rewind();
    expect((await factors.answer(begun.id, await app.code())).body.status).toBe('approved');
  });

  test('is shown in an export without the PIN, and is deleted with the user', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const { body, text } = await ask<{ account: Account }>(who, 'GET', '/export');
    expect(body.account.pin_recovery).toEqual(await pendingRecoveryOf(who));
    expect(text).not.toMatch(/argon2|next_pin/);
    expect((await admin('DELETE', `/users/${who.user.id}`)).status).toBe(204);
    await setClockAhead('25 hours');
    await expect(postern.services.pinRecoveries.apply(who.user.id)).resolves.toBeUndefined();
  });
});

describe('the notices about a recovery of the PIN', () => {
  test('go at once to known devices and to other addresses, but not to the address of the code', async () => {
    const who = await owner();
    const token = randomBytes(32).toString('hex');
    const body = { type: 'android', token };
    expect((await postern.api('POST', '/v1/devices/tokens', { bearer: who.bearer, body })).status).toBeLessThan(300);
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){2}$/);
    const path = `/outbox?filter=user_id:${who.user.id},kind:in:sms.pin_recovery;email.pin_recovery`;
    const messages = (await admin<OutboxMessage[]>('GET', path)).body;
    expect(messages.map(({ channel, recipient }) => [channel, recipient])).toEqual([['email', who.user.email]]);
    const pushed = await eventually('the push', async () =>
      fcm.received.find(({ to, content }) => to === token && JSON.stringify(content).includes('pin_recovery')),
    );
    expect(JSON.stringify(pushed.content)).not.toContain(code);
  });

  test('go to the phone if the code went by mail', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357', 'email');
    expect(await cancel('phone', who.user.phone, await cancelCode(who.user.phone))).toMatchObject({ status: 204 });
    expect(await pendingRecoveryOf(who)).toBeNull();
  });
});

test('a recovery of the password does not reset the guesses at the PIN', async () => {
  const who = await owner();
  for (let n = 0; n < 5; n += 1) expect(await loginWith(who.user, '0000')).toBe('rejected');
  const { path, secret } = await begin(who.user, 'password');
  const stolen = 'nine dull horses';
  expect((await complete(path, { secret, password: stolen })).status).toBe(200);
  const body = { identity: { type: 'username', value: who.user.username }, authenticator: 'password', secret: stolen };
  expect((await postern.api('POST', '/v1/tokens', { body: { ...body, device: {}, pin: '0001' } })).status).toBe(423);
});

test('a change of the PIN ends a recovery whose code was sent', async () => {
  const who = await owner();
  const { path, secret } = await begin(who.user, 'pin');
  expect((await ask(who, 'PUT', '/pin', { pin: '9876', proof: byPassword })).status).toBe(200);
  expect((await complete(path, { secret, pin: '1357' })).status).toBe(400);
  expect(await pendingRecoveryOf(who)).toBeNull();
});
