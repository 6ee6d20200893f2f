import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey, UserDevice } from '../../../../src/contract/administration.js';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { Device } from '../../../../src/contract/device.js';
import type { User } from '../../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { testSql } from '../../../support/sql.js';
import { codeOf, createUser, login, newPhone, passwordLogin, signIn, smsLogin } from '../../../support/users.js';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const listOf = (bearer: string, query = '') => postern.api<Device[]>('GET', `/v1/devices${query}`, { bearer });
const get = (bearer: string, id: string) => postern.api<Device>('GET', `/v1/devices/${id}`, { bearer });
const put = (bearer: string, id: string, body: unknown) =>
  postern.api<Device>('PUT', `/v1/devices/${id}`, { bearer, body });
const remove = (bearer: string, id: string) => postern.api('DELETE', `/v1/devices/${id}`, { bearer });
const verify = async (session: string) =>
  (await postern.api('POST', '/v1/sessions/verify', { bearer: session })).status;
const newSession = async (token: string) => (await postern.api('POST', '/v1/sessions', { basic: token })).status;
const admin = <Body>(method: string, path: string) =>
  postern.api<Body>(method, `/admin/v1${path}`, { bearer: postern.adminKey });
const eventsOf = async ({ id }: User) => (await admin<Event[]>('GET', `/users/${id}/activity`)).body;

const phone = {
  ...{ make: 'Acme', model: 'One', os_name: 'iOS', os_version: '18.1', sdk_version: '3', screen_width: 1179 },
  ...{ screen_height: '2556', apn_device_token: 'secret-apn-token' },
};

describe('listing devices', () => {
  test('shows the user’s own devices, newest first, with the current one and without push tokens', async () => {
    const user = await createUser(postern);
    await signIn(postern, await createUser(postern), { make: 'Other' });
    const first = await signIn(postern, user, phone);
    const second = await signIn(postern, user, { gcm_device_token: 'secret-gcm-token' });
    const { status, body, text } = await listOf(second.session.token);
    expect(status).toBe(200);
    const nothing = { make: null, model: null, os_name: null, os_version: null, sdk_version: null };
    const times = { last_login_at: time, created_at: time, updated_at: time };
    expect(body).toEqual([
      {
        ...{ id: second.authentication.device_id, ...nothing, screen_width: null, screen_height: null },
        ...{ push: { ios: false, android: true, web: false }, is_bound: false, current: true, ...times },
      },
      {
        ...{ id: first.authentication.device_id, make: 'Acme', model: 'One', os_name: 'iOS', os_version: '18.1' },
        ...{ sdk_version: '3', screen_width: '1179', screen_height: '2556' },
        ...{ push: { ios: true, android: false, web: false }, is_bound: false, current: false, ...times },
      },
    ]);
    expect(text).not.toContain('secret');
    expect((await listOf(first.session.token)).body.map(({ current }) => current)).toEqual([false, true]);
  });

  test('is paged, sorted and filtered like other lists, with links and a total', async () => {
    const user = await createUser(postern);
    for (const make of ['A', 'B', 'C']) await login(postern, user, { make });
    const { session } = await signIn(postern, user, { make: 'D' });
    const page = await listOf(session.token, '?limit=3');
    expect(page.body.map(({ make }) => make)).toEqual(['D', 'C', 'B']);
    expect(page.headers['x-total-count']).toBe('4');
    const next = /<(\/v1\/devices\?[^>]*)>; rel="next"/.exec(page.headers.link ?? '')?.[1] ?? '';
    expect((await postern.api<Device[]>('GET', next, { bearer: session.token })).body[0]?.make).toBe('A');
    const sorted = await listOf(session.token, '?sort=created_at:asc&filter=make:in:A;C');
    expect(sorted.body.map(({ make }) => make)).toEqual(['A', 'C']);
    const { status, body } = await postern.api<ProblemAnswer>('GET', '/v1/devices?filter=apn_device_token:x', {
      bearer: session.token,
    });
    expect([status, body.errors[0]?.field]).toEqual([422, 'filter']);
  });

  test('shows for each type of push token whether one is registered; an empty token does not count', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user, { apn_device_token: '', gcm_device_token: '' });
    const pushOf = async () => (await get(session.token, 'current')).body.push;
    expect(await pushOf()).toEqual({ ios: false, android: false, web: false });
    const p256dh = createECDH('prime256v1').generateKeys('base64url');
    const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
    const tokens = {
      web: { endpoint: 'https://push.example.com/secret-endpoint', keys },
      ios: randomBytes(32).toString('hex'),
      android: 'secret-registration',
    };
    for (const [type, token] of Object.entries(tokens)) {
      const answer = await postern.api('POST', '/v1/devices/tokens', { bearer: session.token, body: { type, token } });
      expect(answer.status).toBe(201);
      expect(await pushOf()).toMatchObject({ [type]: true });
    }
    const { text } = await listOf(session.token);
    for (const secret of ['secret', tokens.ios, p256dh]) expect(text).not.toContain(secret);
    await remove(session.token, 'current');
    const again = await signIn(postern, user, { id: session.device_id });
    expect((await get(again.session.token, 'current')).body.push).toEqual({ ios: false, android: false, web: false });
  });

  test('needs a session', async () => {
    expect((await postern.api('GET', '/v1/devices')).status).toBe(401);
    expect((await listOf(postern.adminKey)).status).toBe(401);
  });
});

describe('one device', () => {
  test('is found by its id in any letter case, and as the current one', async () => {
    const { session, authentication } = await signIn(postern, await createUser(postern), phone);
    const { body } = await get(session.token, authentication.device_id.toUpperCase());
    expect(body).toMatchObject({ id: authentication.device_id, make: 'Acme', current: true });
    expect((await get(session.token, 'current')).body).toEqual(body);
  });

  test('gets 404 for an unknown id, a device of another user and a text that is no id, for every method', async () => {
    const [mine, theirs] = [await createUser(postern), await createUser(postern)];
    const { session } = await signIn(postern, mine);
    const foreign = await signIn(postern, theirs, phone);
    for (const id of [foreign.authentication.device_id, randomUUID(), 'nonsense', `${randomUUID()}'--`]) {
      const answers = [await get(session.token, id), await put(session.token, id, {}), await remove(session.token, id)];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    expect((await get(foreign.session.token, 'current')).body.make).toBe('Acme');
    expect(await verify(foreign.session.token)).toBe(200);
  });

  test('can have the same id as a device of another user, and they do not affect each other', async () => {
    const id = randomUUID();
    const mine = await signIn(postern, await createUser(postern), { ...phone, id });
    const theirs = await signIn(postern, await createUser(postern), { ...phone, id });
    await put(mine.session.token, id, { make: 'Zeta' });
    expect((await get(theirs.session.token, id)).body.make).toBe('Acme');
    expect((await remove(mine.session.token, id)).status).toBe(200);
    expect((await get(theirs.session.token, id)).status).toBe(200);
    expect(await verify(theirs.session.token)).toBe(200);
  });

  test('keeps the time of its first login, and shows the time of the last one', async () => {
    const user = await createUser(postern);
    const first = await signIn(postern, user, phone);
    const before = (await get(first.session.token, 'current')).body;
    const { session } = await signIn(postern, user, { id: first.authentication.device_id });
    const after = (await get(session.token, 'current')).body;
    expect(after).toMatchObject({ created_at: before.created_at, make: 'Acme' });
    expect(after.last_login_at > before.last_login_at).toBe(true);
  });
});

describe('describing a device', () => {
  test.each(['current', 'its id'])('replaces the whole description and keeps the push token, by %s', async (target) => {
    const user = await createUser(postern);
    const { session, authentication } = await signIn(postern, user, phone);
    const before = (await get(session.token, 'current')).body;
    const description = {
      model: 'Two',
      screen_width: 2000,
      id: randomUUID(),
      apn_device_token: 'other',
      current: false,
    };
    const id = target === 'current' ? target : authentication.device_id;
    const { status, body } = await put(session.token, id, description);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ ...before, make: null, model: 'Two', os_name: null, os_version: null, sdk_version: null },
      ...{ screen_width: '2000', screen_height: null, updated_at: time },
    });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect(body.push.ios).toBe(true);
    expect((await get(session.token, 'current')).body).toEqual(body);
    const [event] = await eventsOf(user);
    expect(event).toMatchObject({ type: 'device.changed', actor: 'user', data: { device_id: body.id } });
  });

  test('with unchanged values writes nothing', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user, phone);
    const before = await get(session.token, 'current');
    const { apn_device_token: _, ...same } = phone;
    expect((await put(session.token, 'current', same)).body).toEqual(before.body);
    expect((await eventsOf(user)).map(({ type }) => type)).not.toContain('device.changed');
  });

  test.each([
    ['every member', phone],
    ['no member', {}],
    ['some members', { make: 'Acme', screen_width: 1179 }],
  ])('accepts the response of GET and changes nothing, for a device with %s', async (_name, device) => {
    const { session } = await signIn(postern, await createUser(postern), device);
    const shown = await get(session.token, 'current');
    const answer = await put(session.token, 'current', shown.body);
    expect([answer.status, answer.body]).toEqual([200, shown.body]);
  });

  test.each(['make', 'model', 'os_name', 'os_version', 'sdk_version', 'screen_width', 'screen_height'])(
    'treats null for %s as missing',
    async (member) => {
      const { session } = await signIn(postern, await createUser(postern), phone);
      const before = (await get(session.token, 'current')).body;
      const { status, body } = await put(session.token, 'current', { ...before, [member]: null });
      expect([status, body]).toEqual([200, { ...before, [member]: null, updated_at: time }]);
    },
  );

  test('a login with one or two steps accepts the response of GET as its device', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { session } = await signIn(postern, user, { model: 'One', apn_device_token: 'secret-apn-token' });
    const shown = (await get(session.token, 'current')).body;
    const again = await login(postern, user, { ...shown, apn_device_token: null, gcm_device_token: null });
    expect([again.status, again.body.device_id]).toEqual([201, shown.id]);
    const after = (await get(session.token, 'current')).body;
    expect(after).toEqual({ ...shown, last_login_at: time, updated_at: time });
    const code = await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone, shown) });
    expect([code.status, code.body.device_id]).toEqual([201, shown.id]);
  });

  test('creates an id for a device whose id is null, and refuses reserved ids', async () => {
    const user = await createUser(postern);
    const { status, body } = await login(postern, user, { id: null });
    expect([status, body.device_id]).toEqual([201, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const reserved = { id: '00000000-0000-0000-0000-000000000000' };
    expect((await login(postern, user, reserved)).status).toBe(422);
    const recovery = { identity: { type: 'email', value: 'nobody@example.com' }, purpose: 'password' };
    const answer = await postern.api('POST', '/v1/recoveries', { body: { ...recovery, device: { id: null } } });
    expect(answer.status).toBe(201);
  });

  test('reports all errors, by the rules of a login', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const { status, body } = await postern.api<ProblemAnswer>('PUT', '/v1/devices/current', {
      bearer: session.token,
      body: { make: 7, model: 'x'.repeat(256), screen_width: 'wide' },
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ field }) => field).sort()).toEqual(['make', 'model', 'screen_width']);
    expect((await put(session.token, 'current', '{"make":"\\u0000"}')).status).toBe(422);
    expect((await put(session.token, 'current', [])).status).toBe(422);
  });
});

describe('removing a device', () => {
  test('ends only its tokens and sessions, deletes its push token, and records an event', async () => {
    const user = await createUser(postern);
    const lost = await signIn(postern, user, phone);
    // Approved and not used yet: a second valid token of the same device.
    const second = (await login(postern, user, { id: lost.authentication.device_id })).body.token ?? '';
    const kept = await signIn(postern, user);
    const id = lost.authentication.device_id;
    const answer = await remove(kept.session.token, id);
    expect([answer.status, answer.body]).toEqual([200, { id }]);
    expect(await verify(lost.session.token)).toBe(401);
    expect([await newSession(lost.token), await newSession(second)]).toEqual([401, 401]);
    expect((await postern.api('GET', `/v1/tokens/${lost.authentication.id}`)).status).toBe(404);
    expect((await postern.api('DELETE', '/v1/tokens', { basic: lost.token })).status).toBe(401);
    expect([await verify(kept.session.token), await newSession(kept.token)]).toEqual([200, 201]);

    expect((await get(kept.session.token, id)).status).toBe(404);
    expect((await remove(kept.session.token, id)).status).toBe(404);
    expect((await listOf(kept.session.token)).body.map(({ current }) => current)).toEqual([true]);
    expect((await eventsOf(user))[0]).toMatchObject({ type: 'device.removed', actor: 'user', data: { device_id: id } });
    const left = await postern.database.query(
      testSql(`select 1 from authentications where user_id = $1 and device::text like '%secret-apn-token%'`, [user.id]),
    );
    expect(left).toEqual([]);
  });

  test.each(['current', 'its id'])(
    'can remove the current one, by %s, which ends the current session',
    async (target) => {
      const { session, token, authentication } = await signIn(postern, await createUser(postern));
      const id = authentication.device_id;
      const { status, body } = await remove(session.token, target === 'current' ? target : id);
      expect([status, body]).toEqual([200, { id }]);
      expect([await verify(session.token), await newSession(token)]).toEqual([401, 401]);
      expect((await get(session.token, 'current')).status).toBe(401);
    },
  );

  test('rejects a pending login, as a wrong code does', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { session, authentication } = await signIn(postern, user);
    const body = smsLogin(user.phone, { id: authentication.device_id });
    const { body: pending } = await postern.api<Authentication>('POST', '/v1/tokens', { body });
    const code = await codeOf(postern, pending.id);
    await remove(session.token, authentication.device_id);
    const answer = await postern.api<ProblemAnswer>('POST', `/v1/tokens/${pending.id}/secret`, {
      body: { secret: code, pin: '2468' },
    });
    expect([answer.status, answer.body.errors[0]?.code]).toEqual([400, 'authorization_rejected']);
    expect((await postern.api('GET', `/v1/tokens/${pending.id}`)).body).toEqual({ id: pending.id, status: 'rejected' });
  });

  test('does not affect a later login, which creates the device again', async () => {
    const user = await createUser(postern);
    const { session, authentication } = await signIn(postern, user, phone);
    await remove(session.token, authentication.device_id);
    const again = await signIn(postern, user, { id: authentication.device_id });
    const { body } = await get(again.session.token, 'current');
    expect(body).toMatchObject({ make: null, push: { ios: false } });
    expect(body.created_at).toBe(body.last_login_at);
    expect(await verify(session.token)).toBe(401);
  });

  test('makes its guesses count in the budget of unknown devices', async () => {
    const user = await createUser(postern);
    const { authentication } = await signIn(postern, user);
    const other = await signIn(postern, user);
    const device = { id: authentication.device_id };
    const guess = (from: object, secret?: string) =>
      postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, secret, from) });
    for (let count = 0; count < 5; count += 1) await guess({}, 'wrong');
    expect((await guess({})).status).toBe(423);
    expect((await guess(device)).status).toBe(201);
    await remove(other.session.token, authentication.device_id);
    expect((await guess(device)).status).toBe(423);
    expect((await guess({ id: other.authentication.device_id })).status).toBe(201);
  });
});

describe('an operator', () => {
  test('sees the same devices, and removes one', async () => {
    const user = await createUser(postern);
    const lost = await signIn(postern, user, phone);
    const kept = await signIn(postern, user);
    const listed = await admin<UserDevice[]>('GET', `/users/${user.id}/devices?sort=created_at`);
    const own = (await listOf(kept.session.token)).body.map(({ current: _, ...device }) => device);
    expect(listed.body).toEqual(own);
    expect(listed.text).not.toContain('secret');
    const id = lost.authentication.device_id;
    const path = `/users/${user.id}/devices/${id}`;
    const answer = await admin('DELETE', path);
    expect([answer.status, answer.body]).toEqual([200, { id }]);
    expect([await verify(lost.session.token), await verify(kept.session.token)]).toEqual([401, 200]);
    expect((await eventsOf(user))[0]).toMatchObject({ type: 'device.removed', actor: 'key:environment' });
    for (const unknown of [path, `/users/${randomUUID()}/devices/${kept.authentication.device_id}`]) {
      expect((await admin('DELETE', unknown)).status).toBe(404);
    }
    expect((await admin('DELETE', `/users/${user.id}/devices/nonsense`)).status).toBe(404);
  });

  test('needs the scope users:write', async () => {
    const user = await createUser(postern);
    const { authentication, session } = await signIn(postern, user);
    const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'support', scopes: ['users:read'] },
    });
    const path = `/admin/v1/users/${user.id}/devices/${authentication.device_id}`;
    expect((await postern.api('DELETE', path, { bearer: key.body.token })).status).toBe(403);
    expect((await postern.api('DELETE', path, { bearer: session.token })).status).toBe(401);
    expect(await verify(session.token)).toBe(200);
  });
});
