import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { fencesOf } from '../../docs/markdown.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createRedirectSteps, type Jar, publicUrl, returnTo } from '../../support/redirects.js';
import { startVendor, type TokenRequest, type Vendor } from '../../support/vendor.js';

/**
 * Logins at the vendors with their own behaviour. The fakes are made from the vendors' published descriptions, and the entries
 * of Facebook, X, Discord and LinkedIn are those of docs/providers/others.md.
 */

let vendor: Vendor;
let postern: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const client = { client_id: 'ours', client_secret: 'a secret', sign_up: true };
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, PIN_POLICY: 'off', MAIL_PROVIDER: 'console' },
    OIDC_PROVIDERS: JSON.stringify({
      ...documented(),
      apple: {
        ...{ preset: 'apple', issuer: vendor.url, client_id: 'app.services', sign_up: true },
        apple: { team_id: 'TEAM', key_id: 'KEY', private_key: pem },
      },
      any: { ...client, preset: 'microsoft', issuer: `${vendor.url}/common/v2.0` },
      some: { ...client, preset: 'microsoft', issuer: `${vendor.url}/common/v2.0`, tenants: ['t-one'] },
      github: { ...client, preset: 'github', ...endpointsAt(vendor.url) },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { begin, end, open, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));

const endpointsAt = (url: string) => ({
  ...{ authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
  userinfo_endpoint: `${url}/userinfo`,
});

/** The entries of the page, with the fake in the place of the vendors. */
function documented(): Record<string, object> {
  const entries = fencesOf('docs/providers/others.md').map(({ text }) => JSON.parse(text) as Record<string, object>);
  return Object.fromEntries(
    entries.flatMap(Object.entries<object>).map(([name, entry]) => {
      const { authorization, userinfo } = originalsOf(entry);
      const own = { authorization_endpoint: new URL(authorization), userinfo_endpoint: new URL(userinfo) };
      const moved = Object.entries(own).map(([member, { pathname, search }]) => [
        member,
        `${vendor.url}${member === 'authorization_endpoint' ? '/authorize' : pathname}${search}`,
      ]);
      const usual = { client_id: 'ours', ...('client_secret' in entry && { client_secret: 'a secret' }) };
      return [name, { ...entry, ...usual, ...Object.fromEntries(moved), token_endpoint: `${vendor.url}/token` }];
    }),
  );
}
const originalsOf = (entry: object) => {
  const { authorization_endpoint: authorization, userinfo_endpoint: userinfo } = entry as Record<string, string>;
  return { authorization: authorization ?? '', userinfo: userinfo ?? '' };
};

const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
};
/** The userinfo endpoint of a vendor: it answers only with the token that the fake has issued. */
function answerUserinfo(path: string, account: object) {
  vendor.onDocument = (asked, response, authorization = '') => {
    if (asked !== path) return false;
    return /^Bearer [0-9a-f-]{36}$/.test(authorization)
      ? json(response, 200, account)
      : json(response, 401, { message: 'Requires authentication' });
  };
}
const errorAt = async (authenticator: string) => (await goThrough((await begin(authenticator)).url)).app.get('error');
const userOf = async (id: string | null | undefined) =>
  (await postern.api<User>('GET', `/admin/v1/users/${id}`, { bearer: postern.adminKey })).body;

describe('GitHub', () => {
  /** Errors come with 200, and tokens as a form unless JSON is asked for. */
  const asGitHub = ({ body, accept }: TokenRequest, response: ServerResponse) => {
    const answer =
      body.get('client_secret') === 'a secret'
        ? { access_token: randomUUID(), scope: 'read:user,user:email', token_type: 'bearer' }
        : { error: 'incorrect_client_credentials', error_description: 'The client_id is incorrect.' };
    if (accept?.includes('application/json') === true) return json(response, 200, answer);
    response
      .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
      .end(new URLSearchParams(Object.entries(answer)).toString());
    return true;
  };

  test('is asked for JSON, and names an issuer that nobody has configured', async () => {
    vendor.onToken = asGitHub;
    vendor.extra = { iss: 'https://github.com/login/oauth' };
    answerUserinfo('/userinfo', { login: 'octocat', id: 583231, name: 'Mona', email: null });
    const { status, body } = await logIn('oauth:github');
    expect(status).toBe(201);
    expect(await userOf(body.user_id)).toMatchObject({ name: 'Mona', email: null });
    vendor.account = { id: 583231 };
    vendor.onDocument = undefined;
    expect((await logIn('oauth:github')).body.user_id).toBe(body.user_id);
  });

  test.each([
    ['an error with 200', (response: ServerResponse) => json(response, 200, { error: 'bad_verification_code' })],
    [
      'tokens as a form',
      (response: ServerResponse) => {
        response
          .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
          .end('access_token=gho_1&token_type=bearer');
        return true;
      },
    ],
  ])('is no login with %s', async (_title, answer) => {
    vendor.onToken = (_request, response) => answer(response);
    expect(await errorAt('oauth:github')).toBe('failed');
  });

  test('says in its answer that the redirect URI is wrong', async () => {
    vendor.denial = { error: 'redirect_uri_mismatch', error_description: 'The redirect_uri MUST match' };
    expect(await errorAt('oauth:github')).toBe('failed');
  });
});

describe('Apple', () => {
  async function goToApple() {
    const login = await begin('oidc:apple');
    const jar: Jar = new Map();
    const { to, answer, isPosted } = await vendor.authorize((await open(login.url, jar)).to);
    const post = (body: URLSearchParams | string, headers = {}) =>
      open(`${publicUrl}${to.pathname}`, new Map(), { method: 'POST', body, headers });
    return { login, jar, answer, isPosted, post };
  }
  const account = () => {
    const email = `${randomUUID()}@privaterelay.appleid.com`;
    vendor.account = { sub: randomUUID(), email, email_verified: 'true', is_private_email: 'true' };
    return email;
  };

  test('posts its answer, says the name once, and gets a new secret for each request, signed by the key of the app', async () => {
    const email = account();
    const { login, jar, answer, isPosted, post } = await goToApple();
    expect(isPosted).toBe(true);
    answer.set('user', JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email }));
    const posted = await post(answer);
    expect(posted.status).toBe(303);
    expect((await open(posted.to, new Map())).status).toBe(400);
    const app = new URL((await open(posted.to, jar)).to).searchParams;
    const { body } = await end(login.body.id, app.get('code') ?? '', login.codeVerifier);
    expect(await userOf(body.user_id)).toMatchObject({ email, name: 'Ada Lovelace' });
    expect((await logIn('oidc:apple')).body.user_id).toBe(body.user_id);
    const secrets = vendor.tokenRequests.slice(-2).map((request) => request.body.get('client_secret') ?? '');
    expect(new Set(secrets).size).toBe(2);
    for (const secret of secrets) {
      expect(decodeProtectedHeader(secret)).toMatchObject({ alg: 'ES256', kid: 'KEY' });
      const { iss, sub, aud, iat = 0, exp = 0 } = decodeJwt(secret);
      expect({ iss, sub, aud }).toEqual({ iss: 'TEAM', sub: 'app.services', aud: 'https://appleid.apple.com' });
      expect(exp - iat).toBeLessThanOrEqual(600);
    }
  });

  test('posts that the person cancelled', async () => {
    vendor.denial = { error: 'user_cancelled_authorize' };
    expect(await errorAt('oidc:apple')).toBe('access_denied');
  });

  test('is not heard with an answer that is too long, doubled or no form, and the right one still works', async () => {
    account();
    const { login, jar, answer, post } = await goToApple();
    const long = new URLSearchParams([...answer, ['user', 'x'.repeat(8192)]]);
    expect((await post(long)).status).toBe(413);
    expect(
      (await post(JSON.stringify(Object.fromEntries(answer)), { 'content-type': 'application/json' })).status,
    ).toBe(410);
    expect((await post('', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(410);
    const { to } = await post(answer);
    const app = new URL((await open(to, jar)).to).searchParams;
    expect((await end(login.body.id, app.get('code') ?? '', login.codeVerifier)).status).toBe(201);
    const other = await goToApple();
    const doubled = await other.post(new URLSearchParams([...other.answer, ['code', 'another']]));
    expect(new URL((await open(doubled.to, other.jar)).to).searchParams.get('error')).toBe('failed');
  });
});

describe('Microsoft', () => {
  const of = (tid: string, more: object = {}) => ({
    ...{ sub: randomUUID(), tid, iss: `${vendor.url}/${tid}/v2.0`, ...more },
    ...{ email: `${randomUUID()}@contoso.example`, xms_edov: true },
  });
  beforeEach(() => {
    vendor.metadata = { issuer: `${vendor.url}/{tenantid}/v2.0` };
  });

  test('has an issuer for each tenant, and only listed tenants log in', async () => {
    vendor.account = of('t-one');
    for (const name of ['any', 'some']) {
      const { status, body } = await logIn(`oidc:${name}`);
      expect({ status, login: body.status }).toEqual({ status: 201, login: 'approved' });
    }
    vendor.account = of('t-two');
    expect((await logIn('oidc:any')).status).toBe(201);
    expect(await errorAt('oidc:some')).toBe('failed');
  });

  test.each([
    ['of another tenant', () => of('t-one', { iss: `${vendor.url}/t-two/v2.0` })],
    ['of no tenant', () => of('t-one', { tid: undefined })],
    ['of the template', () => of('{tenantid}')],
    ['of a path', () => of('t-one/../t-two')],
  ])('refuses a token with the issuer %s', async (_title, account) => {
    vendor.account = account();
    expect(await errorAt('oidc:any')).toBe('failed');
  });

  test('may name the issuer of the tenant in its answer, and no other', async () => {
    vendor.account = of('t-one');
    vendor.extra = { iss: `${vendor.url}/t-one/v2.0` };
    expect((await logIn('oidc:any')).status).toBe(201);
    for (const iss of [`${vendor.url}/a/b/v2.0`, `${vendor.url}/v2.0`, 'https://evil.example/t-one/v2.0']) {
      vendor.extra = { iss };
      expect(await errorAt('oidc:any')).toBe('failed');
    }
  });

  test('publishes for each key whose tokens it signs', async () => {
    const { keys } = (await (await fetch(`${vendor.url}/keys`)).json()) as { keys: object[] };
    const resultWith = async (issuer: string) => {
      // A new service has not read the keys yet.
      const fresh = await postern.another();
      try {
        vendor.onDocument = (path, response) =>
          path === '/keys' && json(response, 200, { keys: keys.map((key) => ({ ...key, issuer })) });
        vendor.account = of('t-one');
        const steps = createRedirectSteps(() => ({ postern: fresh, vendor }));
        return (await steps.goThrough((await steps.begin('oidc:any')).url)).app.get('error');
      } finally {
        await fresh.close();
      }
    };
    expect(await resultWith(`${vendor.url}/{tenantid}/v2.0`)).toBeNull();
    expect(await resultWith(`${vendor.url}/t-one/v2.0`)).toBeNull();
    // The key for personal accounts, with which Storm-0558 signed tokens of organizations.
    expect(await resultWith(`${vendor.url}/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0`)).toBe('failed');
  });
});

describe('the entries of the documentation', () => {
  test('Facebook makes a user without an address, and its errors are objects', async () => {
    answerUserinfo('/v23.0/me?fields=id,name,email', { id: '10150', name: 'Ada Lovelace' });
    const { status, body } = await logIn('oauth:facebook');
    expect(status).toBe(201);
    expect(await userOf(body.user_id)).toMatchObject({ name: 'Ada Lovelace', email: null });
    vendor.onToken = (_request, response) =>
      json(response, 400, { error: { message: 'Invalid verification code', type: 'OAuthException', code: 100 } });
    expect(await errorAt('oauth:facebook')).toBe('failed');
    vendor.denial = { error: 'access_denied', error_code: '200', error_reason: 'user_denied' };
    expect(await errorAt('oauth:facebook')).toBe('access_denied');
  });

  test('X makes a user without an address, for a client without a secret', async () => {
    vendor.onToken = ({ body, authorization }, response) =>
      body.get('client_id') === 'ours' && !body.has('client_secret') && authorization === undefined
        ? false
        : json(response, 401, {
            error: 'unauthorized_client',
            error_description: 'Missing valid authorization header',
          });
    answerUserinfo('/2/users/me', { data: { id: '2244994945', name: 'Ada', username: 'ada' } });
    const { status, body } = await logIn('oauth:x');
    expect(status).toBe(201);
    expect(await userOf(body.user_id)).toMatchObject({ name: 'Ada', email: null });
    expect(vendor.authorizations.at(-1)?.get('code_challenge_method')).toBe('S256');
  });

  test('Discord has a name that may be null, and an address to which we mail a code', async () => {
    const email = `${randomUUID()}@example.com`;
    answerUserinfo('/api/users/@me', {
      id: '80351110224678912',
      username: 'ada',
      global_name: null,
      email,
      verified: true,
    });
    const { status, body } = await logIn('oauth:discord');
    expect({ status, type: body.challenge?.type }).toEqual({ status: 201, type: 'code' });
  });

  test('LinkedIn refuses PKCE, and gets its secret in the body', async () => {
    vendor.onToken = ({ body, authorization }, response) =>
      body.get('client_secret') === 'a secret' && !body.has('code_verifier') && authorization === undefined
        ? false
        : json(response, 401, { error: 'invalid_client', error_description: 'Client authentication failed' });
    answerUserinfo('/v2/userinfo', { sub: '782bbtaQ', name: 'Ada Lovelace', locale: { country: 'US' } });
    const { status, body } = await logIn('oauth:linkedin');
    expect(status).toBe(201);
    expect(await userOf(body.user_id)).toMatchObject({ name: 'Ada Lovelace' });
    expect(vendor.authorizations.at(-1)?.has('code_challenge')).toBe(false);
  });
});
