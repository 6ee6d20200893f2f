import { randomInt, randomUUID } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../../src/contract/administration.js';
import type { Authentication } from '../../../../../src/contract/authentication.js';
import type { User } from '../../../../../src/contract/user.js';
import type { ImportedLine } from '../../../../../src/contract/user-import.js';
import { dummyHashFor } from '../../../../../src/credentials/hashes/registry.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, newPhone, passwordLogin, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());
beforeEach(() => postern.database.query(testSql('delete from password_schemes')));

interface SendOptions {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bearer?: string;
}
const post = (body: string, { query = '', headers = {}, bearer = postern.adminKey }: SendOptions = {}) =>
  postern.api<ProblemAnswer>('POST', `/admin/v1/users/import${query}`, {
    bearer,
    body,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
async function importLines(lines: readonly (object | string)[], options: SendOptions = {}): Promise<ImportedLine[]> {
  const body = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const { status, text, headers } = await post(body, options);
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ImportedLine);
}
const outcomes = (lines: readonly ImportedLine[]) =>
  lines.map(({ line, result, errors }) => [line, result, ...(errors ?? []).map(({ field, code }) => field ?? code)]);
const admin = async <Body>(path: string) =>
  (await postern.api<Body>('GET', `/admin/v1/users${path}`, { bearer: postern.adminKey })).body;
const getUser = (id = '') => admin<User>(`/${id}`);
const newName = () => `import${randomInt(1e12)}`;
const hashWithOwnParameters = () => dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1');
const countUsers = async () => {
  const [row] = await postern.database.query<{ count: number }>(testSql('select count(*) as count from users'));
  return row?.count;
};

describe('POST /admin/v1/users/import', () => {
  it('creates a user for each line with the id, time and hash of the old system, and the user can log in', async () => {
    const [id, username, phone] = [randomUUID(), newName(), newPhone()];
    const hash = await argon2('their old password', { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 });
    const [line] = await importLines([
      {
        ...{ id: id.toUpperCase(), username, phone, email: `${username}@EXAMPLE.com`, name: 'Ada', locale: 'en' },
        ...{ password_hash: hash, metadata: { plan: 'basic' }, created_at: '2017-10-19T19:02:03.5+02:00' },
      },
    ]);
    expect(line).toEqual({ line: 1, result: 'created', id });
    expect(await getUser(id)).toMatchObject({
      ...{ id, username, phone, email: `${username}@example.com`, name: 'Ada', locale: 'en', role: 'user' },
      ...{ status: 'active', has_password: true, has_pin: false, metadata: { plan: 'basic' } },
      created_at: '2017-10-19T17:02:03.500000Z',
    });
    const login = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: passwordLogin(username.toUpperCase(), 'their old password'),
    });
    expect(login.body.status).toBe('approved');
  });

  it('hashes passwords and PINs in plain text', async () => {
    const username = newName();
    const [line] = await importLines([{ username, password: 'a nanosecond of wire', pin: '2468' }]);
    expect(line?.result).toBe('created');
    const login = async (pin: string) =>
      (
        await postern.api<Authentication>('POST', '/v1/tokens', {
          body: { ...passwordLogin(username, 'a nanosecond of wire'), pin },
        })
      ).body.status;
    expect([await login('1357'), await login('2468')]).toEqual(['rejected', 'approved']);
  });

  it('creates the inbox, and records one event that names the key', async () => {
    const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'importer', scopes: ['users:write'] },
    });
    const [line] = await importLines([{ username: newName() }], { bearer: key.body.token });
    const events = await admin<Event[]>(`/${line?.id}/activity`);
    expect(events).toMatchObject([{ type: 'user.created', actor: `key:${key.body.id}` }]);
    const published = await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: { user_id: line?.id, notification_type: 'payment', description: 'Welcome' },
    });
    expect(published.status).toBe(201);
  });

  it('creates no user twice when a file is sent again, with ids and without', async () => {
    const [withId, withoutId] = [
      { id: randomUUID(), username: newName(), email: `${newName()}@example.com` },
      { username: newName(), phone: newPhone(), password_hash: hashWithOwnParameters() },
    ];
    const first = await importLines([withId, withoutId]);
    const users = await countUsers();
    const again = await importLines([withId, withoutId]);
    expect(outcomes(again)).toEqual([
      [1, 'exists'],
      [2, 'exists'],
    ]);
    expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(await countUsers()).toBe(users);
    expect(await admin<Event[]>(`/${first[1]?.id}/activity`)).toHaveLength(1);
  });

  it('does not change existing users', async () => {
    const username = newName();
    const [created] = await importLines([{ username, name: 'Ada' }]);
    await importLines([{ username: username.toUpperCase(), name: 'Eve', password: 'a nanosecond of wire' }]);
    expect(await getUser(created?.id)).toMatchObject({ username, name: 'Ada', has_password: false });
  });

  it('refuses only the bad lines, with all their errors, and imports the others', async () => {
    const lines = await importLines([
      { username: newName() },
      { username: 'a b', email: 'nowhere', pin: '12' },
      { username: 'a b', email: 'nowhere', password: 'qwertyuiop' },
      '{"username":',
      '',
      { name: 'nobody' },
      { username: newName(), id: 'x' },
      { username: newName(), created_at: 'yesterday' },
      { username: newName(), created_at: '2999-01-01T00:00:00Z' },
      { username: newName(), password_hash: '$1$md5$x' },
      { username: newName(), password_hash: hashWithOwnParameters(), password: 'a nanosecond of wire' },
      '[]',
      '"x"',
      `{"username":"${'x'.repeat(70_000)}"}`,
      '{"username":"a\\u0000b"}',
      { username: newName(), role: 'king' },
      { username: newName() },
    ]);
    expect(outcomes(lines)).toEqual([
      [1, 'created'],
      [2, 'failed', 'pin'],
      [3, 'failed', 'email', 'username', 'password'],
      [4, 'failed', 'malformed_json'],
      [6, 'failed', 'identity_required'],
      [7, 'failed', 'id'],
      [8, 'failed', 'created_at'],
      [9, 'failed', 'created_at'],
      [10, 'failed', 'password_hash'],
      [11, 'failed', 'password_hash'],
      [12, 'failed', 'invalid_type'],
      [13, 'failed', 'invalid_type'],
      [14, 'failed', 'payload_too_large'],
      [15, 'failed', 'username'],
      [16, 'failed', 'role'],
      [17, 'created'],
    ]);
    expect(lines[6]?.errors).toEqual([{ field: 'created_at', code: 'invalid_time', message: expect.any(String) }]);
    expect(lines[7]?.errors?.[0]?.code).toBe('time_in_future');
  });

  it('reads a file with a byte order mark, and takes null as a missing value', async () => {
    const [first, second] = [newName(), newName()];
    const nulls = {
      email: null,
      phone: null,
      external_id: null,
      name: null,
      password_hash: null,
      pin: null,
      created_at: null,
    };
    const lines = await importLines([
      `\ufeff${JSON.stringify({ username: first, ...nulls, metadata: { kept: null } })}`,
      { id: null, username: second, metadata: null, locale: null, role: null },
      { username: null, email: null },
      `\ufeff${JSON.stringify({ username: newName() })}`,
    ]);
    expect(lines.map(({ result }) => result)).toEqual(['created', 'created', 'failed', 'failed']);
    expect(await getUser(lines[0]?.id)).toMatchObject({ username: first, email: null, metadata: { kept: null } });
    expect(await getUser(lines[1]?.id)).toMatchObject({ username: second, name: '', role: 'user', metadata: {} });
  });

  it('reports errors in the language of the client', async () => {
    const line = [{ username: 'a b' }];
    const [english, spanish] = [
      await importLines(line),
      await importLines(line, { headers: { 'accept-language': 'es' } }),
    ];
    expect(spanish[0]?.errors?.[0]).not.toEqual(english[0]?.errors?.[0]);
  });

  it('refuses a line with an identity of another user, and names the identity', async () => {
    const other = await createUser(postern, { phone: newPhone() });
    const lines = await importLines([
      { username: newName(), phone: other.phone },
      { username: other.username, email: `${newName()}@example.com` },
      { id: randomUUID(), username: other.username },
      { username: other.username, phone: other.phone },
    ]);
    expect(outcomes(lines)).toEqual([
      [1, 'failed', 'phone'],
      [2, 'failed', 'username'],
      [3, 'failed', 'username'],
      [4, 'exists'],
    ]);
    expect(lines[0]?.errors?.[0]?.code).toBe('identity_taken');
    expect(lines[3]?.id).toBe(other.id);
  });

  it('treats lines of one body like lines of several bodies', async () => {
    const [username, id] = [newName(), randomUUID()];
    const lines = await importLines([
      { username, email: `${username}@example.com` },
      { username: username.toUpperCase() },
      { username, phone: newPhone() },
      { id, username: newName() },
      { id, username: newName() },
      { id: randomUUID(), email: `${username}@EXAMPLE.com` },
    ]);
    expect(outcomes(lines)).toEqual([
      [1, 'created'],
      [2, 'exists'],
      [3, 'failed', 'username'],
      [4, 'created'],
      [5, 'exists'],
      [6, 'failed', 'email'],
    ]);
    expect(lines[1]?.id).toBe(lines[0]?.id);
  });

  it('refuses the id of a deleted user, because old tokens would work again', async () => {
    const user = await createUser(postern);
    const { token } = await signIn(postern, user);
    await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    const [line] = await importLines([{ id: user.id, username: newName() }]);
    expect(line).toMatchObject({ result: 'failed', errors: [{ field: 'id', code: 'deleted_user' }] });
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
  });

  it('records the schemes of hashes, and refuses only the lines with a ninth scheme', async () => {
    const userWith = (rounds: number) => ({
      username: newName(),
      password_hash: dummyHashFor(`$pbkdf2-sha256$${rounds}`),
    });
    const hashes = Array.from({ length: 9 }, (_, index) => userWith(1000 + index));
    const forecast = await importLines([...hashes, userWith(1000)], { query: '?dry_run=true' });
    const lines = await importLines([...hashes, userWith(1000)]);
    const expected = Array.from({ length: 10 }, (_, index) => (index === 8 ? 'failed' : 'created'));
    expect(lines.map(({ result }) => result)).toEqual(expected);
    expect(forecast.map(({ result }) => result)).toEqual(expected.map((result) => result.replace('created', 'valid')));
    expect(lines[8]?.errors).toMatchObject([{ field: 'password_hash', code: 'too_many_schemes' }]);
    const recorded = await postern.database.query(testSql('select scheme from password_schemes'));
    expect(recorded).toHaveLength(8);
  });

  it('reports with dry_run=true the outcome of each line, and creates nothing', async () => {
    const other = await createUser(postern);
    const users = await countUsers();
    const username = newName();
    const twice = [{ username, password: 'a nanosecond of wire' }, { username }];
    const lines = await importLines([...twice, { username: other.username }, { username: 'a b' }], {
      query: '?dry_run=true',
    });
    expect(outcomes(lines)).toEqual([
      [1, 'valid'],
      [2, 'exists'],
      [3, 'exists'],
      [4, 'failed', 'username'],
    ]);
    // A user who does not exist yet has no id.
    expect(lines.map(({ id }) => id)).toEqual([undefined, undefined, other.id, undefined]);
    expect(await countUsers()).toBe(users);
    const refused = await post('', { query: '?dry_run=yes' });
    expect([refused.status, refused.body.errors[0]?.field]).toEqual([422, 'dry_run']);
  });

  it('imports more users than one chunk holds, and resumes in the middle', async () => {
    const prefix = newName();
    const lines = Array.from({ length: 2500 }, (_, index) => ({
      username: `${prefix}-${index}`,
      password_hash: hashWithOwnParameters(),
    }));
    await importLines(lines.slice(0, 1234));
    const results = await importLines(lines);
    expect(results.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
    expect(results.map(({ result }) => result)).toEqual(lines.map((_, index) => (index < 1234 ? 'exists' : 'created')));
    const count = testSql('select count(*) as made from users where username like $1', [`${prefix}-%`]);
    expect(await postern.database.query(count)).toEqual([{ made: 2500 }]);
  });

  it('creates each user once when the same file is sent several times in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const prefix = newName();
      const lines = Array.from({ length: 40 }, (_, index) => ({
        ...(index % 2 === 0 && { id: randomUUID() }),
        username: `${prefix}-${index}`,
        email: `${prefix}-${index}@example.com`,
      }));
      const all = await Promise.all(
        [lines, [...lines].reverse(), lines, [...lines].reverse()].map((each) => importLines(each)),
      );
      const results = all.flat().map(({ result }) => result);
      expect(results.filter((result) => result === 'created')).toHaveLength(40);
      expect(results.filter((result) => result === 'exists')).toHaveLength(120);
      const ids = testSql(
        'select user_id from identities where canonical like $1 group by user_id having count(*) = 2',
        [`${prefix}-%`],
      );
      expect(await postern.database.query(ids)).toHaveLength(40);
    }
  });

  it('gives each identity to one user while other requests create users in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const users = Array.from({ length: 10 }, newName).map((username) => ({
        ...{ username, email: `${username}@example.com`, phone: newPhone() },
      }));
      const [imported, ...created] = await Promise.all([
        importLines(users.map((user) => ({ id: randomUUID(), ...user }))),
        ...users.map((body) => postern.api('POST', '/admin/v1/users', { bearer: postern.adminKey, body })),
      ]);
      for (const [index, answer] of created.entries()) {
        const results = [imported[index]?.result, answer.status];
        expect([
          ['created', 409],
          ['failed', 201],
        ]).toContainEqual(results);
      }
    }
  });
});

describe('authorization and media type', () => {
  it('needs a key with the scope users:write, and admin for other roles than user', async () => {
    expect(
      (
        await postern.api('POST', '/admin/v1/users/import', {
          headers: { 'content-type': 'application/x-ndjson' },
          body: '{}',
        })
      ).status,
    ).toBe(401);
    const keyOf = async (scopes: string[]) =>
      (
        await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
          bearer: postern.adminKey,
          body: { name: 'importer', scopes },
        })
      ).body.token;
    expect((await post('{}', { bearer: await keyOf(['users:read']) })).status).toBe(403);
    const lines = await importLines(
      [
        { username: newName(), role: 'operator' },
        { username: newName(), role: 'user' },
      ],
      {
        bearer: await keyOf(['users:write']),
      },
    );
    expect(outcomes(lines)).toEqual([
      [1, 'failed', 'insufficient_scope'],
      [2, 'created'],
    ]);
    expect((await importLines([{ username: newName(), role: 'operator' }]))[0]?.result).toBe('created');
  });

  it.each(['application/json', 'application/x-ndjson; charset=latin1', 'text/plain'])(
    'refuses the media type %s with 415',
    async (type) => {
      expect((await post('{}', { headers: { 'content-type': type } })).status).toBe(415);
    },
  );

  it('refuses an Idempotency-Key, because a file can be sent again without one', async () => {
    const { status, body } = await post('{}', { headers: { 'idempotency-key': 'once' } });
    expect([status, body.errors[0]]).toMatchObject([422, { field: 'Idempotency-Key', code: 'not_supported' }]);
  });
});
