import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession, Session } from '../../../../src/contract/session.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, login, signIn } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  // Twenty requests wait for the queue of one user, on a busy machine for a long time.
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
});
afterAll(() => postern.close());

const create = (token: string | undefined) =>
  postern.api<NewSession & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/sessions', { basic: token ?? '' });
const verify = (token: string, method = 'POST') =>
  postern.api<Session & Pick<ProblemAnswer, 'errors'>>(method, '/v1/sessions/verify', { bearer: token });
const patch = (id: string, body: object) =>
  postern.api('PATCH', `/admin/v1/users/${id}`, { bearer: postern.adminKey, body });

describe('a session', () => {
  test('is created with an authentication token and lives fifteen minutes', async () => {
    const user = await createUser(postern);
    const { body: authentication } = await login(postern, user);
    const { status, body } = await create(authentication.token);
    expect(status).toBe(201);
    expect(body).toMatchObject({ user_id: user.id, device_id: authentication.device_id, updated_at: body.created_at });
    expect(body.token).toMatch(/^pss_[A-Za-z0-9_-]{80}$/);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(900_000);
  });

  test('never outlives its authentication token', async () => {
    const { body: authentication } = await login(postern, await createUser(postern));
    await postern.database.query(
      testSql(`update authentications set expires_at = db_now() + interval '1 minute' where id = $1`, [
        authentication.id,
      ]),
    );
    const { body } = await create(authentication.token);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBeLessThanOrEqual(60_000);
  });

  test('is verified by POST and by GET, without the token in the response', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const { token, ...shown } = session;
    const login = { authenticated_at: expect.any(String), amr: ['pwd'], proven_at: null };
    const verified = { ...shown, roles: [], claims: {}, ...login };
    expect((await verify(token)).body).toEqual(verified);
    expect((await verify(token, 'GET')).body).toEqual(verified);
  });

  test('gets 401 when it has expired', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    await postern.database.query(testSql('update sessions set expires_at = db_now() where id = $1', [session.id]));
    const refused = await verify(session.token);
    expect(refused.status).toBe(401);
    expect(refused.body.errors[0]?.code).toBe('invalid_session_token');
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="postern", error="invalid_token"');
  });

  test('is refused with 401 and a Basic challenge for an expired, unknown or malformed authentication token', async () => {
    const { body: authentication } = await login(postern, await createUser(postern));
    await postern.database.query(
      testSql('update authentications set expires_at = db_now() where id = $1', [authentication.id]),
    );
    const { session } = await signIn(postern, await createUser(postern));
    for (const token of [authentication.token, 'psa_', session.token, 'x', ':']) {
      const refused = await create(token);
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('Basic');
    }
  });

  test('accepts the credentials of an HTTP client that sends an empty password', async () => {
    const { body: authentication } = await login(postern, await createUser(postern));
    expect((await create(`${authentication.token}:`)).status).toBe(201);
    expect((await create(`${authentication.token}:x`)).status).toBe(401);
  });

  test('can be created with an empty JSON body', async () => {
    const { body: authentication } = await login(postern, await createUser(postern));
    const answer = await postern.api('POST', '/v1/sessions', {
      basic: authentication.token ?? '',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(201);
  });

  test('gets 400 for a deactivated user, and the token stays invalid after reactivation', async () => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    await patch(user.id, { status: 'deactivated' });
    const refused = await create(token);
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]?.code).toBe('account_unusable');
    expect((await verify(session.token)).status).toBe(401);
    await patch(user.id, { status: 'active' });
    expect((await create(token)).status).toBe(401);
    expect((await verify(session.token)).status).toBe(401);
  });

  test.each([
    ['a new password', (id: string) => patch(id, { password: 'another battery' })],
    [
      'an operator’s logout',
      (id: string) => postern.api('POST', `/admin/v1/users/${id}/logout`, { bearer: postern.adminKey }),
    ],
    ['deleting the user', (id: string) => postern.api('DELETE', `/admin/v1/users/${id}`, { bearer: postern.adminKey })],
  ])('ends with %s, and its token too', async (_, act) => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    expect((await act(user.id)).status).toBeLessThan(300);
    expect((await verify(session.token)).status).toBe(401);
    expect((await create(token)).status).toBe(401);
  });
});

describe('several tokens of one device', () => {
  test('the first use of a token ends the older tokens of the same device; an approval alone ends nothing', async () => {
    const user = await createUser(postern);
    const device = { id: randomUUID() };
    const old = await signIn(postern, user, device);
    const elsewhere = await signIn(postern, user, { id: randomUUID() });
    const { body: next } = await login(postern, user, device);
    expect((await verify(old.session.token)).status).toBe(200);
    expect((await create(old.token)).status).toBe(201);
    expect((await create(next.token)).status).toBe(201);
    expect((await verify(old.session.token)).status).toBe(401);
    expect((await create(old.token)).status).toBe(401);
    expect((await postern.api('GET', `/v1/tokens/${old.authentication.id}`)).status).toBe(404);
    expect((await verify(elsewhere.session.token)).status).toBe(200);
    expect((await create(next.token)).status).toBe(201);
  });

  test('the same device id of two users means two devices', async () => {
    const device = { id: randomUUID() };
    const one = await signIn(postern, await createUser(postern), device);
    await signIn(postern, await createUser(postern), device);
    expect((await verify(one.session.token)).status).toBe(200);
  });

  test('twenty parallel first uses of one token all get a session', async () => {
    const { body: authentication } = await login(postern, await createUser(postern));
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(authentication.token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
  });

  test('parallel first uses of five tokens of one device leave only the newest valid', async () => {
    const user = await createUser(postern);
    for (let round = 0; round < raceRounds; round += 1) {
      const device = { id: randomUUID() };
      const tokens: string[] = [];
      for (let count = 0; count < 5; count += 1) tokens.push((await login(postern, user, device)).body.token ?? '');
      const answers = await Promise.all(tokens.map((token) => create(token)));
      const statuses = await Promise.all(
        answers.map(({ status, body }) => (status === 201 ? verify(body.token) : { status })),
      );
      expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 200]);
    }
  });
});
