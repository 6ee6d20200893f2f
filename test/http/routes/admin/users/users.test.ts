import { randomUUID } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey, Scope } from '../../../../../src/contract/administration.js';
import type { User } from '../../../../../src/contract/user.js';
import { createAdministration } from '../../../../support/administration.js';
import { type ApiAnswer, type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, login, newPhone, password } from '../../../../support/users.js';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const newKey = async (...scopes: Scope[]) =>
  (await admin<IssuedApiKey>('POST', '/keys', { name: 'test', scopes })).body.token;
const newName = () => `name-${randomUUID()}`;

describe('creating a user', () => {
  test('returns 201 with the user, with identities as they are shown and without secrets', async () => {
    const phone = newPhone();
    const name = newName();
    const { status, body, text } = await admin('POST', '/users', {
      username: name.toUpperCase(),
      email: `${name}@EXAMPLE.com`,
      phone: `${phone.slice(0, 5)} ${phone.slice(5)}`,
      name: 'Ada Lovelace',
      locale: 'en',
      password,
      pin: '2468',
      role: 'support',
      metadata: { plan: { tier: 2 } },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      username: name.toUpperCase(),
      email: `${name}@example.com`,
      email_verified: true,
      phone,
      phone_verified: true,
      external_id: null,
      name: 'Ada Lovelace',
      locale: 'en',
      status: 'active',
      role: 'support',
      is_guest: false,
      role_active: false,
      lock: null,
      guess_locks: [],
      has_password: true,
      has_pin: true,
      pin_recovery: null,
      second_factor: null,
      second_factors: [],
      metadata: { plan: { tier: 2 } },
      roles: [],
      claims: {},
      last_login_at: null,
      created_at: time,
      updated_at: body.created_at,
    });
    expect(text).not.toContain('argon2');
    expect((await admin('GET', `/users/${body.id}`)).body).toEqual(body);
  });

  test('accepts a single identity, and uses defaults for the other members', async () => {
    const phone = newPhone();
    const { body } = await admin('POST', '/users', { phone });
    expect(body).toMatchObject({
      username: null,
      email: null,
      phone,
      name: '',
      locale: null,
      role: 'user',
      metadata: {},
    });
    expect(body).toMatchObject({ has_password: false, has_pin: false });
  });

  test('requires an identity', async () => {
    expect(await refused('POST', '/users', { name: 'Nobody' })).toEqual({
      status: 422,
      errors: [[undefined, 'identity_required']],
    });
  });

  test('reports all errors at once', async () => {
    const body = {
      username: 'a b',
      email: 'not an address',
      phone: '12',
      password: 'password123',
      password_hash: '$2b$12$nope',
      metadata: { text: 'x'.repeat(17_000) },
    };
    expect(await refused('POST', '/users', body)).toEqual({
      status: 422,
      errors: [
        ['email', 'invalid_identity'],
        ['phone', 'invalid_identity'],
        ['username', 'invalid_identity'],
        ['password', 'password_too_common'],
        ['password_hash', 'invalid_hash_length'],
        ['password_hash', 'conflicting_fields'],
        ['metadata', 'too_many_bytes'],
      ],
    });
  });

  test('refuses an invalid PIN, role and locale', async () => {
    const { status, errors } = await refused('POST', '/users', {
      username: newName(),
      pin: '12a4',
      role: 'king',
      locale: '?',
    });
    expect(status).toBe(422);
    expect(errors).toEqual(
      expect.arrayContaining([
        ['pin', 'invalid_pin'],
        ['role', 'invalid_choice'],
        ['locale', 'invalid_format'],
      ]),
    );
  });

  test.each(
    ['metadata', 'claims'].flatMap((name) => [
      [name, '{"a":{"big":12345678901234567890}}', 'a.big', 'inexact_number'],
      [name, '{"a":1e400}', 'a', 'inexact_number'],
      [name, '{"a":[-0]}', 'a.0', 'inexact_number'],
      [name, '{"a":1,"a":1}', 'a', 'duplicate_member'],
      [name, '{"__proto__":{"a":1}}', '__proto__', 'reserved_member'],
    ]),
  )('refuses %s that would not come back equal: %s', async (name, value, part, code) => {
    const json = {
      ...{ bearer: postern.adminKey, headers: { 'content-type': 'application/json' } },
      body: `{"username":"${newName()}","${name}":${value}}`,
    };
    const created = await postern.api<ProblemAnswer>('POST', '/admin/v1/users', json);
    const expected = [422, [{ field: `${name}.${part}`, code }]];
    expect([created.status, created.body.errors]).toMatchObject(expected);
    const user = await createUser(postern);
    const changed = await postern.api<ProblemAnswer>('PATCH', `/admin/v1/users/${user.id}`, json);
    expect([changed.status, changed.body.errors]).toMatchObject(expected);
  });

  test('returns metadata with unusual numbers and names as it was sent', async () => {
    const metadata =
      '{"a":1.7976931348623157e308,"b":5e-324,"constructor":"Acme","":null,"c":[0.1,-1.5,1e21,9007199254740991]}';
    const created = await postern.api<User>('POST', '/admin/v1/users', {
      ...{ bearer: postern.adminKey, body: `{"username":"${newName()}","metadata":${metadata}}` },
      headers: { 'content-type': 'application/json' },
    });
    expect(created.status).toBe(201);
    const read = await postern.api<User>('GET', `/admin/v1/users/${created.body.id}`, { bearer: postern.adminKey });
    expect(read.body.metadata).toEqual(JSON.parse(metadata));
  });

  test('accepts metadata of 16 KiB, and not one byte more', async () => {
    const metadata = { text: 'x'.repeat(16 * 1024 - '{"text":""}'.length) };
    expect((await admin('POST', '/users', { username: newName(), metadata })).status).toBe(201);
    metadata.text += 'x';
    expect((await refused('POST', '/users', { username: newName(), metadata })).errors).toEqual([
      ['metadata', 'too_many_bytes'],
    ]);
  });

  test('returns 409 with each identity that another user has in any spelling, and stores nothing', async () => {
    const { username, email } = await createUser(postern, { email: `${newName()}@example.com` });
    const phone = newPhone();
    const again = { username: username?.toUpperCase(), email: email?.toUpperCase(), phone };
    expect(await refused('POST', '/users', again)).toEqual({
      status: 409,
      errors: [
        ['email', 'identity_taken'],
        ['username', 'identity_taken'],
      ],
    });
    expect((await admin('POST', '/users', { phone })).status).toBe(201);
  });

  test('gives an identity to one of many parallel requests', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const body = { username: newName(), email: `${newName()}@example.com`, phone: newPhone() };
      const answers = await Promise.all(Array.from({ length: 8 }, () => admin('POST', '/users', body)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    }
  });

  test('refuses unknown members', async () => {
    const unknownMembers = {
      id: randomUUID(),
      status: 'deactivated',
      lock: { permanent: true },
      epoch: 7,
      created_at: '2001-01-01T00:00:00Z',
    };
    const { status, errors } = await refused('POST', '/users', { username: newName(), ...unknownMembers });
    expect([status, errors.map(([field]) => field).sort()]).toEqual([422, Object.keys(unknownMembers).sort()]);
  });

  test('imports an argon2id hash, with which the user logs in', async () => {
    const password_hash = await hash(password, { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 2 });
    const user = await createUser(postern, { password: undefined, password_hash });
    expect(user.has_password).toBe(true);
    expect((await login(postern, user)).body.status).toBe('approved');
  });

  test('happens once for one Idempotency-Key', async () => {
    const body = { username: newName(), password };
    const headers = { 'idempotency-key': randomUUID() };
    const [first, second] = [
      await admin('POST', '/users', body, { headers }),
      await admin('POST', '/users', body, { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('needs the scope users:write', async () => {
    const reader = await newKey('users:read');
    const answer = await admin<ProblemAnswer>('POST', '/users', { username: newName() }, { bearer: reader });
    expect(answer.status).toBe(403);
    expect(answer.body.errors).toMatchObject([{ code: 'insufficient_scope' }]);
    expect((await admin('GET', '/users', undefined, { bearer: reader })).status).toBe(200);
    const writer = await newKey('users:write');
    expect((await admin('GET', '/users', undefined, { bearer: writer })).status).toBe(403);
    expect((await admin('POST', '/users', { username: newName() }, { bearer: writer })).status).toBe(201);
  });
});

describe('reading a user', () => {
  test('accepts the id in any letter case', async () => {
    const user = await createUser(postern);
    expect((await admin('GET', `/users/${user.id.toUpperCase()}`)).body).toEqual(user);
  });

  test.each(['', '/devices', '/tokens', '/sessions', '/activity'])(
    'with the path suffix %j is 404 for an unknown id, and for a text that is no id',
    async (list) => {
      expect((await admin('GET', `/users/${randomUUID()}${list}`)).status).toBe(404);
      expect((await admin('GET', `/users/ada${list}`)).status).toBe(404);
    },
  );
});

describe('listing users', () => {
  const namesOf = (users: readonly User[]) => users.map(({ name }) => name);

  test('returns the newest first, and every page by its links', async () => {
    const family = newName();
    for (const name of ['1', '2', '3', '4', '5']) await createUser(postern, { name: `${family} ${name}` });
    const seen: string[] = [];
    let path: string | undefined = `/admin/v1/users?filter=name:like:${family}&limit=2`;
    let pages = 0;
    while (path !== undefined) {
      const page: ApiAnswer<User[]> = await postern.api<User[]>('GET', path, { bearer: postern.adminKey });
      expect(page.headers['x-total-count']).toBe('5');
      expect(page.headers).not.toHaveProperty('x-total-count-capped');
      seen.push(...namesOf(page.body));
      path = /<([^>]+)>; rel="next"/.exec(page.headers.link ?? '')?.[1];
      pages += 1;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual(['5', '4', '3', '2', '1'].map((name) => `${family} ${name}`));
  });

  test('links from a page beyond the end to the last page', async () => {
    const name = newName();
    await createUser(postern, { name });
    const { body, headers } = await admin<User[]>('GET', `/users?filter=name:${name}&page=9`);
    expect(body).toEqual([]);
    expect(headers.link).toContain(`page=1&filter=name%3A${name}>; rel="prev"`);
    expect(headers.link).not.toContain('rel="next"');
  });

  test('filters by every kind of field, and sorts by the time of changes', async () => {
    const name = newName();
    const ada = await createUser(postern, { name, role: 'operator', locale: 'es' });
    const bob = await createUser(postern, { name, email: `${newName()}@filters.example` });
    await admin('PATCH', `/users/${ada.id}`, { locale: 'en' });
    const found = async (query: string) => (await admin<User[]>('GET', `/users?${query}`)).body.map(({ id }) => id);
    expect(await found(`filter=name:${name},role:operator`)).toEqual([ada.id]);
    expect(await found(`filter=name:${name},role:neq:operator`)).toEqual([bob.id]);
    expect(await found(`filter=id:in:${ada.id};${bob.id}&sort=created_at:asc`)).toEqual([ada.id, bob.id]);
    expect(await found('filter=email:like:FILTERS.example')).toEqual([bob.id]);
    expect(await found(`filter=name:${name},locale:en,status:active`)).toEqual([ada.id]);
    expect(await found(`filter=name:${name}&sort=updated_at`)).toEqual([ada.id, bob.id]);
    expect(await found(`filter=name:${name}&since=${ada.created_at}`)).toEqual([bob.id]);
    expect(await found(`filter=name:${name}&sort=updated_at&since=${bob.created_at}`)).toEqual([ada.id]);
  });

  test('finds a user by identity in any spelling, as a login does', async () => {
    const [name, phone] = [newName(), newPhone()];
    const ada = await createUser(postern, { username: name, phone, email: `${name}@example.com` });
    const bob = await createUser(postern);
    const found = async (filter: string) =>
      (await admin<User[]>('GET', `/users?filter=${encodeURIComponent(filter)}`)).body.map(({ id }) => id).sort();
    expect(await found(`username:${name.toUpperCase()}`)).toEqual([ada.id]);
    expect(await found(`email:eq:${name}@EXAMPLE.com`)).toEqual([ada.id]);
    expect(await found(`phone:${phone.slice(0, 5)} ${phone.slice(5)}`)).toEqual([ada.id]);
    expect(await found(`username:in:${name};${bob.username};nobody`)).toEqual([ada.id, bob.id].sort());
    expect(await found(`username:${name},role:operator`)).toEqual([]);
    expect(await found('username:nobody')).toEqual([]);
    expect(await found('email:no address')).toEqual([]);
    expect(await found(`username:like:${name.slice(5)}`)).toEqual([ada.id]);
  });

  test('reports all invalid parameters', async () => {
    const { status, errors } = await refused(
      'GET',
      '/users?page=0&limit=101&sort=name&since=today&filter=password_hash:like:a',
    );
    expect(status).toBe(422);
    expect(errors.map(([field]) => field)).toEqual(['page', 'limit', 'sort', 'since', 'filter']);
  });

  test('counts up to a thousand', async () => {
    await postern.database.query(
      testSql(`insert into users (id, name, created_at, updated_at)
           select gen_random_uuid(), 'counted', db_now(), db_now() from generate_series(1, 1001)`),
    );
    const capped = await admin<User[]>('GET', '/users?filter=name:counted&limit=100');
    expect(capped.headers).toMatchObject({ 'x-total-count': '1000', 'x-total-count-capped': 'true' });
    expect(capped.headers.link).not.toContain('rel="last"');
    expect(capped.headers.link).toContain('rel="next"');
    const end = await admin<User[]>('GET', '/users?filter=name:counted&limit=100&page=11');
    expect(end.headers['x-total-count']).toBe('1001');
    expect(end.headers.link).toContain('page=11&limit=100&filter=name%3Acounted>; rel="last"');
    expect(end.body).toHaveLength(1);
    await postern.database.query(testSql(`delete from users where name = 'counted'`));
  });
});
