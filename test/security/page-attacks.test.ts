import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createConsole } from '../support/console.js';
import { bindLogin } from '../support/dpop.js';
import { forgedAddresses, isListedAddress } from '../support/forged-addresses.js';
import { createPageBrowser, type FlowBody, pageSettings } from '../support/page-browser.js';
import { createRedirectSteps, newVerifier, returnTo } from '../support/redirects.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

/** Attacks on the pages of this service, and on logins of apps there. */

const listed = [returnTo, 'com.example.app:/callback', 'http://127.0.0.1/done', 'http://[::1]/done?a=1'];
let postern: TestApp;
let victim: User;
let attacker: User;
beforeAll(async () => {
  postern = await startTestApp(await pageSettings(listed));
  victim = await createUser(postern, { username: 'victim.pages' });
  attacker = await createUser(postern, { username: 'attacker.pages' });
});
afterAll(() => postern.close());

const browser = () => createPageBrowser(() => postern);
const { begin, end } = createRedirectSteps(() => ({ postern, vendor: { authorize: () => Promise.reject() } }));
const codeOf = (url = '') => (URL.canParse(url) ? (new URL(url).searchParams.get('code') ?? '') : '');

describe('clickjacking', () => {
  test.each(['/sign-in', '/account', '/link', '/sign-in?state=x'])('%s cannot be in a frame', async (path) => {
    const answer = await browser().send(path);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });
});

describe('CSRF', () => {
  const routes = [
    ['POST', '/pages/session'],
    ['DELETE', '/pages/session'],
    ['POST', '/pages/flow'],
    ['POST', '/pages/answer'],
  ] as const;
  const foreign: Readonly<Record<string, string>>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ];
  test.each(routes.flatMap(([method, path]) => foreign.map((headers) => [method, path, headers] as const)))(
    '%s %s refuses a request with %j',
    async (method, path, headers) => {
      const page = browser();
      await page.signIn(victim);
      const state = await page.visit((await begin('page')).url);
      const body = method === 'POST' ? { body: JSON.stringify({ state, answer: 'allow' }) } : {};
      const answer = await page.send(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...body,
      });
      expect(answer.status).toBe(403);
      expect((await page.flow(state)).next).toBe('ask');
    },
  );

  test('a form of another site cannot send what they take', async () => {
    const page = browser();
    const type = { 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' };
    for (const path of ['/pages/session', '/pages/answer'])
      expect((await page.send(path, { method: 'POST', body: '{}', headers: type })).status).toBe(415);
  });
});

describe('login CSRF', () => {
  test('the state of an attacker is nothing in the browser of a victim, and is not used up', async () => {
    const [ofAttacker, ofVictim] = [browser(), browser()];
    await ofAttacker.signIn(attacker);
    await ofVictim.signIn(victim);
    const login = await begin('page');
    const state = await ofAttacker.visit(login.url);
    // The victim has a cookie of a login of its own.
    await ofVictim.visit((await begin('page')).url);
    expect(await ofVictim.answer(state, 'allow')).toEqual({ page: 'other_browser' });
    expect((await ofVictim.send(`/sign-in?state=${state}`)).status).toBe(400);
    expect(codeOf((await ofAttacker.answer(state, 'allow')).url)).toMatch(/^[\w-]{32}$/);
  });

  test('a code is worth nothing without the verifier of the app', async () => {
    const page = browser();
    await page.signIn(victim);
    const login = await begin('page');
    const code = codeOf((await page.answer(await page.visit(login.url), 'allow')).url);
    expect((await end(login.body.id, code, newVerifier().codeVerifier)).status).toBe(400);
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(201);
    expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(400);
  });
});

describe('cookie tossing', () => {
  test('of two logins in cookies neither counts, and signing out ends both', async () => {
    const [page, other] = [browser(), browser()];
    const [own, tossed] = [await page.signIn(victim), await other.signIn(attacker)];
    const state = await page.visit((await begin('page')).url);
    const cookie = `${[...page.jar].map((pair) => pair.join('=')).join('; ')}; postern-page=${tossed.token}`;
    const send = (path: string, method: string, body?: object) =>
      fetch(new URL(path, postern.url), {
        method,
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect(await (await send('/pages/session', 'POST')).json()).toEqual({ token: null });
    expect(((await (await send('/pages/flow', 'POST', { state })).json()) as FlowBody).next).toBe('sign_in');
    expect((await send('/pages/session', 'DELETE')).status).toBe(204);
    for (const { token } of [own, tossed])
      expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
  });

  test('of two browser cookies neither counts', async () => {
    const page = browser();
    await page.signIn(victim);
    const state = await page.visit((await begin('page')).url);
    const cookie = `${[...page.jar].map((pair) => pair.join('=')).join('; ')}; postern-redirect=${'a'.repeat(32)}`;
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const answer = await fetch(new URL('/pages/answer', postern.url), {
      ...{ method: 'POST', headers, body: JSON.stringify({ state, answer: 'allow' }) },
    });
    expect(await answer.json()).toEqual({ page: 'other_browser' });
  });

  test('a cookie that is no token, or a session token, is no login', async () => {
    const page = browser();
    for (const value of ['x', `psa_${randomBytes(60).toString('base64url')}`, '%00', 'psa_']) {
      page.jar.set('postern-page', value);
      expect(await (await page.post('/pages/session', null)).json()).toEqual({ token: null });
    }
  });
});

describe('two flows in one browser', () => {
  test('do not take each other’s codes, and one answer does not end the other', async () => {
    const page = browser();
    await page.signIn(victim);
    const [one, two] = [await begin('page'), await begin('page')];
    const [first, other] = [await page.visit(one.url), await page.visit(two.url)];
    const codes = [codeOf((await page.answer(first, 'allow')).url), codeOf((await page.answer(other)).url)] as const;
    expect((await end(one.body.id, codes[1], one.codeVerifier)).status).toBe(400);
    expect((await end(two.body.id, codes[0], two.codeVerifier)).status).toBe(400);
    expect((await end(one.body.id, codes[0], one.codeVerifier)).status).toBe(201);
    expect((await end(two.body.id, codes[1], two.codeVerifier)).status).toBe(201);
  });

  test('parallel answers of one visit get one code', async () => {
    const page = browser();
    await page.signIn(victim);
    const state = await page.visit((await begin('page')).url);
    const answers = await Promise.all(Array.from({ length: 8 }, () => page.answer(state, 'allow')));
    expect(new Set(answers.map(({ url }) => url)).size).toBe(1);
    expect(codeOf(answers[0]?.url)).toMatch(/^[\w-]{32}$/);
  });

  test('the second visit of one login gets no second code', async () => {
    const page = browser();
    await page.signIn(victim);
    const { url } = await begin('page');
    const [first, other] = [await page.visit(url), await page.visit(url)];
    expect(codeOf((await page.answer(first, 'allow')).url)).not.toBe('');
    expect((await page.answer(other, 'allow')).page).toBe('ended');
  });
});

describe('an open redirect', () => {
  test('is not possible with 2,000 forged addresses', () => {
    const { codeChallenge } = newVerifier();
    const isTaken = (to: string) => {
      try {
        postern.services.redirects.beginAtPage('id', { redirect_to: to, code_challenge: codeChallenge });
        return true;
      } catch {
        return false;
      }
    };
    const forged = forgedAddresses(listed, 2000);
    expect(forged.filter((to) => isTaken(to) !== isListedAddress(listed, to))).toEqual([]);
    expect(listed.every(isTaken)).toBe(true);
    // The pages themselves are no apps, although logins at providers may return to them.
    expect([`${postern.url}/sign-in`, `${postern.url}/account`].filter(isTaken)).toEqual([]);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '/sign-in?state=//evil.example',
    '/sign-in//evil.example',
    '/account?next=https://evil.example',
  ])('the redirect to PUBLIC_URL never leads to another host (%s)', async (path) => {
    const { hostname, port } = new URL(postern.url);
    const answer = await fetch(`http://${hostname.replace('127.0.0.1', 'localhost')}:${port}${path}`, {
      redirect: 'manual',
    });
    const to = answer.headers.get('location');
    if (to !== null) expect(new URL(to, postern.url).origin).toBe(postern.url);
  });

  test('an address that was listed when the login began, and is no longer, gets nothing', async () => {
    const page = browser();
    await page.signIn(victim);
    const login = await begin('page', { redirect_to: 'com.example.app:/callback' });
    const state = await page.visit(login.url);
    const later = await postern.another({ REDIRECT_URIS: returnTo, PORT: '0' });
    try {
      const answer = await createPageBrowser(() => later, page.jar).answer(state, 'allow');
      expect(answer).toEqual({ page: 'not_listed', name: 'com.example.app:/callback' });
    } finally {
      await later.close();
    }
  });
});

test('a callback of the name `page` takes no answer: only the route that knows the login does', async () => {
  const page = browser();
  await page.signIn(victim);
  const state = await page.visit((await begin('page')).url);
  expect((await page.send(`/callback/page?state=${state}&code=x`)).status).toBe(404);
  expect((await page.flow(state)).next).toBe('go');
});

/** An app whose user has a login of the pages. @returns the token that the app gets */
async function appToken(page: ReturnType<typeof browser>): Promise<string> {
  const login = await begin('page');
  const code = codeOf((await page.answer(await page.visit(login.url), 'allow')).url);
  return (await end(login.body.id, code, login.codeVerifier)).body.token ?? '';
}

describe('an old cookie of the pages', () => {
  test('of an operator gives no right that needs a fresh proof', async () => {
    const { username, app, session } = await createConsole(() => postern).operator();
    const { body: begun } = await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(username) });
    await app.rewind();
    const { body: approved } = await postern.api<Authentication>('POST', `/v1/tokens/${begun.id}/secret`, {
      body: { secret: await app.code() },
    });
    const page = browser();
    expect((await page.post('/pages/session', { authentication_token: approved.token })).status).toBe(201);
    const createKey = async () => {
      const { body } = await postern.api<NewSession>('POST', '/v1/sessions', { basic: await appToken(page) });
      return postern.api<{ errors?: { code: string }[] }>('POST', '/admin/v1/keys', {
        bearer: body.token,
        body: { name: `key ${randomBytes(4).toString('hex')}`, scopes: ['users:read'] },
      });
    };
    expect((await createKey()).status).toBe(201);
    await postern.database.query(
      testSql(
        `update authentications set approved_at = approved_at - interval '1 hour' where user_id = $1 and id = $2`,
        [session.user_id, approved.id],
      ),
    );
    const refused = await createKey();
    expect([refused.status, refused.body.errors?.[0]?.code]).toEqual([403, 'fresh_proof_required']);
  });

  test('is not renewed by the token of an app: it cannot become the login of the pages', async () => {
    const page = browser();
    await page.signIn(victim);
    const token = await appToken(page);
    const other = browser();
    const taken = await other.post('/pages/session', { authentication_token: token });
    expect([taken.status, taken.headers.getSetCookie()]).toEqual([401, []]);
    other.jar.set('postern-page', token);
    expect((await other.flow(await other.visit((await begin('page')).url))).next).toBe('sign_in');
  });
});

describe('a program of the same device', () => {
  test.each(['com.example.app:/callback', 'http://127.0.0.1:5005/done'])(
    'gets no login without a click at %s, also where the user has agreed before',
    async (redirect_to) => {
      const page = browser();
      await page.signIn(victim);
      const visit = async () => page.visit((await begin('page', { redirect_to })).url);
      expect(codeOf((await page.answer(await visit(), 'allow')).url)).not.toBe('');
      const state = await visit();
      expect((await page.flow(state)).next).toBe('ask');
      expect((await page.answer(state)).next).toBe('ask');
      expect(codeOf((await page.answer(state, 'allow')).url)).not.toBe('');
    },
  );
});

describe('many cookies', () => {
  const logOut = (app: Pick<TestApp, 'url'>, cookie: string, path: string) =>
    fetch(new URL(path, app.url), { method: 'DELETE', headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  const routes = [
    ['/pages/session', 'postern-page'],
    ['/console/session', 'postern_console'],
  ] as const;

  test.each(routes)('DELETE %s looks at four of them', async (path, name) => {
    const tokens: string[] = [];
    for (let count = 0; count < 6; count += 1) tokens.push((await signIn(postern, victim)).token);
    const cookie = tokens.map((token) => `${name}=${token}`).join('; ');
    expect((await logOut(postern, cookie, path)).status).toBe(204);
    const statuses: number[] = [];
    for (const basic of tokens) statuses.push((await postern.api('POST', '/v1/sessions', { basic })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 201, 201]);
  });

  test.each(routes)('DELETE %s counts them by address, and a logout with one is not counted', async (path, name) => {
    const app = await postern.another({ LOGIN_LIMIT_PER_ADDRESS: '1', PORT: '0' });
    try {
      const statuses: number[] = [];
      for (let count = 0; count < 3; count += 1)
        statuses.push((await logOut(app, `${name}=a; ${name}=b`, path)).status);
      expect(statuses.at(-1)).toBe(429);
      const one = await logOut(app, `${name}=a`, path);
      expect([one.status, one.headers.getSetCookie().length]).toEqual([204, 1]);
    } finally {
      await app.close();
    }
  });

  test('POST /pages/session with a token is counted by address', async () => {
    const app = await postern.another({ LOGIN_LIMIT_PER_ADDRESS: '1', PORT: '0' });
    try {
      const page = createPageBrowser(() => app);
      const statuses: number[] = [];
      for (let count = 0; count < 3; count += 1)
        statuses.push((await page.post('/pages/session', { authentication_token: 'x' })).status);
      expect(statuses.at(-1)).toBe(429);
      expect((await page.post('/pages/session', null)).status).toBe(200);
    } finally {
      await app.close();
    }
  });
});

describe('a device is not marked as a browser at the pages', () => {
  const marked = (user: User) =>
    postern.database.query(testSql('select id from devices where user_id = $1 and is_page', [user.id]));

  test('by a token that is bound to a key, which cannot be the login of the pages', async () => {
    const user = await createUser(postern);
    const { token } = await bindLogin(postern, user, { model: 'Fairphone' });
    expect((await browser().post('/pages/session', { authentication_token: token })).status).toBe(401);
    expect(await marked(user)).toEqual([]);
  });

  test('by a token that is refused', async () => {
    const user = await createUser(postern);
    const { token } = await signIn(postern, user);
    await postern.api('POST', `/admin/v1/users/${user.id}/lock`, {
      bearer: postern.adminKey,
      body: { permanent: true },
    });
    const { status } = await browser().post('/pages/session', { authentication_token: token });
    expect([await marked(user), status]).toEqual([[], 401]);
  });
});
