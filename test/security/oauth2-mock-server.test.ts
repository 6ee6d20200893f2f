import { randomUUID } from 'node:crypto';
import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { createRedirectSteps, publicUrl, returnTo } from '../support/redirects.js';

/** Logins by redirect at a server that others have written (the package oauth2-mock-server), as it is and with faults. */

const server = new OAuth2Server();
let postern: TestApp;
beforeAll(async () => {
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const issuer = server.issuer.url ?? '';
  const client = { client_id: 'ours', client_secret: 'a secret', sign_up: true };
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, MAIL_PROVIDER: 'console' },
    OIDC_PROVIDERS: JSON.stringify({
      mock: { ...client, issuer },
      bare: {
        ...{ ...client, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
        ...{ userinfo_endpoint: `${issuer}/userinfo`, map: { subject: 'sub' } },
      },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await server.stop();
});
afterEach(() => server.service.removeAllListeners());

const { begin, goThrough, logIn } = createRedirectSteps(() => ({
  postern,
  vendor: {
    async authorize(url) {
      const response = await fetch(url, { redirect: 'manual' });
      const to = new URL(response.headers.get('location') ?? '');
      return { to, answer: to.searchParams, isPosted: false };
    },
  },
}));
const errorAt = async (authenticator = 'oidc:mock') =>
  (await goThrough((await begin(authenticator)).url)).app.get('error');
/** Changes the tokens before the server signs them. */
const withClaims = (claims: object) =>
  server.service.on('beforeTokenSigning', ({ payload }: { payload: object }) => Object.assign(payload, claims));

describe('a login at oauth2-mock-server', () => {
  test.each(['oidc:mock', 'oauth:bare'])('makes a user, and finds the user again (%s)', async (authenticator) => {
    const sub = randomUUID();
    withClaims({ sub });
    server.service.on('beforeUserinfo', (answer: { body: object }) => Object.assign(answer.body, { sub }));
    const { status, body } = await logIn(authenticator);
    expect({ status, login: body.status }).toEqual({ status: 201, login: 'approved' });
    expect((await logIn(authenticator)).body.user_id).toBe(body.user_id);
  });

  test.each<[string, object]>([
    ['another audience', { aud: 'theirs' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['another nonce', { nonce: 'another' }],
    ['a time that has passed', { iat: 1, exp: 2 }],
    ['no subject', { sub: '' }],
  ])('fails with %s', async (_title, claims) => {
    withClaims(claims);
    expect(await errorAt()).toBe('failed');
  });

  test.each<[string, string, (at: { searchParams: URLSearchParams }) => void]>([
    ['an issuer that is another', 'failed', ({ searchParams }) => searchParams.set('iss', 'https://evil.example')],
    ['a code that was not issued', 'failed', ({ searchParams }) => searchParams.set('code', randomUUID())],
    ['two codes', 'failed', ({ searchParams }) => searchParams.append('code', randomUUID())],
    ['an error', 'provider_unavailable', ({ searchParams }) => searchParams.set('error', 'temporarily_unavailable')],
  ])('fails if the browser comes back with %s', async (_title, error, change) => {
    server.service.on('beforeAuthorizeRedirect', ({ url }: { url: { searchParams: URLSearchParams } }) => change(url));
    expect(await errorAt()).toBe(error);
  });

  test.each<[string, string, { body?: unknown; statusCode?: number }]>([
    ['an error', 'failed', { body: { error: 'invalid_grant' }, statusCode: 400 }],
    ['a failure', 'provider_unavailable', { body: {}, statusCode: 503 }],
    ['a text', 'failed', { body: 'access_token=1' }],
    ['no id_token', 'failed', { body: { access_token: '1', token_type: 'bearer' } }],
  ])('fails if the token endpoint answers with %s', async (_title, error, answer) => {
    server.service.on('beforeResponse', (response: object) => Object.assign(response, answer));
    expect(await errorAt()).toBe(error);
  });

  test('fails if the userinfo endpoint answers without an account', async () => {
    server.service.on('beforeUserinfo', (answer: object) => Object.assign(answer, { body: {}, statusCode: 200 }));
    expect(await errorAt('oauth:bare')).toBe('failed');
    server.service.removeAllListeners();
    server.service.on('beforeUserinfo', (answer: object) => Object.assign(answer, { statusCode: 401 }));
    expect(await errorAt('oauth:bare')).toBe('failed');
  });
});
