import { createHash, pbkdf2Sync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { schemeOf, schemeToStore } from '../../src/credentials/passwords.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const storedHash = async (id: string) => {
  const [row] = await postern.database.query<{ password_hash: string }>(
    testSql('select password_hash from users where id = $1', [id]),
  );
  return row?.password_hash;
};
const imported = (hash: string) => createUser(postern, { password: undefined, password_hash: hash });
const login = async (username: string | null, secret: string) =>
  (await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(username, secret) })).body.status;

const currentScheme = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
const secret = 'an imported password';
const django = (password: string) =>
  `pbkdf2_sha256$1000$seasalt$${pbkdf2Sync(password, 'seasalt', 1000, 32, 'sha256').toString('base64')}`;

test.each([
  ['argon2id', () => argon2(secret, { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 })],
  ['argon2i', () => argon2(secret, { algorithm: 1, memoryCost: 8192, timeCost: 1, parallelism: 1 })],
  ['bcrypt', () => bcrypt(secret, 4)],
  ['bcrypt in PHP’s format', async () => (await bcrypt(secret, 4)).replace(/^\$2.\$/, '$2y$')],
  ["Django's PBKDF2", async () => django(secret)],
  [
    'scrypt',
    // "an imported password", by Python's hashlib
    async () => '$scrypt$ln=10,r=8,p=1$8PHy8/T19vf4+fr7/P3+/w$MI5gpMci8jS+MsMGAHpBA9FYdPX/nzfb0jO59G4ET/4',
  ],
])('an imported hash of %s is rehashed when its owner logs in, and not before', async (_, createHash) => {
  const hash = await createHash();
  const { id, username } = await imported(hash);
  expect(await login(username, 'another password')).toBe('rejected');
  const stored = (await storedHash(id)) ?? '';
  expect(schemeOf(stored)).toBe(schemeToStore(hash));
  expect(schemeOf(stored)).toMatch(/^\$argon2id\(m=19456,t=2,p=1\)\$/);
  expect(await login(username, secret)).toBe('approved');
  const rehashed = await storedHash(id);
  expect(rehashed).toMatch(currentScheme);
  expect(await login(username, secret)).toBe('approved');
  expect(await storedHash(id)).toBe(rehashed);
});

test('an imported hash matches a password with the same characters in another Unicode form', async () => {
  const { username } = await imported(django('contrase\u00f1a larga'));
  expect(await login(username, 'contrasen\u0303a larga')).toBe('approved');
});

test.each([
  ['as it was typed', 'nin\u0303o \ufb01n larga'],
  ['in NFC', 'ni\u00f1o \ufb01n larga'],
  ['in NFKC', 'ni\u00f1o fin larga'],
])('an imported hash of the password %s matches, and after the login a new hash matches too', async (_form, hashed) => {
  const typed = 'nin\u0303o \ufb01n larga';
  const { id, username } = await imported(django(hashed));
  expect(await login(username, 'nin\u0303o \ufb01n larg')).toBe('rejected');
  expect(await login(username, typed)).toBe('approved');
  expect(await storedHash(id)).toMatch(currentScheme);
  expect(await login(username, typed)).toBe('approved');
});

test('imported hashes of all formats are accepted by the API, and their users log in', async () => {
  const salt = Buffer.from('some salt');
  const ssha = createHash('sha512').update(secret).update(salt).digest();
  const keycloak = {
    secretData: JSON.stringify({
      value: pbkdf2Sync(secret, salt, 27_500, 64, 'sha256').toString('base64'),
      salt: salt.toString('base64'),
    }),
    credentialData: JSON.stringify({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256' }),
  };
  for (const hash of [`{SSHA512}${Buffer.concat([ssha, salt]).toString('base64')}`, JSON.stringify(keycloak)]) {
    const { id, username } = await imported(hash);
    expect(await login(username, `${secret}.`)).toBe('rejected');
    expect(await login(username, secret)).toBe('approved');
    expect(await storedHash(id)).toMatch(currentScheme);
  }
});

describe('a bcrypt hash, which ignores all bytes after the 72nd', () => {
  const passwordOfBytes = (bytes: number) => `${'ñ'.repeat(30)}${'x'.repeat(bytes - 60)}`;

  it('is rehashed after a login with a shorter password', async () => {
    const { id, username } = await imported(await bcrypt(passwordOfBytes(71), 4));
    expect(await login(username, passwordOfBytes(71))).toBe('approved');
    expect(await storedHash(id)).toMatch(currentScheme);
  });

  it('is not replaced after a login with a longer password, so each password with the same 72 bytes still matches', async () => {
    const { id, username } = await imported(await bcrypt(passwordOfBytes(80), 4));
    const hash = await storedHash(id);
    expect(await login(username, passwordOfBytes(81))).toBe('approved');
    expect(await login(username, passwordOfBytes(72))).toBe('approved');
    expect(await storedHash(id)).toBe(hash);
    expect(await login(username, passwordOfBytes(80))).toBe('approved');
    expect(await login(username, passwordOfBytes(71))).toBe('rejected');
    expect(await storedHash(id)).toBe(hash);
  });
});
