import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../../src/contract/administration.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, login, newPhone, passwordLogin, signIn, smsLogin } from '../../../../support/users.js';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused, isValid, eventsOf } = createAdministration(() => postern);
const newName = () => `name-${randomUUID()}`;

describe('changing a user', () => {
  test('of nothing needs the right to read users', async () => {
    const { id } = await createUser(postern);
    const keyOf = async (...scopes: string[]) =>
      (await admin<{ token: string }>('POST', '/keys', { name: 'a key', scopes })).body.token;
    const change = async (bearer: string, body: object) =>
      (await postern.api('PATCH', `/admin/v1/users/${id}`, { bearer, body })).status;
    const [writes, both] = [await keyOf('users:write'), await keyOf('users:write', 'users:read')];
    expect(await change(writes, {})).toBe(403);
    expect(await change(writes, { name: 'Ada' })).toBe(200);
    // Now these change nothing either.
    for (const same of [{ name: 'Ada' }, { metadata: {} }, { status: 'active' }])
      expect(await change(writes, same), JSON.stringify(same)).toBe(403);
    expect(await change(writes, { name: 'Ada', password: 'another battery of horses' })).toBe(200);
    expect(await change(both, {})).toBe(200);
  });

  test('and every other request of a key without users:read that changes nothing does not read', async () => {
    const { id } = await createUser(postern, { name: 'Ada', password: undefined, metadata: { plan: 'free' } });
    const { token } = (await admin<{ token: string }>('POST', '/keys', { name: 'a key', scopes: ['users:write'] }))
      .body;
    const send = async (method: string, path: string, body?: object) => {
      const answer = await postern.api(method, `/admin/v1/users/${id}${path}`, {
        bearer: token,
        ...(body && { body }),
      });
      if (answer.status !== 200) expect(answer.text).not.toContain('Ada');
      return answer.status;
    };
    for (const same of [
      ...[{ pin: null }, { password: null }, { pin: null, password: null }, { must_change: false }, { locale: null }],
      ...[{ email: null }, { phone: null, name: 'Ada' }, { metadata: { plan: 'free' } }, { role: 'user' }],
    ])
      expect([same, await send('PATCH', '', same)]).toEqual([same, 403]);
    expect(await send('POST', '/unlock')).toBe(403);
    const until = { until: '2099-01-01T00:00:00Z', reason: 'Stolen' };
    for (const lock of [until, { permanent: true }]) {
      expect(await send('POST', '/lock', lock)).toBe(200);
      expect(await send('POST', '/lock', lock)).toBe(403);
    }
    expect(await send('POST', '/unlock')).toBe(200);
    expect(await send('POST', '/unlock')).toBe(403);
    expect(await send('DELETE', '/second-factors')).toBe(403);
    expect(await send('DELETE', '/pin-recovery')).not.toBe(200);
    expect(await send('PATCH', '', { pin: '2468' })).toBe(200);
    expect(await send('PATCH', '', { pin: null })).toBe(200);
    for (const [method, path] of [
      ['GET', ''],
      ['HEAD', ''],
      ['GET', '/external-identities'],
      ['GET', '/devices'],
      ['GET', '/tokens'],
    ] as const)
      expect(await send(method, path)).toBe(403);
  });

  test('changes only the members of the request', async () => {
    const user = await createUser(postern, { name: 'Ada', locale: 'en', metadata: { plan: 'free' } });
    const { status, body } = await admin('PATCH', `/users/${user.id}`, {
      name: 'Ada King',
      locale: null,
      role: 'operator',
    });
    expect(status).toBe(200);
    expect(body).toEqual({ ...user, name: 'Ada King', locale: null, role: 'operator', updated_at: time });
    expect(body.updated_at > user.updated_at).toBe(true);
    expect((await eventsOf(user.id)).at(-1)).toMatchObject({
      type: 'user.changed',
      actor: 'key:environment',
      address: '127.0.0.1',
      request_id: expect.any(String),
      data: { fields: ['name', 'locale', 'role'] },
    });
  });

  test('without members changes nothing, not even updated_at', async () => {
    const user = await createUser(postern);
    expect((await admin('PATCH', `/users/${user.id}`, {})).body).toEqual(user);
    const unknown = { id: randomUUID(), has_pin: true, epoch: 9 };
    expect((await admin('PATCH', `/users/${user.id}`, unknown)).status).toBe(422);
    expect((await admin('GET', `/users/${user.id}`)).body).toEqual(user);
    expect(await eventsOf(user.id)).toHaveLength(1);
  });

  test('replaces an identity: the new one can log in, the old one is free', async () => {
    const user = await createUser(postern);
    const username = newName();
    await admin('PATCH', `/users/${user.id}`, { username });
    const attempt = async (name: string | null) =>
      (await postern.api('POST', '/v1/tokens', { body: passwordLogin(name) })).body.status;
    expect(await attempt(username)).toBe('approved');
    expect(await attempt(user.username)).toBe('rejected');
    expect((await admin('POST', '/users', { username: user.username })).status).toBe(201);
    expect(await refused('PATCH', `/users/${user.id}`, { username: user.username })).toEqual({
      status: 409,
      errors: [['username', 'identity_taken']],
    });
    expect(await attempt(username)).toBe('approved');
  });

  test('accepts another spelling of the user’s own name', async () => {
    const user = await createUser(postern);
    const { status, body } = await admin('PATCH', `/users/${user.id}`, { username: user.username?.toUpperCase() });
    expect(status).toBe(200);
    expect(body.username).toBe(user.username?.toUpperCase());
  });

  test('removes an identity, but not the last one', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    expect((await admin('PATCH', `/users/${user.id}`, { username: null })).body.username).toBeNull();
    expect(await refused('PATCH', `/users/${user.id}`, { phone: null })).toEqual({
      status: 422,
      errors: [[undefined, 'identity_required']],
    });
    expect((await admin('PATCH', `/users/${user.id}`, { phone: null, username: user.username })).body).toMatchObject({
      phone: null,
      username: user.username,
    });
  });

  test('applies the rules of new users, and reports all errors', async () => {
    const user = await createUser(postern);
    const change = { email: 'nowhere', phone: '1', password: 'qwertyuiop' };
    expect((await refused('PATCH', `/users/${user.id}`, change)).errors).toEqual([
      ['email', 'invalid_identity'],
      ['phone', 'invalid_identity'],
      ['password', 'password_too_common'],
    ]);
  });

  test.each([{ password: 'another battery of horses' }, { password: null }])(
    'ends every login with %j',
    async (change) => {
      const user = await createUser(postern);
      const { token, session } = await signIn(postern, user);
      expect(await isValid(session.token)).toBe(true);
      expect((await admin('PATCH', `/users/${user.id}`, change)).status).toBe(200);
      expect(await isValid(session.token)).toBe(false);
      expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
      expect((await login(postern, user)).body.status).toBe('rejected');
      expect((await eventsOf(user.id)).map(({ type }) => type)).toContain('user.password_changed');
    },
  );

  test('ends no login if only the PIN changes, and then requires the new PIN', async () => {
    const user = await createUser(postern, { pin: '2468' });
    const body = { ...passwordLogin(user.username), pin: '2468' };
    const { token = '' } = (await postern.api<{ token?: string }>('POST', '/v1/tokens', { body })).body;
    await admin('PATCH', `/users/${user.id}`, { pin: '13579' });
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
    const attempt = async (pin: string) =>
      (await postern.api('POST', '/v1/tokens', { body: { ...body, pin } })).body.status;
    expect(await attempt('2468')).toBe('rejected');
    expect(await attempt('13579')).toBe('approved');
    expect((await admin('PATCH', `/users/${user.id}`, { pin: null })).body.has_pin).toBe(false);
  });

  test('deactivates the user: every login ends, and none starts until the user is reactivated', async () => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    expect((await admin('PATCH', `/users/${user.id}`, { status: 'deactivated' })).body.status).toBe('deactivated');
    expect(await isValid(session.token)).toBe(false);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(400);
    expect((await login(postern, user)).body.status).toBe('rejected');
    await admin('PATCH', `/users/${user.id}`, { status: 'active' });
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect((await login(postern, user)).body.status).toBe('approved');
    const types = (await eventsOf(user.id)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['user.deactivated', 'user.reactivated']));
  });

  test('is 404 for an unknown id', async () => {
    expect((await refused('PATCH', `/users/${randomUUID()}`, { name: 'x' })).status).toBe(404);
  });
});

describe('deleting a user', () => {
  test('ends all logins at once, frees the identities, and keeps the events', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { token, session } = await signIn(postern, user);
    await postern.api('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    const notification = { user_id: user.id, notification_type: 'payment', description: 'x' };
    expect((await admin('POST', '/notifications', notification)).status).toBe(201);

    expect((await admin<undefined>('DELETE', `/users/${user.id}`)).status).toBe(204);
    expect(await isValid(session.token)).toBe(false);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect((await admin('GET', `/users/${user.id}`)).status).toBe(404);
    expect((await refused('DELETE', `/users/${user.id}`)).status).toBe(404);
    expect((await login(postern, user)).body.status).toBe('rejected');
    expect((await admin('POST', '/users', { username: user.username, phone: user.phone })).status).toBe(201);

    const tables = ['devices', 'authentications', 'sessions', 'outbox', 'inboxes', 'notifications'];
    const left = testSql(
      tables.map((table) => `select '${table}' as left from ${table} where user_id = $1`).join(' union '),
      [user.id],
    );
    await eventually('the erasure', async () => {
      const rows = await postern.database.query(left);
      return rows.length === 0 ? true : undefined;
    });
    const { body: events } = await admin<Event[]>('GET', `/events?filter=user_id:${user.id}`);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user.created', 'user.deleted', 'login.approved']),
    );
  });
});
