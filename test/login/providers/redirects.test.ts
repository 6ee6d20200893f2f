import { randomBytes, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createFactors } from '../../support/factors.js';
import { createRedirectSteps, type Jar, type LoginBody, publicUrl, returnTo } from '../../support/redirects.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';
import { startVendor, type Vendor } from '../../support/vendor.js';

const secretKey = 'a secret key of both instances that is long enough';

let vendor: Vendor;
let postern: TestApp;
let second: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url };
  const settings = {
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    PUBLIC_URL: publicUrl,
    PIN_POLICY: 'off',
    MAIL_PROVIDER: 'console',
    SECRET_KEY: secretKey,
    REDIRECT_URIS: `${returnTo},com.example.app:/callback,http://127.0.0.1/done,https://app.example.com/with?query=1`,
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', sign_up: true },
      closed: client,
      github: {
        ...{ preset: 'github', client_id: 'ours', client_secret: 'a secret', sign_up: true },
        authorization_endpoint: `${vendor.url}/authorize`,
        ...{ token_endpoint: `${vendor.url}/token`, userinfo_endpoint: `${vendor.url}/userinfo` },
      },
      bare: { issuer: vendor.url, client_ids: ['ours'] },
    }),
  };
  postern = await startTestApp(settings);
  second = await postern.another();
});
afterAll(async () => {
  await second.close();
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { begin, end, send, open, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));

/** `client_id` of the access tokens of a login. */
async function clientOf(token = ''): Promise<unknown> {
  const uri = `https://${randomUUID()}.example.com`;
  await postern.api('POST', '/admin/v1/audiences', { bearer: postern.adminKey, body: { uri } });
  const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
  const { body } = await postern.api<{ access_token: string }>('POST', '/v1/access-tokens', {
    ...{ bearer: session.token, body: { audience: uri } },
  });
  return decodeJwt(body.access_token).client_id;
}

async function linkedUser(provider = 'google'): Promise<User> {
  const user = await createUser(postern);
  await postern.api('PUT', `/admin/v1/users/${user.id}/external-identities`, {
    ...{ bearer: postern.adminKey, body: { provider, subject: String(vendor.account.sub) } },
  });
  return user;
}

describe('a login by redirect', () => {
  test('logs in the user who is linked to the account', async () => {
    const user = await linkedUser('closed');
    const { status, body } = await logIn('oidc:closed');
    expect({ status, login: body.status, user: body.user_id }).toEqual({
      status: 201,
      login: 'approved',
      user: user.id,
    });
    expect(body.token).toMatch(/^psa_/);
  });

  test('asks for the second factor of the user', async () => {
    const { person, enrolTotp } = createFactors(() => postern);
    const who = await person();
    const { app } = await enrolTotp(who);
    await postern.api('PUT', `/admin/v1/users/${who.user.id}/external-identities`, {
      ...{ bearer: postern.adminKey, body: { provider: 'google', subject: String(vendor.account.sub) } },
    });
    const { body } = await logIn();
    expect([body.status, body.challenge?.type, body.token]).toEqual(['pending', 'totp', undefined]);
    expect((await send(body.id, await app.code())).body.status).toBe('approved');
  });

  test('has its entry of REDIRECT_URIS as client_id in access tokens, also after a second factor', async () => {
    const { person, enrolTotp } = createFactors(() => postern);
    const who = await person();
    const { app } = await enrolTotp(who);
    await postern.api('PUT', `/admin/v1/users/${who.user.id}/external-identities`, {
      ...{ bearer: postern.adminKey, body: { provider: 'google', subject: String(vendor.account.sub) } },
    });
    const { body } = await logIn();
    const { token } = (await send(body.id, await app.code())).body;
    expect(await clientOf(token)).toBe(returnTo);
  });

  test('begins with an address of this service and the time it ends', async () => {
    const { status, body } = await begin();
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'pending' });
    expect(body.challenge).toEqual({
      ...{ type: 'redirect', url: `${publicUrl}/redirects/${body.id}`, expires_at: body.expires_at },
    });
  });

  test('sends the browser on with state, nonce and PKCE, and a cookie that scripts cannot read', async () => {
    const login = await begin('oidc:google', { login_hint: 'ada@gmail.com' });
    const { to, response } = await open(login.url, new Map());
    const { searchParams, origin, pathname } = new URL(to);
    expect(origin + pathname).toBe(`${vendor.url}/authorize`);
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ client_id: 'ours', redirect_uri: `${publicUrl}/callback/google`, response_type: 'code' },
      ...{ scope: 'openid email profile', code_challenge_method: 'S256', login_hint: 'ada@gmail.com' },
      state: expect.stringMatching(/^[0-9a-f]{32}[\w-]{100,300}$/),
      nonce: expect.stringMatching(/^[\w-]{32}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^postern-redirect=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  });

  test('keeps the cookie of a browser, so two tabs do not disturb each other', async () => {
    await linkedUser();
    const jar: Jar = new Map();
    const [one, two] = [await begin(), await begin()];
    const first = await open(one.url, jar);
    const cookie = jar.get('postern-redirect');
    const other = await goThrough(two.url, jar);
    expect(jar.get('postern-redirect')).toBe(cookie);
    const { to, answer } = await vendor.authorize(first.to);
    const returned = await open(`${publicUrl}${to.pathname}?${answer}`, jar);
    const app = new URL(returned.to).searchParams;
    expect((await end(one.body.id, app.get('code') ?? '', one.codeVerifier)).status).toBe(201);
    expect((await end(two.body.id, other.app.get('code') ?? '', two.codeVerifier)).status).toBe(201);
  });

  test.each([
    ['another address', { redirect_to: 'https://app.example.com/callback/' }],
    ['another case', { redirect_to: 'https://APP.example.com/callback' }],
    ['a longer path', { redirect_to: 'https://app.example.com/callback/../x' }],
    ['a host in the user part', { redirect_to: 'https://app.example.com@evil.example/callback' }],
    ['a port of another host', { redirect_to: 'https://app.example.com:443/callback' }],
    ['a loopback path', { redirect_to: 'http://127.0.0.1:80/done/x' }],
  ])('is refused with %s', async (_title, more) => {
    const { status, body } = await begin('oidc:google', more);
    expect({ status, type: body.type }).toEqual({ status: 422, type: 'urn:postern:problem:redirect_not_allowed' });
  });

  test.each([
    ['an app', 'com.example.app:/callback'],
    ['a port of a loopback address', 'http://127.0.0.1:51234/done'],
    ['a query', 'https://app.example.com/with?query=1'],
  ])('may return to %s', async (_title, redirectTo) => {
    await linkedUser();
    const login = await begin('oidc:google', { redirect_to: redirectTo });
    const { to } = await goThrough(login.url);
    expect(
      to.startsWith(`${redirectTo}${redirectTo.includes('?') ? '&' : '?'}authentication_id=${login.body.id}&code=`),
    ).toBe(true);
    expect(new URL(to).searchParams.get('iss')).toBe(publicUrl);
  });

  test('needs both members, and a client of this installation', async () => {
    const errorsOf = async (authenticator: string, more: object) =>
      (await begin(authenticator, more)).body.errors.map(({ field, code }) => `${field} ${code}`);
    expect(await errorsOf('oidc:google', { code_challenge: undefined })).toEqual(['code_challenge required']);
    expect(await errorsOf('oidc:google', { redirect_to: undefined })).toEqual(['redirect_to required']);
    expect(await errorsOf('oauth:github', { redirect_to: undefined, code_challenge: undefined })).toEqual([
      'redirect_to required',
      'code_challenge required',
    ]);
    expect(await errorsOf('oidc:bare', {})).toEqual(['authenticator no_redirect_client']);
    const { body } = await postern.api<LoginBody>('POST', '/v1/tokens', {
      body: { authenticator: 'oidc:bare', device: {} },
    });
    expect(body.challenge?.type).toBe('oidc');
  });

  test('ends for an account that nobody has, if it may not sign up', async () => {
    const login = await begin('oidc:closed');
    const { app } = await goThrough(login.url);
    const refused = await end(login.body.id, app.get('code') ?? '', login.codeVerifier);
    expect(refused.body.authentication).toMatchObject({
      ...{ status: 'rejected', error_code: 'not_linked', error_message: expect.stringContaining('linked') },
    });
    expect(refused.status).toBe(400);
    expect((await end(login.body.id, app.get('code') ?? '', login.codeVerifier)).body.authentication.error_code).toBe(
      'authorization_rejected',
    );
  });

  test('needs the right verifier and code: the third wrong answer ends it', async () => {
    await linkedUser();
    const login = await begin();
    const { app } = await goThrough(login.url);
    const code = app.get('code') ?? '';
    const wrong = [
      () => end(login.body.id, code, randomBytes(32).toString('base64url')),
      () => end(login.body.id, randomBytes(24).toString('base64url'), login.codeVerifier),
      () => postern.api('POST', `/v1/tokens/${login.body.id}/secret`, { body: { secret: 'no JSON' } }),
    ];
    for (const answer of wrong) expect((await answer()).status).toBe(400);
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(400);
  });

  test('gives a repeated callback the same answer, also at the same time on another instance', async () => {
    await linkedUser();
    const login = await begin();
    const jar: Jar = new Map();
    const left = await open(login.url, jar);
    const { to, answer } = await vendor.authorize(left.to);
    const callback = `${publicUrl}${to.pathname}?${answer}`;
    const exchanged = vendor.tokenRequests.length;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => open(callback, jar, {}, index % 2 === 0 ? postern : second)),
    );
    expect(new Set(answers.map(({ to: address }) => address)).size).toBe(1);
    expect(vendor.tokenRequests.length - exchanged).toBe(1);
    const code = new URL(answers[0]?.to ?? '').searchParams.get('code') ?? '';
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(201);
    expect((await open(callback, jar)).to).toBe(answers[0]?.to);
  });

  test('uses nothing up in another browser or without its cookie', async () => {
    await linkedUser();
    const login = await begin();
    const jar: Jar = new Map();
    const left = await open(login.url, jar);
    const { to, answer } = await vendor.authorize(left.to);
    const callback = `${publicUrl}${to.pathname}?${answer}`;
    const without = await open(callback, new Map());
    expect({ status: without.status, to: without.to }).toEqual({ status: 400, to: '' });
    expect(without.text).toContain('Sign in again in this browser');
    const stranger: Jar = new Map([['postern-redirect', randomBytes(24).toString('base64url')]]);
    expect((await open(callback, stranger)).status).toBe(400);
    expect(new URL((await open(callback, jar)).to).searchParams.get('code')).toMatch(/^[\w-]{32}$/);
  });

  test('takes only the states of its own provider', async () => {
    const login = await begin();
    const jar: Jar = new Map();
    const { answer } = await vendor.authorize((await open(login.url, jar)).to);
    const other = await open(`${publicUrl}/callback/closed?${answer}`, jar);
    expect({ status: other.status, to: other.to }).toEqual({ status: 410, to: '' });
    expect((await open(`${publicUrl}/callback/google?state=${'0'.repeat(64)}`, jar)).status).toBe(410);
  });

  test('can be opened five times, and further visits do not end the one that has begun', async () => {
    await linkedUser();
    const login = await begin();
    const jar: Jar = new Map();
    const first = await open(login.url, jar);
    for (let visit = 1; visit < 5; visit += 1) expect((await open(login.url, new Map())).status).toBe(303);
    for (let visit = 0; visit < 3; visit += 1) expect((await open(login.url, new Map())).status).toBe(410);
    expect((await open(login.url, new Map(), { method: 'HEAD' })).status).toBe(405);
    const { to, answer } = await vendor.authorize(first.to);
    const app = new URL((await open(`${publicUrl}${to.pathname}?${answer}`, jar)).to).searchParams;
    expect((await end(login.body.id, app.get('code') ?? '', login.codeVerifier)).status).toBe(201);
  });

  test('takes an answer of the provider for each of five visits', async () => {
    const login = await begin();
    vendor.denial = { error: 'access_denied' };
    const errorOf = async () => (await goThrough(login.url)).app.get('error');
    for (let answer = 0; answer < 5; answer += 1) expect(await errorOf()).toBe('access_denied');
    expect((await open(login.url, new Map())).status).toBe(410);
  });

  test('after its end is a page', async () => {
    await linkedUser();
    const login = await begin();
    await goThrough(login.url);
    const { status, text, response } = await open(login.url, new Map(), { headers: { 'accept-language': 'es' } });
    expect(status).toBe(410);
    expect(text).toContain('Este inicio de sesión ha terminado');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  test('that has no address to return to is a page that says what the app has to send', async () => {
    const { body } = await postern.api<LoginBody>('POST', '/v1/tokens', {
      body: { authenticator: 'oidc:google', device: {} },
    });
    const { status, to, text } = await open(`${publicUrl}/redirects/${body.id}`, new Map());
    expect({ status, to }).toEqual({ status: 400, to: '' });
    expect(text).toContain('redirect_to and code_challenge');
  });

  test('of a provider that is not configured is a page that names the setting', async () => {
    const { status, to, text } = await open(`${publicUrl}/callback/%3Cb%3Eabsent?code=x&state=y`, new Map());
    expect({ status, to }).toEqual({ status: 404, to: '' });
    expect(text).toContain('&lt;b&gt;absent is missing in OIDC_PROVIDERS');
    expect(
      (
        await open(`${publicUrl}/callback/absent`, new Map(), {
          method: 'POST',
          body: new URLSearchParams({ state: 'y' }),
        })
      ).status,
    ).toBe(404);
  });

  test('returns to no address that is not listed any more, before and after the provider', async () => {
    const login = await begin('oidc:google', { redirect_to: 'https://app.example.com/with?query=1' });
    const jar: Jar = new Map();
    const { to, answer } = await vendor.authorize((await open(login.url, jar)).to);
    const narrower = await postern.another({
      REDIRECT_URIS: returnTo,
      OIDC_PROVIDERS: JSON.stringify({ google: { issuer: vendor.url, client_id: 'ours' } }),
    });
    try {
      for (const address of [login.url, `${publicUrl}${to.pathname}?${answer}`]) {
        const page = await open(address, jar, {}, narrower);
        expect({ status: page.status, to: page.to }).toEqual({ status: 400, to: '' });
        expect(page.text).toContain('https://app.example.com/with?… is not in REDIRECT_URIS');
      }
    } finally {
      await narrower.close();
    }
  });

  test('tells the app what went wrong at the provider', async () => {
    const errorOf = async (prepare: () => void) => {
      prepare();
      const { app } = await goThrough((await begin()).url);
      return app.get('error');
    };
    expect(await errorOf(() => Object.assign(vendor, { denial: { error: 'access_denied' } }))).toBe('access_denied');
    expect(await errorOf(() => Object.assign(vendor, { denial: { error: 'server_error' } }))).toBe(
      'provider_unavailable',
    );
    vendor.denial = undefined;
    vendor.onToken = (_request, response) => {
      response.writeHead(500).end('<html>');
      return true;
    };
    expect(await errorOf(() => undefined)).toBe('provider_unavailable');
    vendor.onToken = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"error":"bad_verification_code"}');
      return true;
    };
    expect(await errorOf(() => undefined)).toBe('failed');
    vendor.onToken = undefined;
    expect(await errorOf(() => Object.assign(vendor, { account: { sub: 'x', nonce: 'another' } }))).toBe('failed');
    expect(await errorOf(() => Object.assign(vendor, { account: { sub: 'x', aud: 'another' } }))).toBe('failed');
  });

  test('refuses an answer whose issuer is another, if the provider says that it names itself', async () => {
    await linkedUser();
    vendor.metadata = { authorization_response_iss_parameter_supported: true };
    const fresh = await postern.another({
      REDIRECT_URIS: returnTo,
      OIDC_PROVIDERS: JSON.stringify({ google: { issuer: vendor.url, client_id: 'ours' } }),
    });
    try {
      const login = await begin();
      const jar: Jar = new Map();
      const { answer } = await vendor.authorize((await open(login.url, jar)).to);
      answer.set('iss', 'https://evil.example');
      const { to } = await open(`${publicUrl}/callback/google?${answer}`, jar, {}, fresh);
      expect(new URL(to).searchParams.get('error')).toBe('failed');
    } finally {
      await fresh.close();
    }
  });
});

describe('signing up with an account', () => {
  test('makes the user of an address whose mailbox the provider runs', async () => {
    const email = `${randomUUID()}@gmail.com`;
    vendor.account = { sub: randomUUID(), email, email_verified: true, name: 'Ada Lovelace' };
    const { status, body } = await logIn();
    expect({ status, login: body.status }).toEqual({ status: 201, login: 'approved' });
    const { body: user } = await postern.api<User>('GET', `/admin/v1/users/${body.user_id}`, {
      bearer: postern.adminKey,
    });
    expect(user).toMatchObject({ email, name: 'Ada Lovelace', has_password: false });
    expect((await logIn()).body.user_id).toBe(user.id);
  });

  test('makes a user without an address', async () => {
    const { body } = await logIn('oauth:github').then(async (refused) => {
      // The answer of the userinfo endpoint has no `id`.
      expect(refused.status).toBe(400);
      vendor.account = { id: 583231, name: 'Octocat', email: null };
      return logIn('oauth:github');
    });
    const { body: user } = await postern.api<User>('GET', `/admin/v1/users/${body.user_id}`, {
      bearer: postern.adminKey,
    });
    expect(user).toMatchObject({ username: null, email: null, phone: null, name: 'Octocat' });
    const renamed = await postern.api<User>('PATCH', `/admin/v1/users/${user.id}`, {
      ...{ bearer: postern.adminKey, body: { name: 'Mona' } },
    });
    expect(renamed.status).toBe(200);
    expect((await logIn('oauth:github')).body.user_id).toBe(user.id);
  });

  test('makes one user for twenty first logins at the same time', async () => {
    vendor.account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true };
    const ready = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const login = await begin();
        const { app } = await goThrough(login.url);
        return { login, code: app.get('code') ?? '' };
      }),
    );
    const answers = await Promise.all(ready.map(({ login, code }) => end(login.body.id, code, login.codeVerifier)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.user_id)).size).toBe(1);
    const rows = await postern.database.query(
      testSql('select count(*)::int as count from users where email = $1', [vendor.account.email]),
    );
    expect(rows).toEqual([{ count: 1 }]);
  });
});

/** The mails to an address that one of the instances has printed. */
const mailsTo = (email: string) => [...postern.printed, ...second.printed].filter((line) => line.includes(email));
const mailedCode = (email: string) =>
  eventually('the mail', async () => /\b(\d{6})\b/.exec(mailsTo(email).at(-1) ?? '')?.[1]);

describe('an address that a user has', () => {
  const withAddress = async (more: object = {}) => {
    const email = `${randomUUID()}@gmail.com`;
    const user = await createUser(postern, { email, password: 'correct horse battery', ...more });
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    return { user, email };
  };

  test('opens nothing: the account has to be proven, and then it is linked and its owner told', async () => {
    const { user } = await withAddress();
    const { status, body } = await logIn();
    expect({ status, login: body.status, token: body.token }).toEqual({
      status: 201,
      login: 'pending',
      token: undefined,
    });
    expect(body.challenge).toEqual({ type: 'link', authenticators: ['password', 'email'] });
    expect((await send(body.id, { authenticator: 'password', secret: 'wrong' })).status).toBe(400);
    const linked = await send(body.id, { authenticator: 'password', secret: 'correct horse battery' });
    expect({ status: linked.status, login: linked.body.status, user: linked.body.user_id }).toEqual({
      ...{ status: 201, login: 'approved', user: user.id },
    });
    expect(await clientOf(linked.body.token)).toBe(returnTo);
    expect((await logIn()).body.user_id).toBe(user.id);
    const notices = "select 1 from outbox where user_id = $1 and kind = 'email.external_identity_added'";
    expect(await postern.database.query(testSql(notices, [user.id]))).toHaveLength(1);
  });

  test('can be proven with a code to it', async () => {
    const { user, email } = await withAddress();
    const { body } = await logIn();
    const sent = await send(body.id, { authenticator: 'email' });
    expect({ status: sent.status, login: sent.body.status, type: sent.body.challenge?.type }).toEqual({
      ...{ status: 201, login: 'pending', type: 'link' },
    });
    const code = await mailedCode(email);
    const linked = await send(body.id, { authenticator: 'email', secret: code });
    expect({ status: linked.status, user: linked.body.user_id }).toEqual({ status: 201, user: user.id });
  });

  test('of a user with a PIN is not proven with a code: a login with a code would ask for the PIN', async () => {
    const asking = await postern.another({
      PIN_POLICY: 'optional',
      REDIRECT_URIS: returnTo,
      OIDC_PROVIDERS: JSON.stringify({
        google: { preset: 'google', issuer: vendor.url, client_id: 'ours', client_secret: 'a secret', sign_up: true },
      }),
    });
    const steps = createRedirectSteps(() => ({ postern: asking, vendor }));
    try {
      const { user } = await withAddress({ pin: '2468' });
      const { body } = await steps.logIn();
      expect(body.challenge).toEqual({ type: 'link', authenticators: ['password'] });
      expect((await steps.send(body.id, { authenticator: 'email' })).status).toBe(400);
      const secret = 'correct horse battery';
      const linked = await steps.send(body.id, { authenticator: 'password', secret });
      expect({ status: linked.status, user: linked.body.user_id }).toEqual({ status: 201, user: user.id });
    } finally {
      await asking.close();
    }
  });

  test('ends after five wrong proofs, and they count in the budget of the account', async () => {
    await withAddress();
    const { body } = await logIn();
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await send(body.id, { authenticator: 'password', secret: `wrong ${guess}` })).status).toBe(400);
    }
    const late = await send(body.id, { authenticator: 'password', secret: 'correct horse battery' });
    expect(late.status).not.toBe(201);
    const { body: next } = await logIn();
    expect((await send(next.id, { authenticator: 'password', secret: 'correct horse battery' })).status).toBe(423);
  });

  test('is not linked without a way to prove the account', async () => {
    const closed = await postern.another({
      REDIRECT_URIS: returnTo,
      MAIL_PROVIDER: 'none',
      SMS_PROVIDER: 'none',
      OIDC_PROVIDERS: JSON.stringify({
        google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
      }),
    });
    try {
      await withAddress({ password: undefined });
      const login = await begin();
      const { app } = await goThrough(login.url);
      const { body } = await closed.api<LoginBody>('POST', `/v1/tokens/${login.body.id}/secret`, {
        body: { secret: JSON.stringify({ code: app.get('code'), code_verifier: login.codeVerifier }) },
      });
      expect(body.authentication.error_code).toBe('not_linked');
    } finally {
      await closed.close();
    }
  });
});

describe('an address whose mailbox the provider does not run', () => {
  const unproven = (email: string) => {
    vendor.account = { sub: randomUUID(), email, email_verified: true };
  };

  test('gets a code of ours, and then the user is made', async () => {
    const email = `${randomUUID()}@example.com`;
    unproven(email);
    const { status, body } = await logIn();
    expect({ status, type: body.challenge?.type, login: body.status }).toEqual({
      ...{ status: 201, type: 'code', login: 'pending' },
    });
    const signedUp = await send(body.id, await mailedCode(email));
    expect({ status: signedUp.status, login: signedUp.body.status }).toEqual({ status: 201, login: 'approved' });
    expect(await clientOf(signedUp.body.token)).toBe(returnTo);
    const path = `/admin/v1/users/${signedUp.body.user_id}`;
    expect((await postern.api<User>('GET', path, { bearer: postern.adminKey })).body.email).toBe(email);
  });

  test('answers the same whether or not a user has it, and then the code also proves the account', async () => {
    const email = `${randomUUID()}@example.com`;
    const user = await createUser(postern, { email });
    unproven(email);
    const known = await logIn();
    const code = await mailedCode(email);
    const sub = vendor.account.sub;
    unproven(`${randomUUID()}@example.com`);
    const unknown = await logIn();
    const shape = ({ status, body }: typeof known) => [
      ...[status, body.status, Object.keys(body), Object.keys(body.challenge ?? {})],
    ];
    expect(shape(known)).toEqual(shape(unknown));
    const linked = await send(known.body.id, code);
    expect({ status: linked.status, user: linked.body.user_id }).toEqual({ status: 201, user: user.id });
    vendor.account = { sub, email };
    expect((await logIn()).body.user_id).toBe(user.id);
  });

  test('gets one mail for two logins within a minute, whose code and guesses are the same', async () => {
    const email = `${randomUUID()}@example.com`;
    unproven(email);
    const [one, two] = [await logIn(), await logIn()];
    expect([one.body.challenge?.type, two.body.challenge?.type]).toEqual(['code', 'code']);
    const code = await mailedCode(email);
    expect(mailsTo(email)).toHaveLength(1);
    for (let guess = 0; guess < 4; guess += 1) expect((await send(one.body.id, 'abcdef')).status).toBe(400);
    expect((await send(two.body.id, code)).status).toBe(201);
    expect((await send(one.body.id, code)).status).not.toBe(201);
  });
});
