import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { dummyHashFor } from '../../src/credentials/hashes/registry.js';
import { createPasswordSchemes, wrapHashesTask } from '../../src/credentials/password-schemes.js';
import { createPasswordHasher } from '../../src/credentials/passwords.js';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { fastHashes } from '../support/fast-hashes.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone, passwordLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());
beforeEach(() => postern.database.query(testSql('delete from password_schemes')));

const create = (scheme: string) =>
  postern.api<ProblemAnswer>('POST', '/admin/v1/users', {
    bearer: postern.adminKey,
    body: { phone: newPhone(), password_hash: dummyHashFor(scheme) },
  });
const registered = async () =>
  (
    await postern.database.query<{ scheme: string }>(testSql('select scheme from password_schemes order by scheme'))
  ).map(({ scheme }) => scheme);
const wrapped = (scheme: string) => `$argon2id(m=19456,t=2,p=1)${scheme}`;
const rounds = (count: number) => `$pbkdf2-sha256$${1000 + count}`;

it('registers each scheme once, and not the current scheme', async () => {
  for (const scheme of ['$2b$04', '$2b$04', '$pbkdf2$1000', '$argon2id$v=19$m=19456,t=2,p=1']) {
    expect((await create(scheme)).status).toBe(201);
  }
  expect(await registered()).toEqual([wrapped('$2b$04'), wrapped('$pbkdf2$1000')]);
});

it('refuses a ninth scheme, and still accepts the registered ones', async () => {
  for (let count = 1; count <= 8; count += 1) expect((await create(rounds(count))).status).toBe(201);
  const { status, body } = await create('$2b$04');
  expect([status, body.errors]).toEqual([
    422,
    [{ field: 'password_hash', code: 'too_many_schemes', message: expect.stringContaining('8') }],
  ]);
  expect((await create(rounds(8))).status).toBe(201);
  expect((await create('$argon2id$v=19$m=19456,t=2,p=1')).status).toBe(201);
  expect(await registered()).toHaveLength(8);
});

it('registers at most eight schemes, even in parallel', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    await postern.database.query(testSql('delete from password_schemes'));
    const answers = await Promise.all(Array.from({ length: 16 }, (_, count) => create(rounds(count))));
    const counts = [201, 422].map((expected) => answers.filter(({ status }) => status === expected).length);
    expect(counts).toEqual([8, 8]);
    expect(await registered()).toHaveLength(8);
  }
});

it('a failed login verifies every scheme, and an unknown scheme does not break it', async () => {
  await create('$2b$04');
  await postern.database.query(testSql(`insert into password_schemes (scheme) values ('$newer$x=1')`));
  const { status, body } = await postern.api('POST', '/v1/tokens', {
    body: { identity: { type: 'username', value: 'nobody' }, authenticator: 'password', secret: 'x', device: {} },
  });
  expect([status, body.status]).toEqual([201, 'rejected']);
});

it.each([
  ['of Postern', '$argon2id$v=19$m=19456,t=2,p=1'],
  ['that is imported', '$2b$10'],
  ['that is imported and wrapped', wrapped('$pbkdf2-sha256$1000')],
  ['of nobody', undefined],
])('a failed login does the work of every scheme, also of the most expensive one, with a hash %s', async (_, own) => {
  const work: string[] = [];
  const threads: HashThreads = {
    ...fastHashes,
    async verify(stored) {
      work.push(stored.slice(0, stored.lastIndexOf('=') + 2));
      return false;
    },
    async runInPool(compute) {
      work.push('in the pool');
      return compute();
    },
  };
  for (const scheme of ['$2b$10', '$pbkdf2-sha256$1000', '$ssha-sha1']) expect((await create(scheme)).status).toBe(201);
  const hasher = createPasswordHasher({ threads });
  const stored = own === undefined ? undefined : dummyHashFor(own);
  expect(await hasher.verify(stored, 'a wrong password', null)).toBe(false);
  await createPasswordSchemes(postern.database, hasher).verifyOtherSchemes(stored, 'a wrong password', null);
  const argon2id = '$argon2id$v=19$m=19456,t=2,p=1';
  expect(work.toSorted()).toEqual([argon2id, argon2id, argon2id, 'in the pool', 'in the pool', 'in the pool']);
});

describe('a weak hash of an earlier release', () => {
  const hasher = createPasswordHasher({ threads: fastHashes });
  const password = 'an imported password';
  const ssha = (salt: string) =>
    `$ssha-sha1$${Buffer.from(salt).toString('base64')}$${createHash('sha1').update(password).update(salt).digest('base64')}`.replaceAll(
      '=',
      '',
    );
  const stored = async () =>
    (
      await postern.database.query<{ id: string; scheme: string }>(
        testSql(`select h.user_id as id, h.scheme from imported_hashes h join users u on u.id = h.user_id
                 where imported_scheme(u.password_hash) = h.scheme order by h.user_id`),
      )
    ).map(({ scheme }) => scheme);
  const wrapAll = (version = 'this') => runMaintenanceOnce(postern.database, [wrapHashesTask(hasher, version)]);
  const store = async (hash: string, scheme: string) => {
    const user = await createUser(postern, {});
    await postern.database.query(testSql('update users set password_hash = $1 where id = $2', [hash, user.id]));
    await postern.database.query(
      testSql('insert into password_schemes (scheme) values ($1) on conflict do nothing', [scheme]),
    );
    return user;
  };
  const login = async (username: string | null, secret: string) =>
    (await postern.api<{ status: string }>('POST', '/v1/tokens', { body: passwordLogin(username, secret) })).body
      .status;

  beforeEach(async () => {
    await postern.database.query(testSql('delete from users'));
    await postern.database.query(testSql('update instances set version = $1', ['this']));
  });

  it('is wrapped in steps, the scheme is registered, and the user logs in as before', async () => {
    const first = await store(ssha('salt 0'), '$ssha-sha1');
    for (let count = 1; count < 12; count += 1) await store(ssha(`salt ${count}`), '$ssha-sha1');
    await store(dummyHashFor('$2b$04') ?? '', '$2b$04');
    await store(dummyHashFor('$2b$10') ?? '', '$2b$10');
    const unreadable = await store('$ssha-sha1$AAAA$unreadable', '$ssha-sha1');
    await wrapAll();
    const expected = [...Array(12).fill(wrapped('$ssha-sha1')), wrapped('$2b$04'), '$2b$10', '$ssha-sha1'];
    expect((await stored()).toSorted()).toEqual(expected.toSorted());
    expect(await registered()).toEqual(expect.arrayContaining([wrapped('$2b$04'), wrapped('$ssha-sha1')]));
    await postern.database.query(testSql('delete from users where id = $1', [unreadable.id]));
    expect(await login(first.username, 'another password')).toBe('rejected');
    expect(await login(first.username, password)).toBe('approved');
    expect(await stored()).toHaveLength(13);
  });

  it('stays while an instance of another release runs, which could not verify it', async () => {
    await store(ssha('salt'), '$ssha-sha1');
    await wrapAll('the next');
    expect(await stored()).toEqual(['$ssha-sha1']);
    await postern.database.query(testSql('update instances set version = $1', ['the next']));
    await wrapAll('the next');
    expect(await stored()).toEqual([wrapped('$ssha-sha1')]);
  });
});
