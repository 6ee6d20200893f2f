import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import type { IdentityProvider } from '../../src/login/providers/provider.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { forgedAddresses, isListedAddress } from '../support/forged-addresses.js';
import { createRedirectSteps, type Jar, newVerifier, publicUrl, returnTo } from '../support/redirects.js';
import { testSql } from '../support/sql.js';
import { createUser, newEmail, password } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';

/** Attacks on logins by redirect from browsers, apps and people. Those by a provider are in provider.test.ts. */

let vendor: Vendor;
let evil: Vendor;
let postern: TestApp;
const listed = [returnTo, 'com.example.app:/callback', 'http://127.0.0.1/done', 'http://[::1]/done?a=1'];
beforeAll(async () => {
  [vendor, evil] = await Promise.all([startVendor(), startVendor()]);
  const client = { client_id: 'ours', client_secret: 'a secret', sign_up: true };
  const of = (issuer: string, preset: string) => ({ ...client, issuer, preset });
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: listed.join(','), PIN_POLICY: 'off', MAIL_PROVIDER: 'console' },
    OIDC_PROVIDERS: JSON.stringify({
      google: of(vendor.url, 'google'),
      entra: of(vendor.url, 'microsoft'),
      evil: { ...client, issuer: evil.url },
      named: { ...client, issuer: `${vendor.url}/named` },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await Promise.all([vendor.close(), evil.close()]);
});
beforeEach(() => {
  vendor.reset();
  evil.reset();
});

const steps = createRedirectSteps(() => ({ postern, vendor }));
const { begin, end, send, open, visit, goThrough, logIn } = steps;
const codeOf = (to: string) => new URL(to || 'about:blank').searchParams.get('code') ?? '';
const mailsTo = (email: string) => postern.printed.filter((line) => line.includes(email));
const mailedCode = (email: string) =>
  eventually('the mail', async () => /\b(\d{6})\b/.exec(mailsTo(email).at(-1) ?? '')?.[1]);
const usersWith = (email: string) =>
  postern.database.query<{ id: string }>(testSql('select id from users where email = $1', [email]));

describe('login CSRF', () => {
  test('a victim who opens the callback of an attacker gets a page, and the attacker’s login is not used up', async () => {
    const login = await begin();
    const [attacker, victim]: Jar[] = [new Map(), new Map()];
    const { callback } = await visit(login.url, attacker as Jar);
    // The victim has a cookie of a login of its own.
    await visit((await begin()).url, victim as Jar);
    const opened = await open(callback, victim as Jar);
    expect({ status: opened.status, to: opened.to }).toEqual({ status: 400, to: '' });
    expect(postern.logged.join('\n')).toMatch(
      /"security_event":"redirect_in_other_browser".*"route":"\/callback\/:name"/,
    );
    expect(codeOf((await open(callback, attacker as Jar)).to)).toMatch(/^[\w-]{32}$/);
  });

  test('a code that an attacker sends to the app of a victim ends no login of the victim', async () => {
    const [ofAttacker, ofVictim] = [await begin(), await begin()];
    const code = codeOf((await goThrough(ofAttacker.url)).to);
    // The app ends the login that the address names with the verifier that it kept for its own.
    expect((await end(ofAttacker.body.id, code, ofVictim.codeVerifier)).status).toBe(400);
    expect((await end(ofVictim.body.id, code, ofVictim.codeVerifier)).status).toBe(400);
  });
});

describe('codes and states', () => {
  test('the provider’s code of a victim, in the attacker’s browser with the attacker’s state, is no login', async () => {
    const ofVictim = await visit((await begin()).url, new Map());
    const jar: Jar = new Map();
    const login = await begin();
    const { answer, back } = await visit(login.url, jar);
    answer.set('code', ofVictim.answer.get('code') ?? '');
    const { to } = await open(`${back}?${answer}`, jar);
    expect(new URL(to).searchParams.get('error')).toBe('failed');
  });

  test('a stolen code is worth nothing without the verifier, which the third guess uses up', async () => {
    const login = await begin();
    const code = codeOf((await goThrough(login.url)).to);
    for (let guess = 0; guess < 3; guess += 1) {
      expect((await end(login.body.id, code, newVerifier().codeVerifier)).status).toBe(400);
    }
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(400);
  });

  test('the challenge is no verifier', async () => {
    const { codeVerifier, codeChallenge } = newVerifier();
    const login = await begin('oidc:google', { code_challenge: codeChallenge });
    const code = codeOf((await goThrough(login.url)).to);
    expect((await end(login.body.id, code, codeChallenge)).status).toBe(400);
    expect((await end(login.body.id, code, codeVerifier)).status).toBe(201);
  });

  test('a code ends one login, and only within a minute', async () => {
    const login = await begin();
    const code = codeOf((await goThrough(login.url)).to);
    const answers = await Promise.all([1, 2, 3].map(() => end(login.body.id, code, login.codeVerifier)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(400);
    const late = await begin();
    const lateCode = codeOf((await goThrough(late.url)).to);
    await stepClock(postern.database, '61 seconds');
    expect((await end(late.body.id, lateCode, late.codeVerifier)).status).toBe(400);
    await stepClock(postern.database, '0');
  });

  test('a replayed callback gets no second code, and after a minute none at all', async () => {
    const jar: Jar = new Map();
    const login = await begin();
    const { callback } = await goThrough(login.url, jar);
    const first = await open(callback, jar);
    const exchanged = vendor.tokenRequests.length;
    const forged = new URL(callback);
    forged.searchParams.set('code', 'another');
    expect((await open(forged.href, jar)).to).toBe(first.to);
    await stepClock(postern.database, '61 seconds');
    expect(new URL((await open(callback, jar)).to).searchParams.get('error')).toBe('expired');
    await stepClock(postern.database, '0');
    expect(vendor.tokenRequests).toHaveLength(exchanged);
  });

  test('two logins of one browser do not take each other’s codes', async () => {
    const jar: Jar = new Map();
    const [one, two] = [await begin(), await begin()];
    const [first, second] = [await visit(one.url, jar), await visit(two.url, jar)];
    const codes = [codeOf((await open(first.callback, jar)).to), codeOf((await open(second.callback, jar)).to)];
    expect((await end(one.body.id, codes[1] ?? '', one.codeVerifier)).status).toBe(400);
    expect((await end(two.body.id, codes[0] ?? '', two.codeVerifier)).status).toBe(400);
    expect((await end(one.body.id, codes[0] ?? '', one.codeVerifier)).status).toBe(201);
  });

  test('the second visit of one login gets no second code', async () => {
    const [jar, other]: Jar[] = [new Map(), new Map()];
    const login = await begin();
    const [first, second] = [await visit(login.url, jar as Jar), await visit(login.url, other as Jar)];
    expect(codeOf((await open(first.callback, jar as Jar)).to)).not.toBe('');
    expect(new URL((await open(second.callback, other as Jar)).to).searchParams.get('error')).toBe('expired');
  });

  test('a state is random: a guess of its random part finds nothing', async () => {
    const jar: Jar = new Map();
    const { answer, back } = await visit((await begin()).url, jar);
    const state = answer.get('state') ?? '';
    answer.set('state', state.slice(0, 32) + randomBytes(24).toString('base64url'));
    expect((await open(`${back}?${answer}`, jar)).status).toBe(410);
  });
});

describe('a mix-up between providers', () => {
  test('a login at one provider takes no answer at the address of another', async () => {
    const jar: Jar = new Map();
    const { answer } = await visit((await begin()).url, jar);
    const exchanged = evil.tokenRequests.length + vendor.tokenRequests.length;
    expect((await open(`${publicUrl}/callback/evil?${answer}`, jar)).status).toBe(410);
    const posted = await open(`${publicUrl}/callback/evil`, new Map(), { method: 'POST', body: answer });
    expect(posted.status).toBe(410);
    expect(evil.tokenRequests.length + vendor.tokenRequests.length).toBe(exchanged);
  });

  test('an honest provider’s code never goes to the attacker’s: the answer names its issuer (RFC 9207)', async () => {
    const jar: Jar = new Map();
    const login = await begin('oidc:evil');
    const left = await open(login.url, jar);
    // The attacker’s provider sends the browser on to the honest one, with its own state.
    const { answer } = await vendor.authorize(left.to);
    answer.set('iss', vendor.url);
    const { to } = await open(`${publicUrl}/callback/evil?${answer}`, jar);
    expect(new URL(to).searchParams.get('error')).toBe('failed');
    expect(evil.tokenRequests).toHaveLength(0);
  });

  test('an answer without an issuer is refused, if the provider promises one', async () => {
    vendor.metadata = { authorization_response_iss_parameter_supported: true };
    vendor.account = { sub: randomUUID(), iss: `${vendor.url}/named` };
    const without = await goThrough((await begin('oidc:named')).url);
    expect(without.app.get('error')).toBe('failed');
    const jar: Jar = new Map();
    const { answer, back } = await visit((await begin('oidc:named')).url, jar);
    answer.set('iss', `${vendor.url}/named`);
    expect(codeOf((await open(`${back}?${answer}`, jar)).to)).not.toBe('');
  });
});

describe('an open redirect', () => {
  const anyProvider: IdentityProvider = {
    ...{ name: 'any', authenticator: 'oidc:any', title: 'Any', issuer: 'https://any.example', clientIds: [] },
    ...{ signUp: false, hasIssuer: () => false, accountOf: undefined },
    redirect: {
      ...{ redirectUri: '', authorizationUrl: async () => '' },
      exchange: async () => ({ error: 'failed', problem: 'provider_error', detail: undefined, cause: undefined }),
    },
  };
  const { codeChallenge } = newVerifier();
  const isTaken = (to: string) => {
    try {
      const request = { redirect_to: to, code_challenge: codeChallenge };
      postern.services.redirects.begin(anyProvider, randomUUID(), request, 'authenticator');
      return true;
    } catch {
      return false;
    }
  };
  const isListed = (to: string) => isListedAddress(listed, to);

  test('is not possible with 2,000 forged addresses', () => {
    const forged = forgedAddresses(listed, 2000);
    const wrong = forged.filter((to) => isTaken(to) !== isListed(to));
    expect(wrong).toEqual([]);
    expect(forged.filter(isTaken).length).toBeGreaterThan(0);
    expect(listed.every(isTaken)).toBe(true);
  });

  test('is not possible with what comes back: neither the provider nor the browser names the next address', async () => {
    vendor.denial = {
      ...{ error: 'access_denied', error_description: 'x', error_uri: 'https://evil.example' },
      ...{ redirect_to: 'https://evil.example', iss: 'https://evil.example' },
    };
    const { to } = await goThrough((await begin()).url);
    expect(to.startsWith(`${returnTo}?authentication_id=`)).toBe(true);
    expect([...new URL(to).searchParams.keys()]).toEqual(['authentication_id', 'error', 'iss']);
    expect(new URL(to).searchParams.get('iss')).toBe(publicUrl);
    const unknown = await open(`${publicUrl}/redirects/${randomUUID()}?redirect_to=https://evil.example`, new Map());
    expect({ status: unknown.status, to: unknown.to }).toEqual({ status: 410, to: '' });
  });
});

describe('an account that an attacker has made before', () => {
  test('with an unproven address is not entered by its owner, and the attacker gains nothing', async () => {
    const email = `${randomUUID()}@gmail.com`;
    const made = await createUser(postern, { email, email_verified: false, password });
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    const { status, body } = await logIn();
    expect({ status, login: body.status, token: body.token }).toEqual({ ...{ status: 201, login: 'pending' } });
    // The owner cannot know the password. No mail way is open: the address is unproven.
    expect(body.challenge).toEqual({ type: 'link', authenticators: ['password'], recovery: true });
    expect((await send(body.id, { authenticator: 'email' })).status).toBe(400);
    const links = 'select 1 from external_identities where user_id = $1';
    expect(await postern.database.query(testSql(links, [made.id]))).toEqual([]);
  });

  test('at a provider, with the victim’s address, gets no account with this address without the code', async () => {
    const email = newEmail();
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    const { body } = await logIn();
    expect({ login: body.status, type: body.challenge?.type }).toEqual({ login: 'pending', type: 'code' });
    expect((await send(body.id, 'abcdef')).status).toBe(400);
    expect(await usersWith(email)).toEqual([]);
    // The victim signs up. The code of the attacker’s login is in its mailbox, and the attacker does not have it.
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    // An address gets one code a minute.
    await postern.database.query(testSql('delete from message_limits'));
    const own = await logIn();
    expect(own.status).toBe(201);
    await eventually('the second mail', async () => (mailsTo(email).length === 2 ? true : undefined));
    const signedUp = await send(own.body.id, await mailedCode(email));
    expect(signedUp.status).toBe(201);
    const links = 'select subject from external_identities where user_id = $1';
    expect(await postern.database.query(testSql(links, [signedUp.body.user_id]))).toEqual([
      { subject: vendor.account.sub },
    ]);
  });
});

describe('an address that a provider has not verified', () => {
  test('of Entra (nOAuth) opens no account: our code goes to its owner, and the account has to be proven', async () => {
    const email = newEmail();
    const user = await createUser(postern, { email });
    vendor.account = { sub: randomUUID(), email, tid: 'evil-tenant' };
    const { body } = await logIn('oidc:entra');
    expect({ login: body.status, type: body.challenge?.type, user: body.user_id }).toEqual({
      ...{ login: 'pending', type: 'code', user: undefined },
    });
    for (let guess = 0; guess < 5; guess += 1) expect((await send(body.id, 'abcdef')).status).toBe(400);
    expect((await send(body.id, await mailedCode(email))).status).not.toBe(201);
    expect(
      await postern.database.query(testSql('select 1 from external_identities where user_id = $1', [user.id])),
    ).toEqual([]);
  });
});

describe('a scanner that opens and clicks everything', () => {
  test('gets no code, and uses nothing up of the person’s login', async () => {
    const login = await begin();
    const scan = async (address: string) => {
      await open(address, new Map(), { method: 'HEAD' });
      await open(address, new Map());
      return open(address, new Map(), { method: 'POST', body: new URLSearchParams({ state: 'x' }) });
    };
    await scan(login.url);
    const jar: Jar = new Map();
    const { callback } = await visit(login.url, jar);
    await scan(callback);
    const { to } = await open(callback, jar);
    await scan(callback);
    expect((await end(login.body.id, codeOf(to), login.codeVerifier)).status).toBe(201);
    expect(codeOf((await open(callback, new Map())).to)).toBe('');
  });
});

describe('clickjacking', () => {
  test('is not possible: no answer of the flow can be framed, cached or sniffed, and none tells where it came from', async () => {
    const login = await begin();
    const jar: Jar = new Map();
    const left = await open(login.url, jar);
    const { answer } = await vendor.authorize(left.to);
    const callback = `${publicUrl}/callback/google`;
    const answers = [
      left,
      await open(`${callback}?${answer}`, new Map()),
      await open(callback, new Map(), { method: 'POST', body: answer }),
      await open(`${callback}?${answer}`, jar),
      await open(`${publicUrl}/redirects/${randomUUID()}`, jar),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 400, 303, 303, 410]);
    for (const { response } of answers) {
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });
});

describe('the first logins of one account', () => {
  test.each([
    ['with an address that the provider runs', () => ({ email: `${randomUUID()}@gmail.com`, email_verified: true })],
    ['without an address', () => ({})],
  ])('%s, twenty at once on two instances, make one user', async (_title, claims) => {
    const second = await postern.another();
    try {
      vendor.account = { sub: randomUUID(), ...claims() };
      const ready = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const login = await begin();
          const code = codeOf((await goThrough(login.url)).to);
          return { id: login.body.id, secret: JSON.stringify({ code, code_verifier: login.codeVerifier }) };
        }),
      );
      const answers = await Promise.all(
        ready.map(({ id, secret }, index) =>
          (index % 2 ? second : postern).api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret } }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      const [id, ...others] = new Set(answers.map(({ body }) => body.user_id));
      expect(others).toEqual([]);
      const links = await postern.database.query(
        testSql('select user_id from external_identities where subject = $1', [vendor.account.sub]),
      );
      expect(links).toEqual([{ user_id: id }]);
    } finally {
      await second.close();
    }
  });
});

test.each([
  ['a NUL', 'A\u0000da', 'A da'],
  ['half a character', 'Ada \ud83d', 'Ada'],
  ['a line break', 'Ada\r\nLovelace', 'Ada  Lovelace'],
  ['only control characters', '\u0001\u0002', ''],
  ['more than fits, cut within a character', `${'a'.repeat(254)}😀`, 'a'.repeat(254)],
])('a name with %s makes a user all the same', async (_title, name, expected) => {
  vendor.account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true, name };
  const { status, body } = await logIn();
  expect(status).toBe(201);
  const { body: user } = await postern.api<User>('GET', `/admin/v1/users/${body.user_id}`, {
    bearer: postern.adminKey,
  });
  expect(user.name).toBe(expected);
});

describe('an account that was linked to somebody else during its login', () => {
  test('ends the login with 409, and the right password counts as right', async () => {
    const email = `${randomUUID()}@gmail.com`;
    const user = await createUser(postern, { email });
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    const { body } = await logIn();
    const other = await createUser(postern);
    await postern.api('PUT', `/admin/v1/users/${other.id}/external-identities`, {
      ...{ bearer: postern.adminKey, body: { provider: 'google', subject: vendor.account.sub } },
    });
    const answer = { authenticator: 'password', secret: password };
    expect((await send(body.id, answer)).status).toBe(409);
    expect((await send(body.id, answer)).status).toBe(400);
    const counted = 'select 1 from guess_budgets where user_id = $1 and (failures > 0 or cardinality(slots) > 0)';
    expect(await postern.database.query(testSql(counted, [user.id]))).toEqual([]);
  });
});
