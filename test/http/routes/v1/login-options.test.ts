import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { LoginOptions } from '../../../../src/contract/authentication.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createUser, newEmail } from '../../../support/users.js';

const path = '/v1/login-options';
const optionsOf = async ({ api }: TestApp) => (await api<LoginOptions>('GET', path)).body;

describe('GET /v1/login-options', () => {
  let postern: TestApp;
  beforeAll(async () => {
    postern = await startTestApp({ REGISTRATION: 'on', PIN_POLICY: 'optional', PASSWORD_MIN: '12' });
  });
  afterAll(() => postern.close());

  test('needs no credentials and shows the ways to log in, in a response that may be cached for a minute', async () => {
    const answer = await postern.api<LoginOptions>('GET', path);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=60');
    const byIdentity = { identity_types: ['email', 'phone', 'username'], takes_pin: true };
    expect(answer.body).toEqual({
      logins: [
        { authenticator: 'password', steps: 1, ...byIdentity },
        { authenticator: 'sms', steps: 2, ...byIdentity },
        { authenticator: 'email', steps: 2, ...byIdentity },
        { authenticator: 'passkey', steps: 2, identity_types: [], takes_pin: false },
      ],
      pin: { policy: 'optional', min_length: 4, max_length: 12 },
      password: { min_length: 12, max_length: 1024 },
      registration: { is_on: true, identity_types: ['email', 'phone'] },
      guests: { is_on: false },
      recovery: { identity_types: ['email', 'phone'] },
    });
  });

  test('names providers for people, and says which ones a browser can be sent to', async () => {
    const issuer = 'https://accounts.example.com';
    const app = await startTestApp({
      ...{ PUBLIC_URL: 'https://auth.example.com', REDIRECT_URIS: 'https://app.example.com/' },
      OIDC_PROVIDERS: JSON.stringify({
        google: { preset: 'google', client_id: 'ours', client_secret: 'a secret' },
        tokens: { title: 'Only tokens', issuer, client_ids: ['ours'] },
      }),
    });
    onTestFinished(() => app.close());
    const { logins } = await optionsOf(app);
    const provider = { steps: 2, identity_types: [], takes_pin: false };
    expect(logins.filter(({ authenticator }) => authenticator.startsWith('oidc:'))).toEqual([
      { authenticator: 'oidc:google', ...provider, title: 'Google', takes_redirect: true },
      { authenticator: 'oidc:tokens', ...provider, title: 'Only tokens', takes_redirect: false },
    ]);
    const withoutUris = await startTestApp({
      OIDC_PROVIDERS: JSON.stringify({ google: { preset: 'google', client_id: 'ours', client_secret: 'a secret' } }),
    });
    onTestFinished(() => withoutUris.close());
    expect((await optionsOf(withoutUris)).logins.at(-1)).toMatchObject({ title: 'Google', takes_redirect: false });
  });

  test('is the same for every set of registered users', async () => {
    const before = await optionsOf(postern);
    await createUser(postern, { email: newEmail(), password: 'a longer battery of horses' });
    expect(await optionsOf(postern)).toEqual(before);
  });

  test('names the authenticators that step 1 of a login takes', async () => {
    const { logins } = await optionsOf(postern);
    const body = { identity: { type: 'username', value: 'x' }, authenticator: 'none', device: {} };
    const refused = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body });
    for (const { authenticator } of logins) expect(refused.body.errors[0]?.message).toContain(authenticator);
  });

  test('states the lengths that the service enforces', async () => {
    const { password, pin } = await optionsOf(postern);
    const create = async (fields: object) => {
      const body = { username: `user${randomInt(1e12)}`, ...fields };
      return (await postern.api('POST', '/admin/v1/users', { bearer: postern.adminKey, body })).status;
    };
    const passwords = [password.min_length - 1, password.min_length, password.max_length, password.max_length + 1];
    const unusual = (length: number) => randomBytes(1024).toString('hex').slice(0, length);
    const passwordStatuses = [];
    for (const length of passwords) passwordStatuses.push(await create({ password: unusual(length) }));
    expect(passwordStatuses).toEqual([422, 201, 201, 422]);
    const pinStatuses = [];
    for (const length of [pin.min_length - 1, pin.min_length, pin.max_length, pin.max_length + 1]) {
      pinStatuses.push(await create({ pin: '2468135790246'.slice(0, length) }));
    }
    expect(pinStatuses).toEqual([422, 201, 201, 422]);
  });
});

test('a service without registration, PINs and code providers offers none of them', async () => {
  const badge = { badge: { url: 'https://badge.example.com', secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX' } };
  const oidc = { google: { issuer: 'https://accounts.google.com', client_ids: ['an-app'] } };
  const postern = await startTestApp({
    ...{ SMS_PROVIDER: 'none', MAIL_PROVIDER: 'none', PIN_POLICY: 'off' },
    ...{ CUSTOM_AUTHENTICATORS: JSON.stringify(badge), OIDC_PROVIDERS: JSON.stringify(oidc) },
  });
  onTestFinished(() => postern.close());
  const { logins, registration, recovery, pin } = await optionsOf(postern);
  expect(logins.map(({ authenticator, takes_pin }) => [authenticator, takes_pin])).toEqual([
    ...[
      ['password', false],
      ['passkey', false],
      ['oidc:google', false],
      ['custom:badge', false],
    ],
  ]);
  expect({ registration, recovery, policy: pin.policy }).toEqual({
    registration: { is_on: false, identity_types: [] },
    recovery: { identity_types: [] },
    policy: 'off',
  });
});

describe('LOGIN_METHODS', () => {
  test('closes the other ways to log in, with the same answers for known and unknown identities', async () => {
    const postern = await startTestApp({ LOGIN_METHODS: 'password,passkey' });
    onTestFinished(() => postern.close());
    const { logins, recovery } = await optionsOf(postern);
    expect(logins.map(({ authenticator }) => authenticator)).toEqual(['password', 'passkey']);
    expect(recovery.identity_types).toEqual(['email', 'phone']);
    const email = newEmail();
    await createUser(postern, { email });
    const start = async (authenticator: string, value: string) => {
      const body = { identity: { type: 'email', value }, authenticator, secret: 'x', device: {} };
      const answer = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body });
      return [answer.status, answer.body.errors];
    };
    const errorOf = { field: 'authenticator', code: 'unknown_authenticator' };
    for (const closed of ['email', 'sms']) {
      const known = await start(closed, email);
      expect(known).toEqual([422, [expect.objectContaining(errorOf)]]);
      expect(await start(closed, newEmail())).toEqual(known);
      expect(await start('custom:none', email)).toEqual(known);
    }
    expect((await start('password', email))[0]).toBe(201);
    const identity = { type: 'email', value: email };
    const body = { identity, purpose: 'password' };
    expect((await postern.api('POST', '/v1/recoveries', { body })).status).toBe(201);
  });
});
