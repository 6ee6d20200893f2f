import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../../src/contract/user.js';
import { byPassword, codesTo, codeTo, createSelfService } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { createUser, login, newEmail, newPhone, passwordLogin, wrongCode } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT_PERMANENT: '6', GUESS_LOCK: '1h' },
  });
});
afterAll(() => postern.close());

const { person, signInAgain, ask, isLoggedIn } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const password = 'nine dull horses';

const start = (phone: string | null, purpose = 'password') =>
  postern.api<{ id: string; expires_at: string }>('POST', '/v1/recoveries', {
    body: { identity: { type: 'phone', value: phone }, purpose },
  });
async function refusal(path: string, body: object) {
  const answer = await postern.api<ProblemAnswer>('POST', path, { body });
  return [
    answer.status,
    ...answer.body.errors.map(({ field, code }) => (field === undefined ? code : `${field} ${code}`)),
  ];
}
const complete = (path: string, body: object) => postern.api('POST', path, { body });

async function begin({ phone }: Pick<User, 'phone'>, purpose = 'password') {
  const seen = await codesTo(postern, phone ?? '');
  const { body } = await start(phone, purpose);
  return { path: `/v1/recoveries/${body.id}`, secret: await codeTo(postern, phone ?? '', seen) };
}
const logIn = async ({ username }: User, secret: string, pin?: string) =>
  postern.api<{ status: string }>('POST', '/v1/tokens', {
    body: { ...passwordLogin(username, secret), ...(pin !== undefined && { pin }) },
  });

describe('a recovery', () => {
  test('of the password sets the new one, and ends every login', async () => {
    const who = await person();
    const { path, secret } = await begin(who.user);
    const answer = await complete(path, { secret, password });
    expect([answer.status, answer.body]).toEqual([200, { id: path.split('/').at(-1), recovered: 'password' }]);
    expect(await isLoggedIn(who)).toBe(false);
    expect((await logIn(who.user, byPassword.secret)).body.status).toBe('rejected');
    expect((await logIn(who.user, password)).body.status).toBe('approved');
    expect(await refusal(path, { secret, password })).toEqual([400, 'code_rejected']);
    const types = (await eventsOf(who.user.id)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['recovery.started', 'user.password_changed', 'recovery.completed']));
  });

  test('works by mail as by SMS', async () => {
    const user = await createUser(postern, { email: newEmail() });
    const identity = { type: 'email', value: user.email?.toUpperCase() };
    const { body } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
      body: { identity, purpose: 'password' },
    });
    const secret = await codeTo(postern, user.email ?? '');
    expect((await complete(`/v1/recoveries/${body.id}`, { secret, password })).status).toBe(200);
    expect((await logIn(user, password)).body.status).toBe('approved');
  });

  test('recovers only the requested secret', async () => {
    const { user } = await person({ pin: '2468' });
    const { path, secret } = await begin(user, 'pin');
    expect(await refusal(path, { secret, password })).toEqual([400, 'code_rejected']);
    expect(await refusal(path, { secret, password, pin: '1357' })).toEqual([422, 'pin conflicting_fields']);
    expect(await refusal(path, { secret })).toEqual([422, 'one_required']);
    expect((await complete(path, { secret, pin: '1357' })).status).toBe(200);
    expect(await refusal(path, { secret, pin: '1357' })).toEqual([400, 'code_rejected']);
  });

  test('checks the new password against the policy before it counts a guess', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { path, secret } = await begin(user);
    for (let n = 0; n < 6; n += 1) {
      expect(await refusal(path, { secret, password: 'password' })).toEqual([422, 'password password_too_common']);
    }
    expect((await complete(path, { secret, password })).status).toBe(200);
  });

  test('refuses the own phone number as password only after the right code, which stays valid', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { path, secret } = await begin(user);
    const own = { password: user.phone };
    expect(await refusal(path, { ...own, secret: '000000' })).toEqual([400, 'code_rejected']);
    expect(await refusal(path, { ...own, secret })).toEqual([422, 'password password_too_personal']);
    expect((await complete(path, { secret, password })).status).toBe(200);
  });

  test('allows five wrong codes, and then refuses the correct one in the same way', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { path, secret } = await begin(user);
    for (let n = 0; n < 5; n += 1) {
      expect(await refusal(path, { secret: wrongCode(secret), password })).toEqual([400, 'code_rejected']);
    }
    expect(await refusal(path, { secret, password })).toEqual([423, 'account_temporarily_locked']);
    await admin('POST', `/users/${user.id}/unlock`);
    expect(await refusal(path, { secret, password })).toEqual([400, 'code_rejected']);
  });

  test('succeeds for one of 50 parallel requests with one code', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { path, secret } = await begin(user);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => complete(path, { secret, password: `${password} ${n}` })),
    );
    const winners = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    expect(winners).toHaveLength(1);
    expect((await logIn(user, `${password} ${winners[0]}`)).body.status).toBe('approved');
    expect((await eventsOf(user.id)).filter(({ type }) => type === 'recovery.completed')).toHaveLength(1);
  });

  test('is completed by the first of two valid codes, and the other becomes invalid', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const one = await begin(user);
    await postern.database.query(testSql('delete from message_limits'));
    const other = await begin(user);
    expect((await complete(other.path, { secret: other.secret, password })).status).toBe(200);
    expect(await refusal(one.path, { secret: one.secret, password: `${password}!` })).toEqual([400, 'code_rejected']);
  });

  test('works while the account is locked by guesses, even permanently, and unlocks it', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    for (let n = 0; n < 5; n += 1) await logIn(user, 'wrong');
    expect((await login(postern, user)).status).toBe(423);
    await postern.database.query(
      testSql('update guess_budgets set permanent = true, locked_until = null where user_id = $1', [user.id]),
    );
    expect((await login(postern, user)).status).toBe(403);
    const { path, secret } = await begin(user);
    expect((await complete(path, { secret, password })).status).toBe(200);
    expect((await logIn(user, password)).body.status).toBe('approved');
  });

  test('has separate limits on a known device, so strangers cannot block the owner by requests or guesses', async () => {
    const who = await person();
    const { body: strangers } = await start(who.user.phone);
    expect((await start(who.user.phone)).status).toBe(429);
    const wrong = { secret: 'wrong', password };
    for (let n = 0; n < 5; n += 1) await refusal(`/v1/recoveries/${strangers.id}`, wrong);
    expect(await refusal(`/v1/recoveries/${strangers.id}`, wrong)).toEqual([423, 'account_temporarily_locked']);
    const seen = await codesTo(postern, who.user.phone ?? '');
    const request = { identity: { type: 'phone', value: who.user.phone }, purpose: 'password' };
    const { status, body } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
      body: { ...request, device: { id: who.deviceId.toUpperCase() } },
    });
    expect(status).toBe(201);
    const secret = await codeTo(postern, who.user.phone ?? '', seen);
    expect((await complete(`/v1/recoveries/${body.id}`, { secret, password })).status).toBe(200);
    // A device of another user and an unknown device count as strangers.
    const other = await person();
    for (const id of [who.deviceId, randomUUID()]) {
      const value = other.user.phone;
      const answer = await postern.api('POST', '/v1/recoveries', {
        body: { ...request, identity: { type: 'phone', value }, device: { id } },
      });
      expect(answer.status).toBe(id === who.deviceId ? 201 : 429);
    }
  });

  test('does not remove an operator’s lock', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    const { path, secret } = await begin(user);
    expect((await complete(path, { secret, password })).status).toBe(200);
    expect((await logIn(user, password)).status).toBe(403);
  });

  test('ends when its address is removed, the password changes, or the user is deactivated or deleted', async () => {
    const changes: readonly ((user: User) => Promise<unknown>)[] = [
      (user) => admin('PATCH', `/users/${user.id}`, { phone: null }),
      (user) => admin('PATCH', `/users/${user.id}`, { password: 'an entirely other one' }),
      (user) => admin('PATCH', `/users/${user.id}`, { status: 'deactivated' }),
      (user) => admin('DELETE', `/users/${user.id}`),
    ];
    for (const change of changes) {
      const user = await createUser(postern, { phone: newPhone() });
      const { path, secret } = await begin(user);
      await change(user);
      expect(await refusal(path, { secret, password })).toEqual([400, 'code_rejected']);
    }
  });

  test('is not a login and returns no token', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { path, secret } = await begin(user);
    expect((await complete(path, { secret, password })).text).not.toMatch(/ps[as]_/);
  });

  test('ends all sessions, even if one of them sends a request at the same time', async () => {
    const who = await person();
    const other = await signInAgain(who.user);
    const { path, secret } = await begin(who.user);
    const [done] = await Promise.all([complete(path, { secret, password }), ask(other, 'GET', '')]);
    expect(done.status).toBe(200);
    expect([await isLoggedIn(who), await isLoggedIn(other)]).toEqual([false, false]);
  });
});

describe('starting a recovery', () => {
  /** The traces of a request for an address: the kinds of rows, and the states of messages. */
  async function traces(challengeId: string) {
    const [row] = await postern.database.query<{ user_id: string }>(
      testSql('select user_id from challenges where id = $1', [challengeId]),
    );
    const userId = row?.user_id ?? '';
    const read = (text: string) => postern.database.query<{ shape: string }>(testSql(text, [userId]));
    return eventually('the message to leave the queue', async () => {
      const messages = await read('select state as shape from outbox where user_id = $1');
      if (messages.some(({ shape }) => shape === 'queued')) return undefined;
      const events = await read("select type as shape from events where user_id = $1 and type like 'recovery.%'");
      return { messages: messages.map(({ shape }) => shape), events: events.map(({ shape }) => shape) };
    });
  }

  test('returns the same response for known, unknown and deactivated users and for users without the secret, and sends a code only to the first', async () => {
    const known = await createUser(postern, { phone: newPhone() });
    const deactivated = await createUser(postern, { phone: newPhone() });
    await admin('PATCH', `/users/${deactivated.id}`, { status: 'deactivated' });
    const { body: withoutPassword } = await admin('POST', '/users', { phone: newPhone() });
    const phones = [known.phone, newPhone(), deactivated.phone, withoutPassword.phone];
    const answers = await Promise.all(phones.map((phone) => start(phone)));
    const shapes = answers.map(({ status, headers, body }) => [status, Object.keys(headers), Object.keys(body)]);
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const tracesOfAll = await Promise.all(answers.map(({ body }) => traces(body.id)));
    expect(tracesOfAll.map(({ messages }) => messages)).toEqual([['sent'], ['dropped'], ['dropped'], ['dropped']]);
    expect(new Set(tracesOfAll.map(({ events }) => JSON.stringify(events))).size).toBe(1);
  });

  test('has the same limit for all: a second request within a minute gets 429', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    for (const phone of [user.phone, newPhone()]) {
      expect((await start(phone)).status).toBe(201);
      const second = await start(phone);
      expect([second.status, Number(second.headers['retry-after']) > 50]).toEqual([429, true]);
    }
  });

  test('a wrong code gets the same 400, and locks in the same way, for known, unknown and invented ids', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const bodies = await Promise.all([start(user.phone), start(newPhone())]);
    for (const { body } of bodies) {
      const path = `/v1/recoveries/${body.id}`;
      const statuses: unknown[] = [];
      for (let n = 0; n < 6; n += 1) statuses.push(...(await refusal(path, { secret: 'wrong', password })).slice(0, 1));
      expect(statuses).toEqual([400, 400, 400, 400, 400, 423]);
    }
    for (const id of [randomUUID(), 'nothing']) {
      expect(await refusal(`/v1/recoveries/${id}`, { secret: 'wrong', password })).toEqual([400, 'code_rejected']);
    }
  });

  test('reports errors: an invalid address, a username, an unknown purpose', async () => {
    const identity = (type: string, value: string) => ({ identity: { type, value }, purpose: 'password' });
    expect(await refusal('/v1/recoveries', identity('phone', '12'))).toEqual([422, 'identity.value invalid_identity']);
    expect(await refusal('/v1/recoveries', identity('username', 'ada'))).toEqual([422, 'identity.type invalid_choice']);
    expect(await refusal('/v1/recoveries', { ...identity('phone', newPhone()), purpose: 'totp' })).toEqual([
      422,
      'purpose invalid_choice',
    ]);
  });
});
