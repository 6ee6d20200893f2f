import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { sql } from '../../src/database/database.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, passwordLogin } from '../support/people.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const storedHash = async (id: string) => {
  const [row] = await postern.database.query<{ password_hash: string }>(
    sql('select password_hash from users where id = $1'),
    [id],
  );
  return row?.password_hash;
};

test('an imported hash with other parameters is renewed when its owner logs in, and not before', async () => {
  const imported = await hash('an imported password', { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 });
  const user = await createUser(postern, { password: undefined, password_hash: imported });
  const login = async (secret: string) =>
    (await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username, secret) })).body
      .status;
  expect(await login('another password')).toBe('rejected');
  expect(await storedHash(user.id)).toBe(imported);
  expect(await login('an imported password')).toBe('approved');
  const renewed = await storedHash(user.id);
  expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await login('an imported password')).toBe('approved');
  expect(await storedHash(user.id)).toBe(renewed);
});
