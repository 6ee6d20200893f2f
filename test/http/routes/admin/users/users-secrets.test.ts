import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../../../../src/contract/authentication.js';
import type { User } from '../../../../../src/contract/user.js';
import type { ImportedLine } from '../../../../../src/contract/user-import.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { signInWithRole } from '../../../../support/operators.js';
import { createUser, passwordLogin } from '../../../../support/users.js';

/*
 * Nobody but the user knows a lasting secret (ASVS 5.0, 6.4.1 and 6.4.6). An operator is a person with a session; a backend has
 * an API key. test/login/login-steps.test.ts shows the login with such a password.
 */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const password = 'a kettle full of stars';
const newName = () => `secrets${randomInt(1e12)}`;
type Answer = User & { readonly errors?: readonly { field?: string; code: string }[] };
const errorsOf = ({ status, body }: { status: number; body: unknown }) => [
  status,
  ...((body as Answer).errors ?? []).map(({ field, code }) => [field, code]),
];
const importLine = async (bearer: string, line: object) => {
  const { text } = await postern.api('POST', '/admin/v1/users/import', {
    bearer,
    body: JSON.stringify(line),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  return JSON.parse(text) as ImportedLine;
};

test('a password in an import of an operator is for one login, whatever the line says', async () => {
  const { bearer } = await signInWithRole(postern, 'operator');
  const username = newName();
  expect(await importLine(bearer, { username, password, must_change: false })).toMatchObject({ result: 'created' });
  const { body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(username, password) });
  expect([body.status, body.challenge?.type]).toEqual(['pending', 'new_password']);
});

test('no operator chooses a PIN, and one can be removed', async () => {
  const { call, bearer } = await signInWithRole(postern, 'operator');
  const created = await call('POST', '/admin/v1/users', { username: 'a b', pin: '2468' });
  expect(errorsOf(created)).toEqual([422, ['username', 'invalid_identity'], ['pin', 'pin_of_user']]);
  const user = await createUser(postern, { pin: '1357' });
  expect(errorsOf(await call('PATCH', `/admin/v1/users/${user.id}`, { pin: '2468' }))).toEqual([
    422,
    ['pin', 'pin_of_user'],
  ]);
  expect((await importLine(bearer, { username: newName(), pin: '2468' })).errors).toMatchObject([
    { field: 'pin', code: 'pin_of_user' },
  ]);
  expect((await call('PATCH', `/admin/v1/users/${user.id}`, { pin: null })).body).toMatchObject({ has_pin: false });
});

test('a backend may set a password and a PIN of its user that stay', async () => {
  const username = newName();
  const { body } = await postern.api<User>('POST', '/admin/v1/users', {
    bearer: postern.adminKey,
    body: { username, password, pin: '2468' },
  });
  expect(body).toMatchObject({ has_password: true, has_pin: true });
  const login = { ...passwordLogin(username, password), pin: '2468' };
  expect((await postern.api('POST', '/v1/tokens', { body: login })).body.status).toBe('approved');
});

test('a password of 1,024 characters is taken, and compared to its last character', async () => {
  const long = `${'stars in a kettle, '.repeat(60)}`.slice(0, 1023);
  const user = await createUser(postern, { password: `${long}a` });
  const status = async (secret: string) =>
    (await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, secret) })).body.status;
  expect([await status(`${long}b`), await status(long), await status(`${long}a`)]).toEqual([
    ...['rejected', 'rejected', 'approved'],
  ]);
  const body = { username: newName(), password: `${long}ab` };
  const refused = await postern.api('POST', '/admin/v1/users', { bearer: postern.adminKey, body });
  expect(errorsOf(refused)).toEqual([422, ['password', 'too_long']]);
});
