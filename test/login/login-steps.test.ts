import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { createFactors, originOf } from '../support/factors.js';
import { signInWithRole } from '../support/operators.js';
import { type CreationOptions, makePasskey } from '../support/software-authenticator.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, newEmail, newPhone, password, passwordLogin, wrongCode } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'optional' },
    SECOND_FACTOR_BY_ROLE: 'user:own',
  });
});
afterAll(() => postern.close());

type Answer = Authentication & Pick<ProblemAnswer, 'errors' | 'type'> & { readonly recovery_codes?: string[] };

const newPassword = 'nine dull horses sleep';
const { enrolTotp, person, appOf } = createFactors(() => postern);
const start = (user: Pick<User, 'username'>, secret = password) =>
  postern.api<Answer>('POST', '/v1/tokens', { body: passwordLogin(user.username, secret) });
const answer = (id: string, secret: string, headers: Readonly<Record<string, string>> = {}) =>
  postern.api<Answer>('POST', `/v1/tokens/${id}/secret`, { body: { secret }, headers });
const change = (user: Pick<User, 'id'>, body: object) =>
  postern.api<User>('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body });
const results = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();
const rejected = { status: 400, body: { type: expect.stringContaining('authorization_rejected') } };
const session = async (token: string | undefined) =>
  (await postern.api('POST', '/v1/sessions', { basic: token ?? '' })).status;
const eventsOf = async ({ id }: Pick<User, 'id'>) =>
  (
    await postern.api<{ type: string }[]>('GET', `/admin/v1/users/${id}/activity`, { bearer: postern.adminKey })
  ).body.map(({ type }) => type);

describe('a password with must_change', () => {
  const temporary = (fields: object = {}) => createUser(postern, { must_change: true, ...fields });

  test('asks for another password, which approves the login and stays', async () => {
    const user = await temporary();
    const { status, body } = await start(user);
    expect([status, body.status, body.token]).toEqual([201, 'pending', undefined]);
    expect(body.challenge).toEqual({ type: 'new_password' });
    const approved = await answer(body.id, newPassword);
    expect(approved).toMatchObject({ status: 201, body: { status: 'approved', user_id: user.id } });
    expect(await session(approved.body.token)).toBe(201);
    expect((await start(user)).body.status).toBe('rejected');
    expect((await start(user, newPassword)).body.status).toBe('approved');
    expect(await eventsOf(user)).toContain('user.password_changed');
  });

  test('is set by PATCH too, and a change of the password without it clears it', async () => {
    const user = await createUser(postern);
    expect((await change(user, { password: newPassword, must_change: true })).status).toBe(200);
    expect((await start(user, newPassword)).body.challenge).toEqual({ type: 'new_password' });
    expect((await change(user, { password: 'another dull horse sleeps' })).status).toBe(200);
    expect((await start(user, 'another dull horse sleeps')).body.status).toBe('approved');
  });

  test('is what operators set with a session, in an import too, whatever the request says', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const username = `${newEmail().split('@')[0]}`;
    const line = `${JSON.stringify({ username, password, must_change: false })}\n`;
    const imported = await fetch(`${postern.url}/admin/v1/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator.bearer}`, 'content-type': 'application/x-ndjson' },
      body: line,
    });
    expect(await imported.json()).toMatchObject({ result: 'created' });
    expect((await start({ username })).body.challenge).toEqual({ type: 'new_password' });
  });

  test('needs a password in the same request', async () => {
    const user = await createUser(postern);
    for (const body of [{ must_change: true }, { must_change: true, password: null }]) {
      const refused = await postern.api<ProblemAnswer>('PATCH', `/admin/v1/users/${user.id}`, {
        ...{ bearer: postern.adminKey, body },
      });
      expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'password', code: 'required' }] } });
    }
  });

  test('refuses the same password and those against the rules, however often, and uses nothing up', async () => {
    const user = await temporary();
    const { body } = await start(user);
    for (let round = 0; round < 8; round += 1) {
      const same = await answer(body.id, password);
      expect(same).toMatchObject({ status: 422, body: { errors: [{ field: 'secret', code: 'password_unchanged' }] } });
      const short = await answer(body.id, 'short');
      expect(short).toMatchObject({ status: 422, body: { errors: [{ field: 'secret', code: 'too_short' }] } });
    }
    expect(await answer(body.id, user.username ?? '')).toMatchObject({
      ...{ status: 422, body: { errors: [{ field: 'secret', code: 'password_too_personal' }] } },
    });
    expect((await answer(body.id, newPassword)).body.status).toBe('approved');
  });

  test('comes after the second factor, and the PIN as ever', async () => {
    const who = await person({ pin: '2468' });
    const { app } = await enrolTotp(who);
    await change(who.user, { password: newPassword, must_change: true });
    expect((await start(who.user, newPassword)).body.status).toBe('rejected');
    const { body } = await postern.api<Answer>('POST', '/v1/tokens', {
      body: { ...passwordLogin(who.user.username, newPassword), pin: '2468' },
    });
    expect(body.challenge?.type).toBe('totp');
    expect(await answer(body.id, 'a third dull horse sleeps')).toMatchObject(rejected);
    const next = await answer(body.id, await app.code());
    expect(next.body).toMatchObject({ status: 'pending', challenge: { type: 'new_password' } });
    // The code of the app is no new password: nothing skips the step.
    await app.rewind();
    expect((await answer(body.id, await app.code())).status).toBe(422);
    expect((await answer(body.id, 'a third dull horse sleeps')).body.status).toBe('approved');
  });

  test('is changed once by parallel answers and parallel logins', async () => {
    const user = await temporary();
    const logins = await Promise.all([start(user), start(user), start(user)]);
    const answers = await Promise.all(
      logins.flatMap(({ body }, index) => [0, 1].map((round) => answer(body.id, `${newPassword} ${index}${round}`))),
    );
    expect(results(answers)).toEqual([201, 400, 400, 400, 400, 400]);
    const approved = answers.find(({ status }) => status === 201);
    expect(await session(approved?.body.token)).toBe(201);
    expect((await eventsOf(user)).filter((type) => type === 'user.password_changed')).toHaveLength(1);
    for (const { body } of logins) expect(await answer(body.id, `${newPassword} again`)).toMatchObject(rejected);
  });

  test('ends every other login, and an answer after a change by an operator is refused', async () => {
    const user = await createUser(postern);
    const earlier = await start(user);
    await change(user, { password: newPassword, must_change: true });
    expect(await session(earlier.body.token)).not.toBe(201);
    const { body } = await start(user, newPassword);
    await change(user, { password: 'a third dull horse sleeps', must_change: true });
    expect(await answer(body.id, 'a fourth dull horse sleeps')).toMatchObject(rejected);
    expect((await start(user, 'a third dull horse sleeps')).body.challenge?.type).toBe('new_password');
  });

  test('an approving request can be repeated with its Idempotency-Key, and no digest of the password is stored', async () => {
    const user = await temporary();
    const { body } = await start(user);
    const headers = { 'idempotency-key': 'change-1' };
    const first = await answer(body.id, newPassword, headers);
    const second = await answer(body.id, newPassword, headers);
    expect([first.body.status, second.body.status]).toEqual(['approved', 'approved']);
    expect(await session(first.body.token)).toBe(401);
    expect(await answer(body.id, 'another dull horse sleeps', headers)).toMatchObject(rejected);
    expect(await session(second.body.token)).toBe(201);
  });

  test('is imported', async () => {
    const username = `user${Date.now()}`;
    const line = JSON.stringify({ username, password, must_change: true });
    const answered = await fetch(`${postern.url}/admin/v1/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${postern.adminKey}`, 'content-type': 'application/x-ndjson' },
      body: line,
    });
    expect(await answered.text()).toContain('"created"');
    expect((await start({ username })).body.challenge).toEqual({ type: 'new_password' });
  });

  test('is what an operator with a session sets, whatever the request says', async () => {
    const { bearer } = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const body = { password: newPassword, must_change: false };
    const set = await postern.api('PATCH', `/admin/v1/users/${user.id}`, { bearer, body });
    expect(set.status).toBe(200);
    expect((await start(user, newPassword)).body.challenge).toEqual({ type: 'new_password' });
    const created = await createUser({ ...postern, adminKey: bearer });
    expect((await start(created)).body.challenge).toEqual({ type: 'new_password' });
  });

  test('asks nothing of a login in another way', async () => {
    const user = await temporary({ phone: newPhone() });
    const body = { identity: { type: 'phone', value: user.phone }, authenticator: 'sms', device: {} };
    const started = await postern.api<Answer>('POST', '/v1/tokens', { body });
    expect((await answer(started.body.id, await codeOf(postern, started.body.id))).body.status).toBe('approved');
  });
});

interface Enrolment {
  readonly type: 'enrol';
  readonly options: readonly [{ type: 'totp'; secret: string; uri: string }, { type: 'passkey' } & CreationOptions];
}
const enrolmentOf = ({ challenge }: Answer) => challenge as unknown as Enrolment;

describe('SECOND_FACTOR=required', () => {
  /** A user without a factor, who needs one. */
  const unenrolled = async (fields: object = {}) => {
    const user = await createUser(postern, fields);
    await change(user, { second_factor: 'required' });
    return user;
  };
  const codeFor = (user: Pick<User, 'id'>, body: Answer) => appOf(user.id, enrolmentOf(body).options[0].secret).code();

  test('enrols an authenticator app within the login of a user without an address', async () => {
    const user = await unenrolled();
    const { status, body } = await start(user);
    expect([status, body.status, body.token]).toEqual([201, 'pending', undefined]);
    const { type, options } = enrolmentOf(body);
    expect(type).toBe('enrol');
    expect(options.map((option) => option.type)).toEqual(['totp', 'passkey']);
    expect(options[0].uri).toContain(options[0].secret);
    const code = await codeFor(user, body);
    expect(await answer(body.id, wrongCode(code))).toMatchObject(rejected);
    const approved = await answer(body.id, code);
    expect(approved.body).toMatchObject({ status: 'approved', user_id: user.id });
    expect(approved.body.recovery_codes).toHaveLength(10);
    expect(await session(approved.body.token)).toBe(201);
    expect(await eventsOf(user)).toEqual(expect.arrayContaining(['totp.enrolled', 'login.approved']));
    // The first code was used, and the app is the second factor of the next login.
    const next = await start(user);
    expect(next.body.challenge?.type).toBe('totp');
    expect(await answer(next.body.id, code)).toMatchObject({ status: 400, body: { errors: [{ code: 'code_used' }] } });
    expect((await answer(next.body.id, approved.body.recovery_codes?.[0] ?? '')).body.status).toBe('approved');
  });

  test('enrols a passkey', async () => {
    const user = await unenrolled();
    const { body } = await start(user);
    const { type, ...options } = enrolmentOf(body).options[1];
    const { response } = makePasskey(options, originOf(postern));
    const approved = await answer(body.id, JSON.stringify(response));
    expect([type, approved.body.status, approved.body.recovery_codes?.length]).toEqual(['passkey', 'approved', 10]);
    expect((await start(user)).body.challenge).toMatchObject({ type: 'passkey', alternatives: ['recovery_code'] });
  });

  test.each([
    ['email', newEmail],
    ['phone', newPhone],
  ])('asks for a code to the %s first', async (field, newAddress) => {
    const user = await unenrolled({ [field]: newAddress() });
    const { body } = await start(user);
    expect(body).toMatchObject({ status: 'pending', challenge: { type: 'code' }, destination: expect.any(String) });
    const code = await codeOf(postern, body.id);
    expect(await answer(body.id, wrongCode(code))).toMatchObject(rejected);
    const next = await answer(body.id, code);
    expect(enrolmentOf(next.body).type).toBe('enrol');
    // The code enrols nothing.
    expect(await answer(body.id, code)).toMatchObject(rejected);
    expect((await answer(body.id, await codeFor(user, next.body))).body.recovery_codes).toHaveLength(10);
  });

  test('asks for no second code after a login by a code', async () => {
    const user = await unenrolled({ phone: newPhone() });
    const begin = { identity: { type: 'phone', value: user.phone }, authenticator: 'sms', device: {} };
    const started = await postern.api<Answer>('POST', '/v1/tokens', { body: begin });
    const next = await answer(started.body.id, await codeOf(postern, started.body.id));
    expect(enrolmentOf(next.body).type).toBe('enrol');
  });

  test('asks for a new password between the code and the enrolment', async () => {
    const user = await unenrolled({ email: newEmail(), must_change: true });
    const { body } = await start(user);
    const second = await answer(body.id, await codeOf(postern, body.id));
    expect(second.body.challenge).toEqual({ type: 'new_password' });
    const third = await answer(body.id, newPassword);
    expect(third.body).toMatchObject({ status: 'pending', challenge: { type: 'enrol' } });
    const approved = await answer(body.id, await codeFor(user, third.body));
    expect(approved.body).toMatchObject({ status: 'approved', recovery_codes: expect.any(Array) });
    expect(await session(approved.body.token)).toBe(201);
  });

  test('enrols one app by parallel logins and parallel answers', async () => {
    const user = await unenrolled();
    const logins = await Promise.all([start(user), start(user)]);
    const answers = await Promise.all(
      logins.flatMap(({ body }) => [1, 2].map(async () => answer(body.id, await codeFor(user, body)))),
    );
    expect(results(answers)).toEqual([201, 400, 400, 400]);
    const rows = await postern.database.query(
      testSql<{ apps: number; codes: number }>(
        `select (select count(*)::int from totp where user_id = $1) as apps,
                (select count(*)::int from recovery_codes where user_id = $1) as codes`,
        [user.id],
      ),
    );
    expect(rows).toEqual([{ apps: 1, codes: 10 }]);
    for (const { body } of logins) expect(await answer(body.id, await codeFor(user, body))).toMatchObject(rejected);
  });

  test("refuses another login's secret, the first secret, and a recovery code", async () => {
    const [user, other] = [await unenrolled(), await unenrolled()];
    const [own, foreign] = [await start(user), await start(other)];
    const foreignCode = await codeFor(other, foreign.body);
    for (const secret of [foreignCode, password, 'AAAA-BBBB-CCCC-DDDD', '{}']) {
      expect(await answer(own.body.id, secret)).toMatchObject(rejected);
    }
    expect((await start(user)).body.challenge?.type).toBe('enrol');
  });

  test('shows nothing of it after a wrong password: known, unknown and enrolled users get the same answer', async () => {
    const shape = async (username: string | null) => {
      const { status, headers, body } = await start({ username }, 'wrong');
      const { id, device_id, created_at, updated_at, expires_at, ...rest } = body;
      return [status, Object.keys(headers).sort(), rest];
    };
    const [user, changing] = [await unenrolled(), await createUser(postern, { must_change: true })];
    const unknown = await shape(`nobody${Date.now()}`);
    expect(await shape(user.username)).toEqual(unknown);
    expect(await shape(changing.username)).toEqual(unknown);
  });

  test('repeats an approval with its Idempotency-Key, with new recovery codes', async () => {
    const user = await unenrolled();
    const { body } = await start(user);
    const code = await codeFor(user, body);
    const headers = { 'idempotency-key': 'enrol-1' };
    const [first, second] = [await answer(body.id, code, headers), await answer(body.id, code, headers)];
    expect(second.body).toMatchObject({ status: 'approved', recovery_codes: expect.any(Array) });
    expect(await session(first.body.token)).toBe(401);
    expect(await session(second.body.token)).toBe(201);
    const next = await start(user);
    expect(await answer(next.body.id, first.body.recovery_codes?.[0] ?? '')).toMatchObject(rejected);
    expect((await answer(next.body.id, second.body.recovery_codes?.[0] ?? '')).body.status).toBe('approved');
  });
});
