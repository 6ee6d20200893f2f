import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewTotp } from '../../../../../src/contract/account/factors.js';
import type { Event } from '../../../../../src/contract/administration.js';
import type { Authentication } from '../../../../../src/contract/authentication.js';
import type { User } from '../../../../../src/contract/user.js';
import type { Person } from '../../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { createFactors } from '../../../../support/factors.js';
import { activateRoleOf } from '../../../../support/operators.js';
import type { SoftwareAuthenticator } from '../../../../support/software-authenticator.js';
import { codeOf, createUser, smsLogin } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ GUESS_LIMIT: '50', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    SECOND_FACTOR_BY_ROLE: 'support:required,operator:off',
  });
});
afterAll(() => postern.close());

const { person, ask, enrolTotp, appOf, enrolPasskey, startWithPassword, startWithPasskey, answer } = createFactors(
  () => postern,
);
const userOf = async ({ user }: Person) =>
  (await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey })).body;
const change = ({ user }: Person, body: object) =>
  postern.api<User>('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body });
const eventsOf = async ({ user }: Person, type: string) => {
  const path = `/admin/v1/users/${user.id}/activity?filter=type:eq:${type}`;
  return (await postern.api<Event[]>('GET', path, { bearer: postern.adminKey })).body;
};
const signFor = (authenticator: SoftwareAuthenticator, { body }: { body: { challenge?: object } }) =>
  authenticator.sign(body.challenge as Parameters<SoftwareAuthenticator['sign']>[0]);
/** A proof by a code of the app or a recovery code. */
const byApp = (secret: string | undefined) => ({ type: 'totp', secret });
const codes = ({ body }: { body: Pick<ProblemAnswer, 'errors'> }) => body.errors.map(({ code }) => code);

describe('a login with an authenticator app', () => {
  test('is pending after the correct password, and approved by a code', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { status, body } = await startWithPassword(who);
    expect([status, body.status, body.token]).toEqual([201, 'pending', undefined]);
    expect(body.challenge).toEqual({ type: 'totp', alternatives: ['recovery_code'] });
    const approved = await answer(body.id, await app.code());
    expect([approved.status, approved.body.status]).toEqual([201, 'approved']);
    const session = await postern.api('POST', '/v1/sessions', { basic: approved.body.token ?? '' });
    expect(session.status).toBe(201);
    const [event] = await eventsOf(who, 'login.approved');
    expect(event?.data).toMatchObject({ authenticator: 'password', second_factor: 'totp' });
  });

  test('is pending after a code by SMS too', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(who.user.phone) });
    const pending = await answer(body.id, await codeOf(postern, body.id));
    expect([pending.body.status, pending.body.challenge?.type]).toEqual(['pending', 'totp']);
    const approved = await answer(body.id, await app.code());
    expect(approved.body.status).toBe('approved');
  });

  test('shows nothing about the factor after a wrong password', async () => {
    const who = await person();
    await enrolTotp(who);
    const other = await createUser(postern);
    const body = (username: string | null) => ({
      ...{ identity: { type: 'username', value: username }, authenticator: 'password', secret: 'wrong', device: {} },
    });
    const answers = [];
    for (const name of [who.user.username, other.username]) {
      answers.push((await postern.api<object>('POST', '/v1/tokens', { body: body(name) })).body);
    }
    expect(Object.keys(answers[0] ?? {})).toEqual(Object.keys(answers[1] ?? {}));
    expect(answers.every((one) => 'status' in one && one.status === 'rejected')).toBe(true);
  });

  test('accepts the code of the current step or of one beside it, but no other and no out-of-order code', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    for (const steps of [-3, 2, 3]) expect((await answer(body.id, await app.code(steps))).status).toBe(400);
    expect((await answer(body.id, await app.code())).status).toBe(201);
    const next = await startWithPassword(who);
    expect((await answer(next.body.id, await app.code(-1))).status).toBe(400);
    await app.rewind();
    expect((await answer(next.body.id, await app.code(-1))).status).toBe(201);
    // The app of a phone whose clock is fast.
    const fast = await startWithPassword(who);
    expect((await answer(fast.body.id, await app.code(1))).status).toBe(201);
    const older = await startWithPassword(who);
    expect((await answer(older.body.id, await app.code())).status).toBe(400);
  });

  test.each([
    ['a space', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['a line end', (code: string) => `${code}\r\n`],
    ['a hyphen', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
    [
      'full-width digits',
      (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ],
  ])('accepts a code with %s, in a login, a proof and the confirmation of an app', async (_what, typed) => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    expect((await answer(body.id, typed(await app.code()))).status).toBe(201);
    await app.rewind();
    const { body: begun, status } = await ask<NewTotp>(who, 'POST', '/totp', { proof: byApp(typed(await app.code())) });
    expect(status).toBe(201);
    const replaced = appOf(who.user.id, begun.secret);
    const confirmed = await ask(who, 'POST', `/totp/${begun.id}`, { secret: typed(await replaced.code()) });
    expect(confirmed.status).toBe(200);
  });

  test('does not accept a code of a login for a proof, nor the reverse', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const code = await app.code();
    expect((await answer(body.id, code)).status).toBe(201);
    const refused = await ask<ProblemAnswer>(who, 'DELETE', '/totp', { proof: { type: 'totp', secret: code } });
    // The code was right, so the response says why it was refused.
    expect([refused.status, refused.body.type, codes(refused)]).toEqual([
      400,
      'urn:postern:problem:proof_rejected',
      ['code_used'],
    ]);
    await app.rewind();
    const again = await app.code();
    const renewed = await ask(who, 'POST', '/recovery-codes', { proof: { type: 'totp', secret: again } });
    expect(renewed.status).toBe(201);
    const login = await startWithPassword(who);
    const repeated = await answer(login.body.id, again);
    expect([repeated.status, codes(repeated)]).toEqual([400, ['code_used']]);
    expect(repeated.body).toMatchObject({
      type: 'urn:postern:problem:authorization_rejected',
      errors: [{ field: 'secret', message: 'This code was used already. Wait until your app shows the next one.' }],
    });
    // A wrong code, and a code that is too old, are wrong, and so is every code of a login with a wrong password.
    const wrong = again === '123456' ? '654321' : '123456';
    for (const code of [wrong, await app.code(-3)]) {
      expect(codes(await answer((await startWithPassword(who)).body.id, code))).toEqual(['authorization_rejected']);
    }
  });

  test('repeats the approving response for its Idempotency-Key, although the code was used', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const key = { 'Idempotency-Key': randomUUID() };
    const code = await app.code();
    const first = await answer(body.id, code, key);
    const repeat = await answer(body.id, code, key);
    expect([first.status, repeat.status]).toEqual([201, 201]);
    expect(repeat.body.token).not.toBe(first.body.token);
    expect((await answer(body.id, code)).status).toBe(400);
  });

  test('accepts secrets of any form as input, and only the correct one approves', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const forms = [
      '{',
      '{}',
      '[]',
      '{"id":1}',
      '{"id":"","response":null}',
      '٠١٢٣٤٥',
      ' ',
      '1234567',
      '\u{1f600}',
      'a'.repeat(16_000),
    ];
    for (const form of forms) {
      const login = await startWithPassword(who);
      expect((await answer(login.body.id, form)).status).toBe(400);
    }
    expect((await answer(body.id, await app.code())).status).toBe(201);
  });
});

describe('the policy of the second factor', () => {
  test('of the user overrides that of the role, which overrides the default', async () => {
    const who = await person();
    await enrolPasskey(who);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { role: 'support' })).body.role).toBe('support');
    expect((await startWithPassword(who)).body.challenge?.type).toBe('passkey');
    // With a role the passkey is a second factor, so the password alone is no valid proof for the enrolment.
    expect((await change(who, { role: 'user' })).status).toBe(200);
    await enrolTotp(who);
    expect((await change(who, { role: 'operator' })).status).toBe(200);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { second_factor: 'own' })).body.second_factor).toBe('own');
    expect((await startWithPassword(who)).body.challenge?.type).toBe('totp');
    expect((await change(who, { role: 'support', second_factor: 'off' })).status).toBe(200);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { second_factor: 'sometimes' })).status).toBe(422);
    expect((await change(who, { second_factor: null })).body.second_factor).toBeNull();
  });

  test('lets users with both factors use either, and shows no credential before the correct first secret', async () => {
    const who = await person();
    const { app, recoveryCodes } = await enrolTotp(who);
    const { authenticator } = await enrolPasskey(who, { proof: byApp(recoveryCodes[9]) });
    const challenges = [];
    for (const secret of [
      () => app.code(),
      () => recoveryCodes[0] ?? '',
      (options: object) => authenticator.sign(options),
    ]) {
      const { body } = await startWithPassword(who);
      const challenge = body.challenge as unknown as { type: string; passkey: { allowCredentials: { id: string }[] } };
      challenges.push(challenge);
      expect((await answer(body.id, await secret(challenge.passkey))).status).toBe(201);
    }
    expect(challenges[0]).toMatchObject({ type: 'totp', alternatives: ['passkey', 'recovery_code'] });
    expect(challenges[0]?.passkey.allowCredentials.map(({ id }) => id)).toEqual([
      authenticator.credentialId.toString('base64url'),
    ]);
    expect((await startWithPasskey()).body.challenge).toMatchObject({ type: 'passkey', allowCredentials: [] });
    const secondFactors = (await eventsOf(who, 'login.approved')).map(({ data }) => data.second_factor);
    expect(secondFactors.filter((name) => name !== undefined).sort()).toEqual(['passkey', 'recovery_code', 'totp']);
  });
});

describe('an operator', () => {
  const reset = ({ user }: Person, bearer: string) =>
    postern.api<User>('DELETE', `/admin/v1/users/${user.id}/second-factors`, { bearer });

  test('can remove a user’s lost factors, which records an event', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const { authenticator } = await enrolPasskey(who, { proof: byApp(recoveryCodes[9]) });
    expect((await userOf(who)).second_factors.map(({ type }) => type)).toEqual(['totp', 'passkey']);
    const pending = await startWithPassword(who);
    const after = await reset(who, postern.adminKey);
    expect([after.status, after.body.second_factors]).toEqual([200, []]);
    expect((await eventsOf(who, 'second_factors.removed')).map(({ data }) => data)).toEqual([
      { totp: true, passkeys: 1 },
    ]);
    expect((await answer(pending.body.id, recoveryCodes[0] ?? '')).status).toBe(400);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    const login = await startWithPasskey();
    expect((await answer(login.body.id, signFor(authenticator, login))).status).toBe(400);
    expect((await reset({ ...who, user: { ...who.user, id: randomUUID() } }, postern.adminKey)).status).toBe(404);
  });

  test('can administer with a session only after a login with a second factor', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    await change(who, { role: 'operator', second_factor: 'own' });
    await activateRoleOf(postern, who.user.id);
    const users = async (bearer: string) => (await postern.api('GET', '/admin/v1/users', { bearer })).status;
    expect(await users(who.bearer)).toBe(403);
    const { body } = await startWithPassword(who);
    const { body: approved } = await answer(body.id, await app.code());
    const session = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: approved.token ?? '' });
    expect(await users(session.body.token)).toBe(200);
  });

  test('needs the scope admin if the user has a role', async () => {
    const key = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'support', scopes: ['users:write'] },
    });
    const who = await person();
    await enrolTotp(who);
    await change(who, { role: 'operator', second_factor: 'own' });
    expect((await reset(who, key.body.token)).status).toBe(403);
    expect((await userOf(who)).second_factors).toHaveLength(1);
    await change(who, { role: 'user' });
    expect((await reset(who, key.body.token)).status).toBe(200);
  });
});
