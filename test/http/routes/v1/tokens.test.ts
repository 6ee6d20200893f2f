import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { NewSession } from '../../../../src/contract/session.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import {
  codeOf,
  createUser,
  login,
  newPhone,
  passwordLogin,
  signIn,
  smsLogin,
  wrongCode,
} from '../../../support/users.js';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ GUESS_LIMIT: '50', LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const start = (body: object) => postern.api<Authentication>('POST', '/v1/tokens', { body });
const answer = (id: string, body: object, headers = {}) =>
  postern.api<Authentication & Pick<ProblemAnswer, 'errors'> & { authentication: Authentication }>(
    'POST',
    `/v1/tokens/${id}/secret`,
    { body, headers },
  );
const status = (id: string) => postern.api<{ id: string; status: string }>('GET', `/v1/tokens/${id}`);
const newSession = (token: string | undefined) =>
  postern.api<NewSession & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/sessions', { basic: token ?? '' });

describe('a single-step login', () => {
  test('returns approved with a token, times in microseconds and the device id in lower case', async () => {
    const user = await createUser(postern);
    const { status, body } = await login(postern, user, { id: '582A5ABB-1335-4794-4855-11E067B8C55E', make: 'Apple' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(uuid),
      device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
      status: 'approved',
      token: expect.stringMatching(/^psa_[A-Za-z0-9_-]{80}$/),
      user_id: expect.stringMatching(uuid),
      error_code: '',
      error_message: '',
      expires_at: expect.stringMatching(time),
      created_at: expect.stringMatching(time),
      updated_at: body.created_at,
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(365 * 86_400_000);
  });

  test('creates and returns a device id if the request has none', async () => {
    const { body } = await login(postern, await createUser(postern));
    expect(body.device_id).toMatch(uuid);
  });

  test('returns a rejected authentication with a message for a wrong secret', async () => {
    const user = await createUser(postern);
    const { status: code, body } = await start(passwordLogin(user.username, 'not the password', { id: randomUUID() }));
    expect(code).toBe(201);
    expect(body).toMatchObject({ status: 'rejected', error_code: 'invalid_credentials', expires_at: body.created_at });
    expect(body.error_message).toMatch(/./);
    expect(body).not.toHaveProperty('token');
    expect((await status(body.id)).body).toEqual({ id: body.id, status: 'rejected' });
  });

  test('returns the same response for an unknown identity, a deactivated user, a user without a password and a wrong secret', async () => {
    const deactivated = await createUser(postern);
    await postern.api('PATCH', `/admin/v1/users/${deactivated.id}`, {
      bearer: postern.adminKey,
      body: { status: 'deactivated' },
    });
    const passwordless = await createUser(postern, { password: undefined });
    const wrong = await start(passwordLogin((await createUser(postern)).username, 'not the password'));
    for (const username of ['nobody-at-all', deactivated.username, passwordless.username]) {
      const other = await start(passwordLogin(username));
      expect(other.status).toBe(wrong.status);
      expect({ ...other.headers, date: '', 'request-id': '' }).toEqual({
        ...wrong.headers,
        date: '',
        'request-id': '',
      });
      const { id, device_id, expires_at, created_at, updated_at } = wrong.body;
      expect({ ...other.body, id, device_id, expires_at, created_at, updated_at }).toEqual(wrong.body);
    }
  });

  test('finds the user by each identity in any spelling', async () => {
    const phone = newPhone();
    const user = await createUser(postern, { phone, email: `Ada.${phone.slice(1)}@Example.COM` });
    const identities = [
      { type: 'username', value: user.username?.toUpperCase() },
      { type: 'email', value: `ADA.${phone.slice(1)}@example.com` },
      { type: 'phone', value: `${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5)}` },
    ];
    for (const identity of identities) {
      expect((await start({ ...passwordLogin(null), identity })).body.status).toBe('approved');
    }
  });

  test('reports all errors of a request', async () => {
    const { status, body } = await postern.api<ProblemAnswer>('POST', '/v1/tokens', {
      body: { identity: { type: 'pigeon', value: '' }, authenticator: 7, device: { make: 5 } },
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ field, code }) => [field, code]).sort()).toEqual([
      ['authenticator', 'invalid_type'],
      ['device.make', 'invalid_type'],
      ['identity.type', 'invalid_choice'],
      ['identity.value', 'required'],
    ]);
  });

  test('needs a secret', async () => {
    const { secret: _, ...body } = passwordLogin('somebody');
    const refused = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ field: 'secret', code: 'required' }]);
  });

  test('ignores an id, a status and a token in the request', async () => {
    const user = await createUser(postern);
    const offered = { id: randomUUID(), status: 'approved', token: 'psa_mine' };
    const { body } = await start({ ...passwordLogin(user.username, 'wrong'), ...offered });
    expect(body.id).not.toBe(offered.id);
    expect(body.status).toBe('rejected');
    expect(body.token).toBeUndefined();
  });

  test('needs the correct PIN if the user has one, and ignores it otherwise', async () => {
    const withPin = await createUser(postern, { pin: '2468' });
    const results = [];
    for (const pin of [undefined, '1357', '2468']) {
      results.push((await start({ ...passwordLogin(withPin.username), pin })).body.status);
    }
    expect(results).toEqual(['rejected', 'rejected', 'approved']);
    const withoutPin = await createUser(postern);
    expect((await start({ ...passwordLogin(withoutPin.username), pin: '1357' })).body.status).toBe('approved');
    expect((await start({ ...passwordLogin(withoutPin.username), pin: '9999' })).body.status).toBe('approved');
  });
});

describe('an operator lock', () => {
  const lock = (id: string, body: object) =>
    postern.api('POST', `/admin/v1/users/${id}/lock`, { bearer: postern.adminKey, body });

  test('causes 423 with the seconds left, or 403, but only with the correct secret', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const sms = (await start(smsLogin(user.phone))).body;
    const code = await codeOf(postern, sms.id);
    const until = new Date(Date.now() + 60_000).toISOString();
    await lock(user.id, { until });
    expect((await start(passwordLogin(user.username, 'wrong'))).body.status).toBe('rejected');
    const temporary = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
    expect(temporary.status).toBe(423);
    expect(temporary.body.errors[0]?.code).toBe('account_temporarily_locked');
    expect(Number(temporary.headers['retry-after'])).toBeGreaterThan(30);
    expect(Number(temporary.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await answer(sms.id, { secret: wrongCode(code), pin: '2468' })).status).toBe(400);
    expect((await answer(sms.id, { secret: code, pin: '2468' })).status).toBe(423);
    await lock(user.id, { permanent: true });
    expect((await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username) })).status).toBe(403);
    expect((await answer(sms.id, { secret: code, pin: '2468' })).status).toBe(403);
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
    expect((await start(passwordLogin(user.username))).body.status).toBe('approved');
  });

  test('stops sessions at once until it is removed: 403 for new ones, 401 for existing ones', async () => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    await lock(user.id, { permanent: true });
    expect((await newSession(token)).status).toBe(403);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  });
});

describe('the status of an authentication', () => {
  test('gets 404 for an unknown id and for a text that is no id', async () => {
    expect((await status(randomUUID())).status).toBe(404);
    expect((await status('x')).status).toBe(404);
  });
});

describe('deleting a token', () => {
  test('ends it and its sessions, from another device of the same user', async () => {
    const user = await createUser(postern);
    const [phone, tablet] = [await signIn(postern, user), await signIn(postern, user)];
    const deleted = await postern.api('DELETE', `/v1/tokens/${phone.authentication.id}`, {
      bearer: tablet.session.token,
    });
    expect(deleted.status).toBe(200);
    expect(deleted.body).toEqual({ id: phone.authentication.id });
    expect((await newSession(phone.token)).status).toBe(401);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: phone.session.token })).status).toBe(401);
    expect((await status(phone.authentication.id)).status).toBe(404);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: tablet.session.token })).status).toBe(200);
  });

  test('gets 401 for an unknown, foreign, deleted or unapproved token', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const deleted = await signIn(postern, user);
    await postern.api('DELETE', `/v1/tokens/${deleted.authentication.id}`, { bearer: session.token });
    const foreign = await signIn(postern, await createUser(postern));
    const rejected = await start(passwordLogin(user.username, 'wrong'));
    for (const id of [randomUUID(), 'x', deleted.authentication.id, foreign.authentication.id, rejected.body.id]) {
      const refused = await postern.api<ProblemAnswer>('DELETE', `/v1/tokens/${id}`, { bearer: session.token });
      expect(refused.status).toBe(401);
      expect(refused.body.errors[0]?.code).toBe('no_active_token');
      expect(refused.headers['www-authenticate']).toContain('Bearer');
    }
    expect((await newSession(foreign.token)).status).toBe(201);
  });

  test('works with the token itself as Basic credentials', async () => {
    const { token, authentication } = await signIn(postern, await createUser(postern));
    const deleted = await postern.api('DELETE', '/v1/tokens', { basic: token });
    expect(deleted.body).toEqual({ id: authentication.id });
    expect((await postern.api('DELETE', '/v1/tokens', { basic: token })).status).toBe(401);
  });
});
