import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { dummyHashFor } from '../../src/credentials/hashes/registry.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { newPhone } from '../support/users.js';

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
const rounds = (count: number) => `$pbkdf2-sha256$${1000 + count}`;

it('registers each scheme once, and not the current scheme', async () => {
  for (const scheme of ['$2b$04', '$2b$04', '$pbkdf2$1000', '$argon2id$v=19$m=19456,t=2,p=1']) {
    expect((await create(scheme)).status).toBe(201);
  }
  expect(await registered()).toEqual(['$2b$04', '$pbkdf2$1000']);
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
  for (let round = 0; round < 20; round += 1) {
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
