import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { IssuedApiKey } from '../../../../../src/contract/administration.js';
import type { User } from '../../../../../src/contract/user.js';
import type { ImportedLine } from '../../../../../src/contract/user-import.js';
import { dummyHashFor } from '../../../../../src/credentials/hashes/registry.js';
import { unusedSchemesTask } from '../../../../../src/credentials/password-schemes.js';
import { createPasswordHasher, schemeOf } from '../../../../../src/credentials/passwords.js';
import { runMaintenanceOnce } from '../../../../../src/database/maintenance/tasks.js';
import { identityDigest } from '../../../../../src/identities/identity.js';
import { maintained, type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { fastHashes } from '../../../../support/fast-hashes.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { newPhone, passwordLogin } from '../../../../support/users.js';

let postern: TestApp;
/** A key with the scope `users:write`. */
let writer: string;
beforeAll(async () => {
  postern = await startTestApp({}, maintained);
  const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: { name: 'writer', scopes: ['users:write'] },
  });
  writer = key.body.token;
});
afterAll(() => postern.close());
beforeEach(async () => {
  await postern.database.query(testSql('delete from users'));
  await postern.database.query(testSql('delete from password_schemes'));
});

const secret = 'an imported password';
const hashOf = (rounds: number) =>
  `$pbkdf2-sha256$${rounds}$c2VhIHNhbHQ$${pbkdf2Sync(secret, 'sea salt', rounds, 32, 'sha256').toString('base64')}`
    .replace(/=$/, '')
    .replaceAll('+', '.');
/** Weak hashes are wrapped, so their scheme is that of both hashes. */
const scheme = (rounds: number) => `$argon2id(m=19456,t=2,p=1)$pbkdf2-sha256$${rounds}`;
const expensive = ['$2b$12', '$pbkdf2-sha256$1200000', '$scrypt$ln=15,r=8,p=3', '$pbkdf2-sha512$500000'];

const create = (password_hash: string | undefined, bearer = postern.adminKey, context = postern, phone = newPhone()) =>
  context.api<Omit<User, 'status'> & ProblemAnswer>('POST', '/admin/v1/users', {
    bearer,
    body: { phone, password_hash },
  });
/** As `create`. A request that waits too long for others is answered with 503, and is sent again. */
const createInTurn: typeof create = async (...request) => {
  const answer = await create(...request);
  return answer.status === 503 ? createInTurn(...request) : answer;
};
const importUsers = async (
  hashes: readonly (string | undefined)[],
  bearer = postern.adminKey,
  query = '',
  phone = newPhone(),
) => {
  const { text } = await postern.api('POST', `/admin/v1/users/import${query}`, {
    bearer,
    headers: { 'content-type': 'application/x-ndjson' },
    body: hashes
      .map((password_hash, index) => JSON.stringify({ phone: index === 0 ? phone : newPhone(), password_hash }))
      .join('\n'),
  });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ImportedLine);
};
const recordedSchemes = async () =>
  (
    await postern.database.query<{ scheme: string }>(testSql('select scheme from password_schemes order by scheme'))
  ).map((row) => row.scheme);
const usersWithImportedHash = async () =>
  (await postern.database.query<{ user_id: string }>(testSql('select user_id from imported_hashes'))).map(
    (row) => row.user_id,
  );
const dropUnused = () => runMaintenanceOnce(postern.database, [unusedSchemesTask]);

describe('a new scheme', () => {
  it('needs the scope admin when a user is created', async () => {
    const refused = await create(hashOf(1000), writer);
    expect([refused.status, refused.body.errors.map(({ code }) => code)]).toEqual([403, ['insufficient_scope']]);
    expect([await recordedSchemes(), await usersWithImportedHash()]).toEqual([[], []]);
    expect((await create(hashOf(1000))).status).toBe(201);
    expect((await create(hashOf(1000), writer)).status).toBe(201);
    expect((await create(dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1'), writer)).status).toBe(201);
  });

  it.each(['', '?dry_run=true'])('needs the scope admin when users are imported%s', async (query) => {
    await create(hashOf(1000));
    const results = await importUsers([hashOf(1000), hashOf(1001), undefined], writer, query);
    const accepted = query === '' ? 'created' : 'valid';
    expect(results.map(({ result }) => result)).toEqual([accepted, 'failed', accepted]);
    expect(results[1]?.errors?.map(({ code }) => code)).toEqual(['insufficient_scope']);
    expect(await recordedSchemes()).toEqual([scheme(1000)]);
  });

  it('is refused when all schemes together would exceed the cost limit, with the figures in the refusal', async () => {
    const hashes = expensive.map((name) => dummyHashFor(name) ?? '');
    const answers = [];
    for (const hash of hashes) answers.push(await create(hash));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 422, 422]);
    expect(answers[2]?.body.errors).toEqual([
      {
        field: 'password_hash',
        code: 'schemes_too_expensive',
        message: expect.stringMatching(/costs 24, .*71\.2 .* limit is 60 /),
      },
    ]);
    expect(await recordedSchemes()).toEqual(expensive.slice(0, 2));
    expect((await create(hashes[0])).status).toBe(201);
  });

  it.each(['', '?dry_run=true'])(
    'is refused only in the lines of an import where it would cost too much%s',
    async (query) => {
      const hashes = [...expensive, expensive[0] ?? ''].map((name) => dummyHashFor(name));
      const results = await importUsers(hashes, postern.adminKey, query);
      const accepted = query === '' ? 'created' : 'valid';
      expect(results.map(({ result }) => result)).toEqual([accepted, accepted, 'failed', 'failed', accepted]);
      expect(results[2]?.errors).toMatchObject([{ field: 'password_hash', code: 'schemes_too_expensive' }]);
    },
  );

  it('is refused beyond the limit, also in parallel requests to two instances', async () => {
    const other = await postern.another();
    try {
      for (let round = 0; round < 5; round += 1) {
        await postern.database.query(testSql('delete from users'));
        await postern.database.query(testSql('delete from password_schemes'));
        const hashes = [...expensive, '$pbkdf2$1300000'].map((name) => dummyHashFor(name));
        const answers = await Promise.all(
          hashes.flatMap((hash) => [createInTurn(hash), createInTurn(hash, undefined, other), createInTurn(hash)]),
        );
        expect(answers.filter(({ status }) => ![201, 422].includes(status))).toEqual([]);
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(6);
        expect(await recordedSchemes()).toHaveLength(2);
      }
    } finally {
      await other.close();
    }
  });

  it('is refused when the limit is 0, but hashes with Postern’s own parameters are accepted', async () => {
    const other = await postern.another({ IMPORTED_HASH_COST_LIMIT: '0' });
    try {
      expect((await create(hashOf(1000), undefined, other)).body.errors[0]?.code).toBe('schemes_too_expensive');
      expect((await create(dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1'), undefined, other)).status).toBe(201);
    } finally {
      await other.close();
    }
  });

  it('cannot be added when the existing schemes exceed the limit, and the existing ones keep working', async () => {
    for (const name of expensive) {
      await postern.database.query(testSql('insert into password_schemes (scheme) values ($1)', [name]));
    }
    expect((await create(hashOf(1000))).status).toBe(422);
    expect((await create(dummyHashFor(expensive[3] ?? ''), writer)).status).toBe(201);
  });
});

describe('a scheme that no user has any longer', () => {
  const login = (phone: string | null, password: string) =>
    postern.api('POST', '/v1/tokens', {
      body: { ...passwordLogin(phone, password), identity: { type: 'phone', value: phone } },
    });
  const patch = (id: string, body: object) =>
    postern.api('PATCH', `/admin/v1/users/${id}`, { bearer: postern.adminKey, body });

  it.each<[string, (user: Omit<User, 'status'>) => Promise<unknown>]>([
    ['deleted', ({ id }) => postern.api('DELETE', `/admin/v1/users/${id}`, { bearer: postern.adminKey })],
    ['given another password', ({ id }) => patch(id, { password: 'a battery of horses' })],
    ['left without a password', ({ id }) => patch(id, { password: null })],
    ['rehashed at a login', ({ phone }) => login(phone, secret)],
  ])('is removed after the last user is %s, and not before', async (_, leave) => {
    const [first, last] = [await create(hashOf(1000)), await create(hashOf(1000))];
    await create(hashOf(1001));
    await leave(first.body);
    await dropUnused();
    expect(await recordedSchemes()).toEqual([scheme(1000), scheme(1001)]);
    await leave(last.body);
    await dropUnused();
    expect(await recordedSchemes()).toEqual([scheme(1001)]);
    expect(await usersWithImportedHash()).toHaveLength(1);
  });

  it('is removed automatically, and makes room for another scheme', async () => {
    const usersWithExpensiveHash = [];
    for (const name of expensive.slice(0, 2)) usersWithExpensiveHash.push((await create(dummyHashFor(name))).body);
    expect((await create(dummyHashFor(expensive[2] ?? ''))).status).toBe(422);
    for (const { id } of usersWithExpensiveHash)
      await postern.api('DELETE', `/admin/v1/users/${id}`, { bearer: postern.adminKey });
    await eventually('the schemes to be dropped', async () =>
      (await recordedSchemes()).length === 0 ? true : undefined,
    );
    expect((await create(dummyHashFor(expensive[2] ?? ''))).status).toBe(201);
  });

  it.each([
    ['an import', (phone: string) => importUsers([hashOf(1000)], writer, '', phone)],
    ['a creation', (phone: string) => create(hashOf(1000), writer, postern, phone)],
  ])('stays while %s stores another hash of this scheme', async (_, store) => {
    const { body } = await create(hashOf(1000));
    const phone = newPhone();
    const gaveUp = new Error('gave up');
    let storing: Promise<unknown> | undefined;
    const blocking = postern.database.transaction(async (tx) => {
      const digest = identityDigest({ type: 'phone', canonical: phone });
      await tx.query(
        testSql('insert into identities (digest, user_id, type, canonical) values ($1, $2, $3, $4)', [
          digest,
          body.id,
          'phone',
          phone,
        ]),
      );
      storing = store(phone);
      await eventually('the other transaction to wait for the identity', async () => {
        const [row] = await postern.database.query(
          testSql(`select 1 from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock' and query like '%identities%'`),
        );
        return row;
      });
      await postern.database.query(testSql('delete from users where id = $1', [body.id]));
      expect(await dropUnused()).toBe(0);
      throw gaveUp;
    });
    await expect(blocking).rejects.toBe(gaveUp);
    await storing;
    await dropUnused();
    expect([await recordedSchemes(), await usersWithImportedHash()]).toEqual([[scheme(1000)], [expect.anything()]]);
  });

  it('is recorded while a user has it, under parallel changes', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { body: last } = await create(hashOf(1000));
      const remove = () => postern.api('DELETE', `/admin/v1/users/${last.id}`, { bearer: postern.adminKey });
      const work = [
        remove,
        dropUnused,
        () => importUsers([hashOf(1000)]),
        dropUnused,
        () => create(hashOf(1000)),
        dropUnused,
      ];
      await Promise.all(work.map((each) => each()));
      await dropUnused();
      expect([await recordedSchemes(), await usersWithImportedHash()]).toEqual([
        [scheme(1000)],
        [expect.anything(), expect.anything()],
      ]);
      await postern.database.query(testSql('delete from users'));
    }
  });
});

it('the database and the code use the same name for every scheme', async () => {
  const dummyHashes = [
    '$argon2id$v=19$m=8192,t=1,p=1',
    '$argon2i$v=19$m=8192,t=3,p=2',
    '$argon2d$v=19$m=8192,t=1,p=1',
    '$2b$10',
    '$scrypt$ln=15,r=8,p=1',
    '$pbkdf2$1000',
    '$pbkdf2-sha256$1000',
    '$pbkdf2-sha512$1000',
  ].map((name) => dummyHashFor(name) ?? '');
  const bcrypt = dummyHashes.find((text) => text.startsWith('$2b$')) ?? '';
  const output = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
  const hasher = createPasswordHasher({ threads: fastHashes });
  const toImport = [
    ...dummyHashes,
    `pbkdf2_sha256$1200000$sea_salt%$${output(32)}`,
    `pbkdf2_sha512$1000$sea.salt$${output(64)}`,
    '$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0',
    `$5$sa:lt$${'a'.repeat(42)}.`,
    `{SSHA}${output(28)}`,
  ];
  const texts = [
    ...dummyHashes,
    ...['$2a', '$2y'].map((prefix) => prefix + bcrypt.slice(3)),
    ...(await Promise.all(toImport.map(hasher.toStored))),
  ];
  const rows = await postern.database.query<{ scheme: string }>(
    testSql(
      'select imported_scheme(hash) as scheme from unnest($1::text[]) with ordinality as given (hash, place) order by place',
      [texts],
    ),
  );
  expect(rows.map((row) => row.scheme)).toEqual(texts.map(schemeOf));
  const own = dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1');
  expect(await postern.database.query(testSql('select imported_scheme($1) as scheme', [own]))).toEqual([
    { scheme: null },
  ]);
});
