import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LoginDiagnosis } from '../../../../src/contract/login-diagnosis/login-diagnosis.js';
import type { LoginProvider, ProviderTest } from '../../../../src/contract/login-provider/login-provider.js';
import { providerProblems } from '../../../../src/contract/login-provider/problems.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createRedirectSteps, type Jar, publicUrl, returnTo } from '../../../support/redirects.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';
import { startVendor, type Vendor } from '../../../support/vendor.js';

let vendor: Vendor;
let postern: TestApp;
let second: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url };
  const settings = {
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, MAIL_PROVIDER: 'console' },
    SECRET_KEY: 'a secret key of both instances that is long enough',
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', sign_up: true },
      closed: { ...client, title: 'Closed' },
      away: { client_id: 'ours', issuer: 'http://127.0.0.1:9/away' },
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

const { begin, open, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));

const list = async (at: TestApp = postern, language = 'en') => {
  const { status, body } = await at.api<LoginProvider[]>('GET', '/admin/v1/login-providers', {
    bearer: at.adminKey,
    headers: { 'accept-language': language },
  });
  expect(status).toBe(200);
  return body;
};
const providerOf = async (name: string, at?: TestApp, language?: string) => {
  const provider = (await list(at, language)).find((one) => one.name === name);
  if (provider === undefined) throw new Error(`no provider ${name}`);
  return provider;
};
/** Problems are noted without a wait for the database. */
const noted = (name: string, code: string, at?: TestApp) =>
  eventually('the problem', async () => (await providerOf(name, at)).problems.find((problem) => problem.code === code));

describe('the list of providers', () => {
  test('says what each is, and what is missing', async () => {
    const [google, , , bare] = await list();
    expect(google).toMatchObject({
      ...{ name: 'google', authenticator: 'oidc:google', title: 'Google', sign_up: true, missing: [] },
      redirect_uri: `${publicUrl}/callback/google`,
    });
    expect(bare).toMatchObject({ state: 'incomplete', redirect_uri: null });
    expect(bare?.missing).toEqual([{ code: 'client_id', message: expect.stringContaining('client_id') }]);
    const empty = await startTestApp({
      ...{ ...postern.databaseEnv, LOGIN_METHODS: 'password', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
      OIDC_PROVIDERS: JSON.stringify({ google: { issuer: vendor.url, client_id: 'ours' } }),
    });
    try {
      const { body } = await empty.api<LoginProvider[]>('GET', '/admin/v1/login-providers', { bearer: empty.adminKey });
      expect(body[0]?.missing.map(({ code }) => code)).toEqual(['public_url', 'redirect_uris', 'login_methods']);
    } finally {
      await empty.close();
    }
  });

  test('says of a provider that it fails, with what to do, until a login works again, on every instance', async () => {
    vendor.onToken = (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
      return true;
    };
    await goThrough((await begin()).url);
    const problem = await noted('google', 'client_rejected', second);
    expect(problem).toMatchObject({
      ...{ is_fault: true, setting: 'OIDC_PROVIDERS', detail: 'the token endpoint answered 401 (invalid_client)' },
      message: expect.stringContaining('does not accept the credentials'),
      remedy: expect.stringContaining('client_secret'),
    });
    const failing = await providerOf('google', second, 'es');
    expect(failing.state).toBe('fails');
    expect(failing.problems[0]?.message).toContain('El proveedor no acepta las credenciales');
    vendor.onToken = undefined;
    await logIn();
    const works = await eventually('the success', async () => {
      const provider = await providerOf('google', second);
      return provider.state === 'works' ? provider : undefined;
    });
    expect(works.worked_at).not.toBeNull();
    expect(works.problems.map(({ code }) => code)).toContain('client_rejected');
  });

  test('has one row for each kind of problem, however often it happens', async () => {
    for (let attempt = 0; attempt < 30; attempt += 1) {
      await begin('oidc:closed', { redirect_to: `https://evil.example/${attempt}?token=secret` });
      await open(`${publicUrl}/callback/closed?state=${randomUUID()}`, new Map());
    }
    const shown = await eventually('the last address', async () =>
      (await providerOf('closed')).problems.find(({ detail }) => detail === 'https://evil.example/29?…'),
    );
    expect(shown).toMatchObject({ code: 'redirect_not_allowed', setting: 'REDIRECT_URIS', is_fault: false });
    await noted('closed', 'unknown_state');
    // These are faults of apps and of people: the provider is not at fault.
    expect((await providerOf('closed')).state).not.toBe('fails');
    const rows = await postern.database.query<{ count: number }>(
      testSql("select count(*)::int as count from message_providers where name like 'oidc:closed %'", []),
    );
    expect(rows[0]?.count).toBeLessThanOrEqual(Object.keys(providerProblems).length + 1);
  });

  test('is for operators', async () => {
    expect((await postern.api('GET', '/admin/v1/login-providers')).status).toBe(401);
    const key = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
      ...{ bearer: postern.adminKey, body: { name: randomUUID(), scopes: ['users:write'] } },
    });
    const answer = await postern.api('GET', '/admin/v1/login-providers', { bearer: key.body.token });
    expect(answer.status).toBe(403);
  });
});

describe('a test of a provider', () => {
  const start = (name = 'google') =>
    postern.api<{ id: string; url: string } & ProblemAnswer>('POST', `/admin/v1/login-providers/${name}/tests`, {
      bearer: postern.adminKey,
    });
  const stateOf = async (id: string, name = 'google', at: TestApp = postern) =>
    (await at.api<ProviderTest>('GET', `/admin/v1/login-providers/${name}/tests/${id}`, { bearer: at.adminKey })).body;
  const countRows = async () => {
    const rows = await postern.database.query<{ counts: string }>(
      testSql(
        `select concat((select count(*) from users), ' ', (select count(*) from authentications), ' ',
                       (select count(*) from sessions), ' ', (select count(*) from external_identities)) as counts`,
        [],
      ),
    );
    return rows[0]?.counts;
  };

  test('goes through the whole login, and logs nobody in', async () => {
    const before = await countRows();
    const { status, body } = await start();
    expect(status).toBe(201);
    expect(body.url).toBe(`${publicUrl}/redirects/${body.id}`);
    expect(await stateOf(body.id)).toMatchObject({ state: 'waiting', step: 'start', account: null, problem: null });
    const email = `${randomUUID()}@gmail.com`;
    vendor.account = { sub: randomUUID(), email, email_verified: true, name: 'Ada' };
    const jar: Jar = new Map();
    const left = await open(body.url, jar);
    expect(await stateOf(body.id, 'google', second)).toMatchObject({ state: 'waiting', step: 'login' });
    const { to, answer } = await vendor.authorize(left.to);
    const callback = `${publicUrl}${to.pathname}?${answer}`;
    const page = await open(callback, jar);
    expect({ status: page.status, to: page.to }).toEqual({ status: 200, to: '' });
    expect(page.text).toContain('The test worked');
    expect(await stateOf(body.id)).toMatchObject({
      ...{ state: 'passed', step: 'account', problem: null, outcome: 'creates_user', user_id: null },
      account: { issuer: vendor.url, subject: vendor.account.sub, email, name: 'Ada', runs_mailbox: true },
    });
    expect(await countRows()).toBe(before);
    // A repeat shows the same page. Nothing ends a login with the test.
    expect((await open(callback, jar)).text).toContain('The test worked');
    const secret = JSON.stringify({ code: 'x', code_verifier: randomBytes(32).toString('base64url') });
    expect((await postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret } })).status).toBe(400);
  });

  test('says what a login with the account would do', async () => {
    const outcomeOf = async (name?: string) => {
      const { body } = await start(name);
      await goThrough(body.url);
      const { outcome, user_id: userId } = await stateOf(body.id, name);
      return { outcome, userId };
    };
    const user = await createUser(postern, { email: `${randomUUID()}@gmail.com`, password: 'correct horse battery' });
    vendor.account = { sub: randomUUID(), email: user.email, email_verified: true };
    expect(await outcomeOf()).toEqual({ outcome: 'asks_for_link', userId: null });
    expect(await outcomeOf('closed')).toEqual({ outcome: 'not_linked', userId: null });
    await postern.api('PUT', `/admin/v1/users/${user.id}/external-identities`, {
      ...{ bearer: postern.adminKey, body: { provider: 'closed', subject: String(vendor.account.sub) } },
    });
    expect(await outcomeOf('closed')).toEqual({ outcome: 'logs_in', userId: user.id });
    vendor.account = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true };
    expect(await outcomeOf()).toEqual({ outcome: 'asks_for_code', userId: null });
  });

  const token = (status: number, body: object) => {
    vendor.onToken = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
  };
  test.each<[string, string, string, () => void]>([
    ['login', 'access_denied', 'google', () => Object.assign(vendor, { denial: { error: 'access_denied' } })],
    ['login', 'scope_rejected', 'google', () => Object.assign(vendor, { denial: { error: 'invalid_scope' } })],
    [
      'login',
      'redirect_uri_rejected',
      'google',
      () => Object.assign(vendor, { denial: { error: 'redirect_uri_mismatch' } }),
    ],
    ['login', 'provider_error', 'google', () => Object.assign(vendor, { denial: { error: '<b>strange</b>' } })],
    ['exchange', 'client_rejected', 'google', () => token(400, { error: 'unauthorized_client' })],
    ['exchange', 'code_rejected', 'google', () => token(200, { error: 'bad_verification_code' })],
    ['exchange', 'provider_unreachable', 'google', () => token(503, {})],
    ['account', 'token_invalid', 'google', () => Object.assign(vendor, { account: { sub: 'x', aud: 'another' } })],
    ['account', 'token_invalid', 'google', () => token(200, { access_token: 'a', token_type: 'bearer' })],
  ])('says that it failed at the step %s, because of %s', async (step, code, name, prepare) => {
    prepare();
    const { body } = await start(name);
    const page = await goThrough(body.url);
    expect({ status: page.status, to: page.to }).toEqual({ status: 200, to: '' });
    expect(page.text).toContain('The test failed');
    expect(page.text).not.toContain('<b>');
    const state = await stateOf(body.id, name);
    expect(state).toMatchObject({ state: 'failed', step, problem: { code, remedy: expect.stringMatching(/./) } });
    // It goes on if its address is opened again.
    vendor.reset();
    await goThrough(body.url);
    expect((await stateOf(body.id, name)).state).toBe('passed');
  });

  test('says so before the provider is asked, and in another browser', async () => {
    const { body: away } = await start('away');
    expect((await open(away.url, new Map())).text).toContain('could not be reached');
    expect(await stateOf(away.id, 'away')).toMatchObject({
      ...{ state: 'failed', step: 'start', problem: { code: 'provider_unreachable' } },
    });
    const { body } = await start();
    const { to, answer } = await vendor.authorize((await open(body.url, new Map())).to);
    expect((await open(`${publicUrl}${to.pathname}?${answer}`, new Map())).status).toBe(400);
    expect(await stateOf(body.id)).toMatchObject({
      ...{ state: 'failed', step: 'return', problem: { code: 'other_browser' } },
    });
  });

  test('needs a provider with a client', async () => {
    expect((await start('bare')).body.type).toBe('urn:postern:problem:provider_incomplete');
    expect((await start('absent')).status).toBe(404);
    const { body } = await start();
    const missing = ['google', randomUUID()] as const;
    expect(await stateOf(missing[1])).toMatchObject({ type: 'urn:postern:problem:not_found' });
    expect(await stateOf(body.id, 'closed')).toMatchObject({ type: 'urn:postern:problem:not_found' });
  });
});

describe('the diagnosis of a login', () => {
  const wayOf = async (id: string, authenticator: string) => {
    const path = `/admin/v1/users/${id}/login-diagnosis`;
    const { body } = await postern.api<LoginDiagnosis>('GET', path, { bearer: postern.adminKey });
    return body.ways.find((way) => way.authenticator === authenticator);
  };

  test('explains an account that is not linked, although it has the address', async () => {
    const user = await createUser(postern, { email: `${randomUUID()}@gmail.com` });
    expect(await wayOf(user.id, 'oidc:closed')).toMatchObject({
      verdict: 'not_set_up',
      reasons: expect.arrayContaining([
        expect.objectContaining({
          ...{ code: 'no_external_identity', effect: 'blocks', message: expect.stringContaining('not_linked') },
          remedies: [expect.objectContaining({ action: 'link_external_identity' })],
        }),
      ]),
    });
    const open = await wayOf(user.id, 'oidc:google');
    expect(open?.answers).toEqual([expect.objectContaining({ step: 'start', authentication_status: 'pending' })]);
    expect(open?.reasons).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ code: 'external_identity_not_linked', effect: 'note' },
          message: expect.stringContaining('then links it'),
        }),
      ]),
    );
  });

  test('explains refused redirects, and a provider that fails', async () => {
    const user = await createUser(postern);
    await begin('oidc:away', { redirect_to: 'https://other.example/back' });
    const login = await begin('oidc:away');
    await open(login.url, new Map());
    await noted('away', 'redirect_not_allowed');
    await noted('away', 'provider_unreachable');
    await postern.api('PUT', `/admin/v1/users/${user.id}/external-identities`, {
      ...{ bearer: postern.adminKey, body: { provider: 'away', subject: randomUUID() } },
    });
    const way = await wayOf(user.id, 'oidc:away');
    expect(way?.verdict).toBe('maybe');
    const reasons = way?.reasons.map(({ code, data, message }) => ({ code, problem: data.problem, message }));
    expect(reasons).toEqual(
      expect.arrayContaining([
        {
          ...{ code: 'provider_fails', problem: 'provider_unreachable' },
          message: expect.stringContaining('could not be reached'),
        },
        {
          ...{ code: 'provider_refused', problem: 'redirect_not_allowed' },
          message: expect.stringContaining('https://other.example/back'),
        },
      ]),
    );
    const refused = way?.reasons.find(({ code }) => code === 'provider_refused');
    expect(refused?.remedies).toMatchObject([{ action: 'configure', setting: 'REDIRECT_URIS' }]);
  });
});
