import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../../src/contract/administration.js';
import type { Session } from '../../../../../src/contract/session.js';
import type { User } from '../../../../../src/contract/user.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { createUser, login, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    LOGIN_LIMIT_PER_ADDRESS: '0',
    IDLE_TTL_BY_ROLE: 'clerk:40m',
    AUTHENTICATION_TTL_BY_ROLE: 'clerk:2h,auditor:1h',
    MAX_DEVICES_BY_ROLE: 'auditor:1',
    SECOND_FACTOR_BY_ROLE: 'treasurer:required,support:required',
  });
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const verify = async (token: string, method = 'POST') =>
  postern.api<Session>(method, '/v1/sessions/verify', { bearer: token });
const change = async ({ id }: User, body: object) => (await admin('PATCH', `/users/${id}`, body)).body;

describe('roles of the app', () => {
  test('are replaced as a set, or added and removed, in alphabetical order', async () => {
    const user = await createUser(postern, { roles: ['writer', 'editor'] });
    expect(user.roles).toEqual(['editor', 'writer']);
    expect(
      (await change(user, { roles: { add: ['billing:admin', 'editor'], remove: ['writer', 'unknown'] } })).roles,
    ).toEqual(['billing:admin', 'editor']);
    expect((await change(user, { roles: {} })).roles).toEqual(['billing:admin', 'editor']);
    expect((await change(user, { roles: [] })).roles).toEqual([]);
  });

  test('changes at the same time lose none', async () => {
    const user = await createUser(postern);
    const names = Array.from({ length: 12 }, (_, index) => `role-${String(index).padStart(2, '0')}`);
    await Promise.all(names.map((name) => change(user, { roles: { add: [name] } })));
    expect((await admin('GET', `/users/${user.id}`)).body.roles).toEqual(names);
  });

  test('have a form and a number', async () => {
    const roles = Array.from({ length: 32 }, (_, index) => `r${index}`);
    const user = await createUser(postern, { roles });
    const errorsOf = async (value: unknown) => (await refused('PATCH', `/users/${user.id}`, { roles: value })).errors;
    expect(await errorsOf({ add: ['another'] })).toEqual([['roles', 'too_many_items']]);
    expect(await errorsOf([...roles, 'another'])).toEqual([['roles', 'too_many_items']]);
    expect(await errorsOf(['Editor'])).toEqual([['roles.0', 'invalid_format']]);
    expect(await errorsOf({ remove: ['a,b'] })).toEqual([['roles.remove.0', 'invalid_format']]);
    expect(await errorsOf(['editor', 'editor'])).toEqual([['roles', 'duplicate_items']]);
    expect(await errorsOf({ add: ['x'], remove: ['x'] })).toEqual([['roles', 'duplicate_items']]);
    expect(await errorsOf({ adds: ['x'] })).toEqual([['roles.adds', 'unknown_member']]);
    expect(await errorsOf('editor')).toEqual([['roles', 'invalid_type']]);
    expect((await admin('GET', `/users/${user.id}`)).body.roles).toHaveLength(32);
  });

  test('filter lists of users: one role, one of several, none', async () => {
    const [writer, both] = [
      await createUser(postern, { roles: ['f:writer'] }),
      await createUser(postern, { roles: ['f:writer', 'f:chief'] }),
    ];
    const found = async (filter: string) => {
      const { body } = await admin<User[]>('GET', `/users?limit=100&filter=${encodeURIComponent(filter)}`);
      return body.map(({ id }) => id).filter((id) => [writer.id, both.id].includes(id));
    };
    expect(await found('roles:eq:f:writer')).toEqual([both.id, writer.id]);
    expect(await found('roles:eq:f:chief')).toEqual([both.id]);
    expect(await found('roles:in:f:chief;f:writer')).toEqual([both.id, writer.id]);
    expect(await found('roles:neq:f:chief')).toEqual([writer.id]);
    expect(await found('roles:eq:f')).toEqual([]);
  });

  test('a key with users:write gives them, but to no operator', async () => {
    const { body: key } = await admin<{ token: string }>('POST', '/keys', { name: 'users', scopes: ['users:write'] });
    const [user, operator] = [await createUser(postern), await createUser(postern, { role: 'operator' })];
    const statusOf = async ({ id }: User) =>
      (await postern.api('PATCH', `/admin/v1/users/${id}`, { bearer: key.token, body: { roles: ['editor'] } })).status;
    expect([await statusOf(user), await statusOf(operator)]).toEqual([200, 403]);
  });

  test('changes are events with the values before and after', async () => {
    const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'free' } });
    await change(user, { roles: { add: ['writer'] }, claims: { plan: 'pro', seats: 3 } });
    await change(user, { roles: ['writer', 'editor'], claims: { seats: 3, plan: 'pro' } });
    const { body } = await admin<Event[]>('GET', `/events?filter=user_id:${user.id}`);
    expect(body.filter(({ type }) => type === 'user.changed')).toMatchObject([
      {
        data: { fields: ['roles', 'claims'] },
        changes: [
          { field: 'roles', before: ['editor'], after: ['editor', 'writer'] },
          { field: 'claims.plan', before: 'free', after: 'pro' },
          { field: 'claims.seats', before: null, after: 3 },
        ],
      },
    ]);
  });
});

describe('claims', () => {
  test('are replaced, and take at most 2 KiB of UTF-8', async () => {
    const user = await createUser(postern, { claims: { plan: 'pro' } });
    expect((await change(user, { claims: { org: { id: 7 } } })).claims).toEqual({ org: { id: 7 } });
    expect((await change(user, { claims: { t: 'ñ'.repeat(1020) } })).claims.t).toHaveLength(1020);
    const tooLong = { claims: { t: 'ñ'.repeat(1021) } };
    expect(await refused('PATCH', `/users/${user.id}`, tooLong)).toEqual({
      status: 422,
      errors: [['claims', 'too_many_bytes']],
    });
    expect((await refused('PATCH', `/users/${user.id}`, { claims: [] })).errors).toEqual([['claims', 'invalid_type']]);
  });

  test('the user sees roles and claims in the own export, and cannot change them', async () => {
    const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'pro' } });
    const { session } = await signIn(postern, user);
    const { body } = await postern.api<{ account: User }>('GET', '/v1/account/export', { bearer: session.token });
    expect(body.account).toMatchObject({ roles: ['editor'], claims: { plan: 'pro' } });
    await postern.api('PATCH', '/v1/account', {
      bearer: session.token,
      body: { name: 'Ada', roles: ['chief'], claims: {} },
    });
    expect((await admin('GET', `/users/${user.id}`)).body).toMatchObject({
      name: 'Ada',
      roles: ['editor'],
      claims: { plan: 'pro' },
    });
  });
});

describe.each([
  ['with batches', undefined],
  ['without batches', 'false'],
])('a check of a session, %s', (_name, batching) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await postern.another(batching === undefined ? {} : { DATABASE_BATCHING: batching });
  });
  afterAll(() => app.close());

  test('shows roles and claims at its end, as they are now, on each instance', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const check = async (method: string) => {
      const { text, headers } = await app.api(method, '/v1/sessions/verify', { bearer: session.token });
      return [/,"roles".*\}(?=,"authenticated_at")/s.exec(text)?.[0], headers['postern-roles']];
    };
    expect(await check('GET')).toEqual([',"roles":[],"claims":{}', '']);
    for (const name of ['a', 'b', 'c']) {
      await change(user, { roles: { add: [name] }, claims: { name: `${name} ñ 🎉` } });
      const roles = ['a', 'b', 'c'].slice(0, ['a', 'b', 'c'].indexOf(name) + 1);
      const end = `,"roles":${JSON.stringify(roles)},"claims":{"name":"${name} ñ 🎉"}`;
      expect(await check('GET')).toEqual([end, roles.join(',')]);
      expect(await check('POST')).toEqual([end, undefined]);
    }
  });

  test('parallel checks never show a role that was removed before they began', async () => {
    const user = await createUser(postern, { roles: ['r0'] });
    const { session } = await signIn(postern, user);
    for (let round = 1; round <= 20; round += 1) {
      const busy = Array.from({ length: 8 }, () =>
        app.api<Session>('POST', '/v1/sessions/verify', { bearer: session.token }),
      );
      await change(user, { roles: [`r${round}`] });
      const later = await Promise.all(
        Array.from({ length: 8 }, () => app.api<Session>('POST', '/v1/sessions/verify', { bearer: session.token })),
      );
      expect(later.map(({ body }) => body.roles)).toEqual(later.map(() => [`r${round}`]));
      await Promise.all(busy);
    }
  });
});

describe('policies by role', () => {
  const left = (time: string) => (Date.parse(time) - Date.now()) / 60_000;

  test('the smallest limit of all roles of a user holds', async () => {
    const user = await createUser(postern, { roles: ['auditor', 'clerk'] });
    const { body } = await login(postern, user);
    expect(left(body.expires_at ?? '')).toBeLessThanOrEqual(40);
    expect(left(body.expires_at ?? '')).toBeGreaterThan(38);
    await change(user, { roles: ['auditor'] });
    const { body: longer } = await login(postern, user);
    expect(left(longer.expires_at ?? '')).toBeGreaterThan(58);
    expect(left(longer.expires_at ?? '')).toBeLessThanOrEqual(60);
  });

  test('a role of the app with the name of a role of operators has no limit, and needs no factor', async () => {
    const user = await createUser(postern, { roles: ['operator', 'support'] });
    const { body } = await login(postern, user);
    expect(body.status).toBe('approved');
    expect(left(body.expires_at ?? '')).toBeGreaterThan(60 * 24 * 364);
  });

  test('a role that is given later shortens open logins', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    await change(user, { roles: { add: ['auditor'] } });
    const { body } = await admin<{ expires_at: string }[]>('GET', `/users/${user.id}/tokens`);
    expect(left(body[0]?.expires_at ?? '')).toBeLessThanOrEqual(60);
    expect((await verify(session.token)).status).toBe(200);
  });

  test('MAX_DEVICES_BY_ROLE counts them', async () => {
    const user = await createUser(postern, { roles: ['auditor'] });
    const first = await signIn(postern, user);
    await signIn(postern, user);
    await eventually(
      'the end of the first login',
      async () => (await verify(first.session.token)).status === 401 || undefined,
    );
  });

  test('SECOND_FACTOR_BY_ROLE counts them, and the strictest holds', async () => {
    const user = await createUser(postern, { roles: ['editor'] });
    expect((await login(postern, user)).status).toBe(201);
    expect((await login(postern, user)).body.status).toBe('approved');
    await change(user, { roles: { add: ['treasurer'] } });
    expect((await login(postern, user)).body).toMatchObject({ status: 'pending', challenge: { type: 'enrol' } });
  });
});
