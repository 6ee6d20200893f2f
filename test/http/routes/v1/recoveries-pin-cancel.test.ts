import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import type { User } from '../../../../src/contract/user.js';
import { byPassword, createSelfService, type Person } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { createRecoverySteps } from '../../../support/recovery.js';
import { newEmail, newPhone, password } from '../../../support/users.js';

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
const { recoverPin, cancelCode, cancel, acceptedPins, setClockAhead } = createRecoverySteps(() => postern);

const owner = (fields: object = {}) => person({ pin: '2468', email: newEmail(), ...fields });
const pendingRecoveryOf = async ({ user }: Pick<Person, 'user'>) =>
  (await admin<User>('GET', `/users/${user.id}`)).body.pin_recovery;
const typesOf = async ({ user }: Person) => (await eventsOf(user.id)).map(({ type }) => type);

describe('a recovery of the PIN is cancelled', () => {
  test('by a session of the user, which needs no proof', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const cancelled = await ask<Account>(who, 'DELETE', '/pin-recovery');
    expect([cancelled.status, cancelled.body.pin_recovery]).toEqual([200, null]);
    expect(await refused(who, 'DELETE', '/pin-recovery')).toEqual([404, 'not_found']);
    await setClockAhead('25 hours');
    expect(await acceptedPins(who)).toEqual(['2468']);
    expect(await isLoggedIn(who)).toBe(true);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event).toMatchObject({ actor: 'user', data: { reason: 'asked' } });
  });

  test('by the code at another address, once, in any notation', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    const copied = ` ${code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O')} `;
    expect((await cancel('email', who.user.email, copied)).status).toBe(204);
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    await setClockAhead('25 hours');
    expect(await acceptedPins(who)).toEqual(['2468']);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event).toMatchObject({ actor: 'user', data: { reason: 'code' } });
  });

  test('by no other code, and the response does not show whether there is an account or a recovery', async () => {
    const [who, other, idle] = [await owner(), await owner(), await owner()];
    await recoverPin(who.user, '1357');
    await recoverPin(other.user, '1357');
    const code = await cancelCode(other.user.email);
    const answers = await Promise.all([
      cancel('email', who.user.email, code),
      cancel('phone', who.user.phone, 'aaaa-bbbb-cccc'),
      cancel('email', idle.user.email, code),
      cancel('email', newEmail(), code),
      cancel('phone', newPhone(), code),
    ]);
    const shapes = answers.map(({ status, headers, body }) => [status, Object.keys(headers), body.errors]);
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect([answers[0].status, answers[0].body.errors[0]?.code]).toEqual([400, 'code_rejected']);
    expect(await pendingRecoveryOf(who)).not.toBeNull();
    // Wrong codes never prevent the owner from cancelling.
    await Promise.all(Array.from({ length: 30 }, () => cancel('email', other.user.email, 'aaaa-bbbb-cccc')));
    expect((await cancel('phone', other.user.phone, code)).status).toBe(204);
  });

  test('by an operator, who can see it, but not by an operator who cannot change the user', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    expect(await pendingRecoveryOf(who)).toEqual({ started_at: expect.any(String), effective_at: expect.any(String) });
    const keyOf = async (scopes: string[]) =>
      (await admin<{ token: string }>('POST', '/keys', { name: 'x', scopes })).body.token;
    const path = `/users/${who.user.id}/pin-recovery`;
    const bearer = await keyOf(['users:read']);
    expect((await admin('DELETE', path, undefined, { bearer })).status).toBe(403);
    await admin('PATCH', `/users/${who.user.id}`, { role: 'support' });
    const helper = { bearer: await keyOf(['users:write']) };
    expect((await admin('DELETE', path, undefined, helper)).status).toBe(403);
    await admin('PATCH', `/users/${who.user.id}`, { role: 'user' });
    const cancelled = await admin<User>('DELETE', path, undefined, helper);
    expect([cancelled.status, cancelled.body.pin_recovery]).toEqual([200, null]);
    expect((await admin('DELETE', path)).status).toBe(404);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event?.actor).toMatch(/^key:/);
  });

  test('never after it has taken effect', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    await setClockAhead('24 hours 1 second');
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    expect((await ask(who, 'DELETE', '/pin-recovery')).status).toBe(404);
    expect(await acceptedPins(who, ['1357'])).toEqual(['1357']);
  });

  test('by another recovery, which waits the full delay and has its own code', async () => {
    const who = await owner();
    const first = await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    await setClockAhead('12 hours');
    const second = await recoverPin(who.user, '9876');
    expect(Date.parse(second.body.effective_at ?? '')).toBeGreaterThan(Date.parse(first.body.effective_at ?? ''));
    const newCode = await cancelCode(who.user.email, [code]);
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    await setClockAhead('25 hours');
    expect(await acceptedPins(who, ['2468', '1357', '9876'])).toEqual(['2468']);
    await setClockAhead('36 hours 1 second');
    expect((await cancel('email', who.user.email, newCode)).status).toBe(400);
    expect(await acceptedPins(who, ['9876'])).toEqual(['9876']);
  });

  const newPassword = 'nine dull horses';
  test.each<[string, (who: Person) => Promise<unknown>, string, string]>([
    [
      'a new password',
      (who) => ask(who, 'PUT', '/password', { password: newPassword, proof: byPassword }),
      '2468',
      newPassword,
    ],
    ['a new PIN', (who) => ask(who, 'PUT', '/pin', { pin: '9876', proof: byPassword }), '9876', password],
    ['a new phone number', ({ user }) => admin('PATCH', `/users/${user.id}`, { phone: newPhone() }), '2468', password],
    ['an operator’s new PIN', ({ user }) => admin('PATCH', `/users/${user.id}`, { pin: '9876' }), '9876', password],
    [
      'deactivation',
      async ({ user }) => {
        await admin('PATCH', `/users/${user.id}`, { status: 'deactivated' });
        await admin('PATCH', `/users/${user.id}`, { status: 'active' });
      },
      '2468',
      password,
    ],
  ])('by %s', async (_, change, pin, secret) => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await change(who);
    expect(await pendingRecoveryOf(who)).toBeNull();
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event?.data).toEqual({ reason: 'account_changed' });
    await setClockAhead('25 hours');
    expect(await acceptedPins(who, ['1357', pin], secret)).toEqual([pin]);
  });

  test('but not by a lock or a new name: the operator decides about the recovery separately', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await ask(who, 'PATCH', '', { name: 'Ada' });
    await admin('POST', `/users/${who.user.id}/lock`, { permanent: true });
    await admin('POST', `/users/${who.user.id}/unlock`);
    expect(await pendingRecoveryOf(who)).not.toBeNull();
  });

  test('by one of several parallel requests with its code', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => cancel('email', who.user.email, code)),
      ...Array.from({ length: 10 }, () => ask(who, 'DELETE', '/pin-recovery')),
    ]);
    expect(answers.filter(({ status }) => status === 200 || status === 204)).toHaveLength(1);
    expect((await typesOf(who)).filter((type) => type === 'pin_recovery.cancelled')).toHaveLength(1);
  });
});
