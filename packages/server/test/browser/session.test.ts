import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { codeTo } from '../../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createUser, newEmail, password } from '../../../../test/support/users.js';
import {
  createAccount,
  createInbox,
  createLogin,
  createPostern,
  type Fetch,
  mergeGuest,
  type Postern,
  passwordProof,
  startRegistration,
} from '../../../client/src/index.js';
import {
  type BrowserSession,
  type BrowserSessionOptions,
  createBrowserSession,
  createPosternServer,
  expressHandler,
  fastifyHandler,
  type PosternServer,
} from '../../src/index.js';
import { lost } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', REGISTRATION: 'on', GUESTS: 'on' });
});
afterAll(() => app.close());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Web {
  readonly server: PosternServer;
  readonly auth: BrowserSession;
  /** What the backend sent to Postern. */
  readonly sent: { readonly method: string; readonly path: string; readonly headers: Headers }[];
  answer: (() => Response) | undefined;
}

function webOf(options: Partial<BrowserSessionOptions> = {}): Web {
  const send: Fetch = async (input, init) => {
    const { pathname } = new URL(`${input}`);
    web.sent.push({ method: init?.method ?? 'GET', path: pathname, headers: new Headers(init?.headers) });
    return web.answer?.() ?? fetch(input, init);
  };
  const server = createPosternServer({ url: app.url, apiKey: app.adminKey, fetch: send, timeout: 60_000 });
  const auth = createBrowserSession(server, { basePath: '/auth', ...options });
  const web: Web = { server, auth, sent: [], answer: undefined };
  return web;
}

/** A browser: it keeps cookies and says where its requests come from. */
function browserOf(origin: string, handle: Fetch) {
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];
  const bodies: string[] = [];
  const send: Fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    headers.set('origin', origin);
    headers.set('sec-fetch-site', 'same-origin');
    const answer = await handle(input, { ...init, headers });
    for (const text of answer.headers.getSetCookie()) {
      setCookies.push(text);
      const [name = '', value = ''] = (text.split(';', 1)[0] ?? '').split('=');
      if (/Max-Age=0\b/.test(text)) cookies.delete(name);
      else cookies.set(name, value);
    }
    if (!/event-stream/.test(answer.headers.get('content-type') ?? '')) bodies.push(await answer.clone().text());
    return answer;
  };
  const open = (): Postern => {
    const postern = createPostern({ url: `${origin}/auth`, storage: 'backend', fetch: send, timeout: 60_000 });
    closers.push(() => postern.close());
    return postern;
  };
  return { cookies, setCookies, bodies, send, open };
}

const handlerOf =
  ({ auth }: Web): Fetch =>
  (input, init) =>
    auth.handler(new Request(input, init), { address: '198.51.100.7' });

/** The same backend in each framework. */
const frameworks: Record<string, (web: Web) => Promise<{ origin: string; handle: Fetch }>> = {
  async Express({ auth }) {
    const web = express();
    web.use(expressHandler(auth));
    web.use(express.json());
    web.get('/', (_, response) => {
      response.send('home');
    });
    const server = createServer(web);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, handle: fetch };
  },
  async Fastify({ auth }) {
    const web = fastify({ forceCloseConnections: true });
    await web.register(fastifyHandler(auth));
    web.post('/echo', async (request) => request.body);
    await web.listen({ port: 0, host: '127.0.0.1' });
    closers.push(() => web.close());
    return { origin: `http://127.0.0.1:${(web.server.address() as AddressInfo).port}`, handle: fetch };
  },
  async 'fetch handler'(web) {
    return { origin: 'https://app.example.com', handle: handlerOf(web) };
  },
};

async function logIn(postern: Postern, username: string | null) {
  const done = await createLogin(postern)
    .start()
    .password({ identity: username ?? '', password });
  expect(done.step).toBe('done');
}

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test('a page logs in, reads, streams and logs out, and never sees the authentication token', async () => {
    const web = webOf();
    const { origin, handle } = await start(web);
    const browser = browserOf(origin, handle);
    const user = await createUser(app);
    const page = browser.open();
    expect(await page.ready()).toMatchObject({ status: 'signed_out' });
    await logIn(page, user.username);
    expect(await page.getSession()).toMatchObject({ user_id: user.id });

    const seen: string[] = [];
    const stop = new AbortController();
    const live = (async () => {
      for await (const event of createInbox(page).live({ signal: stop.signal })) seen.push(JSON.stringify(event));
    })().catch(() => undefined);
    let count = 0;
    await eventually('an event arrives in the stream', async () => {
      count += 1;
      await web.server.publish(
        { user_id: user.id, notification_type: 'payment', description: 'through the backend' },
        { idempotencyKey: `${user.id}-${count}` },
      );
      return seen.some((event) => event.includes('through the backend')) ? true : undefined;
    });
    stop.abort();
    await live;
    const { data } = await createInbox(page).list({ limit: 1 }).page();
    await createInbox(page).markRead(data[0] ?? { sequence: 0 });

    // After a reload, only the cookie knows who is logged in.
    const reloaded = browser.open();
    expect(await reloaded.ready()).toMatchObject({ status: 'signed_in', user_id: user.id });
    expect(await reloaded.logOut()).toEqual({ revoked: true });
    expect((await web.server.users.sessions(user.id).page()).data).toEqual([]);
    expect(await browser.open().ready()).toMatchObject({ status: 'signed_out' });
    expect(browser.bodies.join()).not.toContain('psa_');
    for (const { path, headers } of web.sent) expect([path, headers.get('cookie')]).toEqual([path, null]);
  });

  test('a request of another site is refused before Postern sees it', async () => {
    const web = webOf();
    const { origin, handle } = await start(web);
    const body = JSON.stringify({ identity: 'ada', authenticator: 'password', secret: password, device: {} });
    const type = { 'content-type': 'application/json' };
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin, 'sec-fetch-site': 'cross-site' },
      { origin, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: `${origin}.evil.example` },
    ]) {
      const answer = await handle(`${origin}/auth/v1/tokens`, {
        method: 'POST',
        headers: { ...type, ...headers },
        body,
      });
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(web.sent).toEqual([]);
  });
});

test('a request of an old browser without Sec-Fetch-Site is checked by its Origin, also behind a proxy that ends TLS', async () => {
  const web = webOf({ origin: 'https://app.example.com', allowedOrigins: ['https://other.example.com'] });
  const post = async (headers: Record<string, string>) =>
    (await web.auth.handler(new Request('http://10.0.0.7:3000/auth/v1/sessions', { method: 'POST', headers }))).status;
  expect(await post({ origin: 'https://app.example.com' })).toBe(200);
  expect(await post({ origin: 'https://other.example.com', 'sec-fetch-site': 'cross-site' })).toBe(200);
  expect(await post({ origin: 'http://10.0.0.7:3000' })).toBe(403);
});

/** A browser at an https origin that is logged in. */
async function loggedIn(web: Web) {
  const origin = 'https://app.example.com';
  const context = { address: '198.51.100.7' };
  const browser = browserOf(origin, (input, init) => web.auth.handler(new Request(input, init), context));
  const user = await createUser(app);
  const page = browser.open();
  await logIn(page, user.username);
  return { browser, user, page, origin };
}

test('the cookie is HttpOnly, bound to its host and to https', async () => {
  const { browser } = await loggedIn(webOf());
  const [login = '', device = ''] = browser.setCookies;
  expect(login).toMatch(/^__Host-postern=psa_[\w-]+; Path=\/; Max-Age=\d{5,}; HttpOnly; SameSite=Lax; Secure$/);
  expect(device).toMatch(
    /^__Host-postern-device=[\w-]{36}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure$/,
  );
  // Browsers accept no `__Host-` for a domain.
  const shared = await loggedIn(webOf({ cookie: { domain: 'example.com' } }));
  expect(shared.browser.setCookies[0]).toMatch(/^__Secure-postern=psa_\S+; .*; Secure; Domain=example.com$/);
  const named = await loggedIn(webOf({ cookie: { name: 'app', domain: 'example.com', sameSite: 'strict' } }));
  expect(named.browser.setCookies[0]).toMatch(/^app=psa_\S+; .*SameSite=Strict; Secure; Domain=example.com$/);
});

test('a browser keeps its device across logins', async () => {
  const { browser, user, page } = await loggedIn(webOf());
  const first = await page.getSession();
  await page.logOut();
  const next = browser.open();
  await logIn(next, user.username);
  expect((await next.getSession())?.device_id).toBe(first?.device_id);
});

test('a registration that signs in gives the page no token', async () => {
  const web = webOf();
  const origin = 'https://app.example.com';
  const browser = browserOf(origin, handlerOf(web));
  const email = newEmail();
  const page = browser.open();
  const pending = await startRegistration(page, { identity: email });
  const account = await pending.complete({ code: await codeTo(app, email), signIn: true });
  expect(await page.getSession()).toMatchObject({ user_id: account.id });
  expect(await browser.open().ready()).toMatchObject({ status: 'signed_in', user_id: account.id });
  expect(browser.bodies.join()).not.toContain('psa_');
  expect([...browser.cookies.keys()]).toEqual(['__Host-postern', '__Host-postern-device']);
});

describe('a guest', () => {
  const names = ({ cookies }: ReturnType<typeof browserOf>) => [...cookies.keys()].sort();
  /** A guest who is signed in, with a page of the same browser. */
  async function enter() {
    const browser = browserOf('https://app.example.com', handlerOf(webOf()));
    // The page reloads for the login, and remembers the guest.
    const marks = stubLocalStorage();
    const state = await createLogin(browser.open()).start().guest();
    if (state.step !== 'done') throw new Error(state.issue?.message);
    return { browser, id: state.user_id, marks };
  }
  /** The same browser with an account of its own. */
  async function logInAs(page: Postern): Promise<void> {
    await logIn(page, (await createUser(app)).username);
  }
  const guestStillExists = async (id: string) =>
    (await app.api('GET', `/admin/v1/users/${id}`, { bearer: app.adminKey })).status === 200;

  test('is merged into the account that logs in, and the page never sees a token', async () => {
    const { browser, id, marks } = await enter();
    expect(names(browser)).toEqual(['__Host-postern', '__Host-postern-device', '__Host-postern-guest']);
    const page = browser.open();
    expect(await page.ready()).toMatchObject({ status: 'signed_in', user_id: id });
    await logInAs(page);
    expect(await mergeGuest(page)).toEqual({ id, moved: 0 });
    expect(await guestStillExists(id)).toBe(false);
    expect(names(browser)).toEqual(['__Host-postern', '__Host-postern-device']);
    expect(browser.bodies.join() + [...marks.values()].join()).not.toContain('psa_');
    expect(await mergeGuest(page)).toBeNull();
  });

  test('is not merged into the account of the next person after a logout', async () => {
    const { browser, id } = await enter();
    const page = browser.open();
    await page.ready();
    await page.logOut();
    expect(names(browser)).toEqual(['__Host-postern-device']);
    await logInAs(page);
    expect(await mergeGuest(page)).toBeNull();
    expect(await guestStillExists(id)).toBe(true);
  });

  test('of another browser is not merged by a token in the request', async () => {
    const { browser } = await enter();
    const other = browserOf('https://app.example.com', handlerOf(webOf()));
    const page = other.open();
    await logInAs(page);
    const token = browser.cookies.get('__Host-postern-guest');
    const answer = await page.fetch('https://app.example.com/auth/v1/account/guest', {
      ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) },
    });
    expect(answer.status).toBe(400);
  });
});

test('a new password keeps the login of all tabs, and ends the former token', async () => {
  stubLocalStorage();
  const { cookies, bodies, open } = browserOf('https://app.example.com', handlerOf(webOf()));
  const user = await createUser(app);
  const [postern, otherTab] = [open(), open()];
  await logIn(postern, user.username);
  await otherTab.getSession();
  const former = cookies.get('__Host-postern');
  const changed = await createAccount(postern).setPassword('the moon and back again', {
    proof: passwordProof(password),
  });
  expect(changed).toMatchObject({ id: user.id });
  for (const tab of [postern, otherTab]) {
    expect(await tab.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
    expect(tab.current.status).toBe('signed_in');
  }
  expect(cookies.get('__Host-postern')).not.toBe(former);
  expect(bodies.join()).not.toContain('psa_');
  expect(await postern.logOut()).toEqual({ revoked: true });
});

describe('without a login', () => {
  const ask = async (cookie: string, method = 'POST', path = '/sessions') => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    return webOf().auth.handler(new Request(`https://app.example.com/auth/v1${path}`, { method, headers }));
  };

  // Another tab may have got a new token since a request for a session was sent, so only a logout removes the cookie.
  test.each([
    ['no cookie', '', []],
    [
      'the cookie of a login that has ended',
      '__Host-postern=psa_ended',
      [expect.stringMatching(/^__Host-postern=;.*Max-Age=0/)],
    ],
  ])('%s: the answer is no error, because browsers show each one in their console', async (_, cookie, setCookies) => {
    const answer = await ask(cookie);
    expect([answer.status, await answer.json()]).toEqual([200, { token: null }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([]);
    const logout = await ask(cookie, 'DELETE', '/tokens');
    expect([logout.status, logout.body]).toEqual([204, null]);
    expect(logout.headers.getSetCookie()).toEqual(setCookies);
  });

  test('a challenge of a proxy never offers Basic, for which browsers open a window of their own', async () => {
    const challenge = { status: 401, headers: { 'www-authenticate': 'Basic realm="proxy"' } };
    const postern = createPosternServer({ url: app.url, fetch: async () => new Response(null, challenge) });
    const { handler } = createBrowserSession(postern, { basePath: '/auth', clientAddress: 'none' });
    const headers = { cookie: '__Host-postern=psa_kept', 'sec-fetch-site': 'same-origin' };
    const answer = await handler(new Request('https://app.example.com/auth/v1/sessions', { method: 'POST', headers }));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Cookie realm="postern"']);
    // Only Postern knows that a login has ended.
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

test('the handler serves only the API for users', async () => {
  const web = webOf();
  const { auth } = web;
  const bearer = { authorization: `Bearer ${app.adminKey}` };
  for (const path of [
    '/auth/admin/v1/users',
    '/auth/v1/../admin/v1/users',
    '/auth/v1/%2e%2e/admin/v1/users',
    '/auth',
    '/authv1/devices',
    '/v1/devices',
  ]) {
    const { status } = await auth.handler(new Request(`https://app.example.com${path}`, { headers: bearer }));
    expect([path, status]).toEqual([path, 404]);
  }
  expect(web.sent).toEqual([]);
  const encoded = new Request('https://app.example.com/auth/v1/..%2fadmin%2fv1%2fusers', { headers: bearer });
  expect((await auth.handler(encoded)).status).toBe(404);
});

test('a credential of the page other than Bearer does not reach Postern', async () => {
  const web = webOf();
  const headers = { authorization: `Basic ${btoa('psa_stolen:')}`, 'x-forwarded-for': '203.0.113.9', cookie: 'a=b' };
  await web.auth.handler(new Request('https://app.example.com/auth/v1/devices', { headers }));
  expect([...(web.sent[0]?.headers.keys() ?? [])]).toEqual([]);
});

test('if a subdomain has added a second cookie, no cookie is used', async () => {
  const web = webOf();
  const headers = {
    cookie: '__Host-postern=psa_one; __Host-postern=psa_two',
    'sec-fetch-site': 'same-origin',
  };
  const request = new Request('https://app.example.com/auth/v1/sessions', { method: 'POST', headers });
  expect(await (await web.auth.handler(request)).json()).toEqual({ token: null });
  expect(web.sent).toEqual([]);
});

test('a logout with a second cookie of a subdomain ends both logins, and removes the cookie', async () => {
  const web = webOf({ cookie: { domain: 'example.com' } });
  const [own, planted] = await Promise.all([loggedIn(web), loggedIn(web)]);
  const tokens = [own, planted].map(({ browser }) => browser.cookies.get('__Secure-postern') ?? '');
  expect(tokens.every((token) => token.startsWith('psa_'))).toBe(true);
  const headers = {
    cookie: ['rubbish"', ...tokens].map((token) => `__Secure-postern=${token}`).join('; '),
    'sec-fetch-site': 'same-origin',
  };
  const request = new Request('https://app.example.com/auth/v1/tokens', { method: 'DELETE', headers });
  const answer = await web.auth.handler(request);
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([
    204,
    [expect.stringMatching(/^__Secure-postern=; .*Max-Age=0/)],
  ]);
  for (const basic of tokens) expect((await app.api('POST', '/v1/sessions', { basic })).status).toBe(401);
});

test.each<[string, BrowserSessionOptions['clientAddress'], string]>([
  ['the connection', 'socket', '198.51.100.7'],
  ['the last hop that your proxy wrote', 'proxy', '203.0.113.8'],
  ['a function', () => '192.0.2.1', '192.0.2.1'],
])('Postern learns the address of the client from %s', async (_, clientAddress, address) => {
  const web = webOf({ clientAddress });
  const headers = { 'x-forwarded-for': '203.0.113.9, 203.0.113.8' };
  const request = new Request('https://app.example.com/auth/v1/login-options', { headers });
  expect((await web.auth.handler(request, { address: '198.51.100.7' })).status).toBe(200);
  expect(web.sent[0]?.headers.get('x-forwarded-for')).toBe(address);
});

describe('without the address of the client', () => {
  const post = (path: string, method = 'POST') =>
    new Request(`https://app.example.com/auth/v1${path}`, {
      ...{ method, headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }, body: '{}' },
    });
  const limited = [
    ...['/tokens', '/tokens/', '/%74okens', '/tokens/5b0f3c51-b0d4-4c42-8b2e-39ef2b1b2d2c/secret', '/registrations'],
    ...['/recoveries', '/recoveries/x', '/recovery-cancellations', '/account/proofs', '/account/email'],
  ];

  test.each<[string, BrowserSessionOptions['clientAddress']]>([
    ['the default', undefined],
    ['a proxy that sends none', 'proxy'],
    ['a function that finds none', () => null],
    ['a function that finds an empty one', () => ''],
  ])('the first request that Postern limits by address throws: %s', async (_, clientAddress) => {
    const web = webOf({ clientAddress });
    for (const path of limited) {
      await expect(web.auth.handler(post(path)), path).rejects.toThrow("`clientAddress`: 'proxy'");
    }
    expect(web.sent).toEqual([]);
    expect((await web.auth.handler(new Request('https://app.example.com/auth/v1/login-options'))).status).toBe(200);
    expect((await web.auth.handler(post('/sessions'))).status).toBe(200);
    expect((await web.auth.handler(post('/tokens', 'DELETE'))).status).toBe(204);
    expect((await web.auth.handler(post('/notifications/marker', 'PUT'))).status).toBe(401);
  });

  test('`none` says that all users share the limits', async () => {
    const web = webOf({ clientAddress: 'none' });
    for (const path of limited) expect((await web.auth.handler(post(path))).status, path).toBeLessThan(500);
    for (const { headers } of web.sent) expect(headers.get('x-forwarded-for')).toBeNull();
  });

  test('Express and Fastify answer 500, and the app gets the error', async () => {
    const { auth } = webOf({ clientAddress: 'proxy' });
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const logIn = { method: 'POST', headers, body: '{}' };
    const errors: unknown[] = [];
    const web = express();
    web.use(expressHandler(auth));
    web.use((error: Error, _: unknown, response: express.Response, next: (error: Error) => void) => {
      errors.push(error.message);
      if (response.headersSent) next(error);
      else response.status(500).end();
    });
    const server = createServer(web);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closers.push(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${port}/auth/v1/tokens`, logIn)).status).toBe(500);

    const lines: string[] = [];
    const other = fastify({
      forceCloseConnections: true,
      logger: { stream: { write: (line) => void lines.push(line) } },
    });
    await other.register(fastifyHandler(auth));
    closers.push(() => other.close());
    const origin = await other.listen({ port: 0, host: '127.0.0.1' });
    expect((await fetch(`${origin}/auth/v1/tokens`, logIn)).status).toBe(500);
    errors.push(...lines.filter((line) => line.includes('clientAddress')));
    expect(errors).toEqual([expect.stringContaining('clientAddress'), expect.stringContaining('clientAddress')]);
  });
});

test('calls with one request object share a session, also if it stands in several wrappers', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  const rows = async () => (await web.server.users.sessions(user.id, { limit: 100 }).page()).data.length;
  const before = await rows();
  const { auth } = web;
  const headers = new Headers({ cookie });
  const request = new Request('https://app.example.com/', { headers: { cookie } });
  const plain = { headers: { cookie } };
  // As in Next.js, whose requests have only headers.
  const found = await Promise.all([
    auth.session({ headers }),
    auth.session({ headers }),
    auth.snapshot({ headers }, {}),
  ]);
  expect([await rows(), found[0]?.id]).toEqual([before + 1, found[1]?.id]);
  await auth.session(request);
  await auth.snapshot({ raw: request }, { account: true });
  expect(await rows()).toBe(before + 2);
  await auth.session(plain);
  await auth.session(plain);
  expect(await rows()).toBe(before + 3);
  // Equal headers are not the same request.
  expect(await auth.session({ headers: { cookie } })).not.toBeNull();
  expect(await rows()).toBe(before + 4);
});

test('a failed look-up of the session of a request is not kept', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  const request = { headers: { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') } };
  web.answer = lost;
  await expect(web.auth.session(request)).rejects.toMatchObject({ kind: 'network' });
  web.answer = undefined;
  expect(await web.auth.session(request)).toMatchObject({ user_id: user.id });
});

test('while Postern is unavailable the user stays logged in, and a logout takes effect at once', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  web.answer = lost;
  await expect(browser.open().getSession()).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(browser.cookies.has('__Host-postern')).toBe(true);
  web.answer = undefined;
  const page = browser.open();
  expect(await page.ready()).toMatchObject({ status: 'signed_in', user_id: user.id });
  web.answer = lost;
  expect(await page.logOut()).toEqual({ revoked: false });
  expect(browser.cookies.has('__Host-postern')).toBe(false);
});

/** As much of `localStorage` as a page has. */
function stubLocalStorage(): Map<string, string> {
  const values = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  });
  closers.push(() => vi.unstubAllGlobals());
  return values;
}

describe('logging out', () => {
  test('ends renewal: requests of the page that are on their way do not undo it', async () => {
    stubLocalStorage();
    const web = webOf();
    const { send, open } = browserOf('https://app.example.com', handlerOf(web));
    const user = await createUser(app);
    for (let round = 0; round < 12; round += 1) {
      const [postern, otherTab] = [open(), open()];
      await logIn(postern, user.username);
      await otherTab.getSession();
      // Hooks that the page shows ask for their data at any moment around the logout.
      const requests = [postern, otherTab].map((tab) => tab.getSession({ fresh: true }).catch(() => null));
      for (let step = 0; step < round; step += 1) await Promise.resolve();
      await Promise.all([postern.logOut(), ...requests]);
      await eventually(`both tabs in round ${round}`, async () =>
        [postern, otherTab].every(({ current }) => current.status === 'signed_out') ? true : undefined,
      );
      const before = web.sent.length;
      const calls = [postern, otherTab].map((tab) => createInbox(tab).marker());
      for (const call of calls) await expect(call).rejects.toMatchObject({ kind: 'signed_out' });
      expect(web.sent.slice(before)).toEqual([]);
      const session = await send('https://app.example.com/auth/v1/sessions', { method: 'POST' });
      expect(await session.json()).toEqual({ token: null });
      for (const tab of [postern, otherTab]) tab.close();
    }
  });

  test('without a network is remembered: no session is asked for, and the next start ends the login first', async () => {
    const values = stubLocalStorage();
    const web = webOf();
    const handle = handlerOf(web);
    let isOnline = true;
    const { cookies, open } = browserOf('https://app.example.com', (input, init) =>
      isOnline ? handle(input, init) : lost(),
    );
    const user = await createUser(app);
    const postern = open();
    await logIn(postern, user.username);
    const cookie = cookies.get('__Host-postern') ?? '';
    isOnline = false;
    expect(await postern.logOut()).toEqual({ revoked: false });
    postern.close();
    expect(values.size).toBe(1);
    expect(cookie).not.toBe('');
    for (const secret of cookie.split('.')) expect([...values.values()].join()).not.toContain(secret);

    const offline = open();
    expect(await offline.ready()).toEqual({ status: 'signed_out', reason: 'logged_out' });
    expect(await offline.getSession({ fresh: true })).toBeNull();
    offline.close();

    isOnline = true;
    const before = web.sent.length;
    const next = open();
    expect(await next.getSession()).toBeNull();
    await eventually('the end of the login', async () => (cookies.has('__Host-postern') ? undefined : true));
    expect(web.sent.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual(['DELETE /v1/tokens']);
    await eventually('the mark', async () => (values.size === 0 ? true : undefined));
    // The next login is not ended by what was remembered.
    await logIn(next, user.username);
    expect(await next.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
    next.close();
  });

  test('a login right after a logout is not ended by it', async () => {
    const web = webOf();
    const { open } = browserOf('https://app.example.com', handlerOf(web));
    const user = await createUser(app);
    const postern = open();
    await logIn(postern, user.username);
    const leaving = postern.logOut();
    await Promise.all([logIn(postern, user.username), leaving]);
    expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
  });
});

test('a login that has ended at Postern signs the page out, and a late answer does not remove a newer cookie', async () => {
  const web = webOf();
  const { browser, user, page } = await loggedIn(web);
  await web.server.users.logOut(user.id);
  expect(await page.getSession({ fresh: true })).toBeNull();
  expect(page.current).toEqual({ status: 'signed_out', reason: 'ended' });
  const ended = new Headers({ cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') });
  await logIn(page, user.username);
  const late = await web.auth.handler(
    new Request('https://app.example.com/auth/v1/sessions', {
      method: 'POST',
      headers: { ...Object.fromEntries(ended), 'sec-fetch-site': 'same-origin' },
    }),
  );
  expect([await late.json(), late.headers.getSetCookie()]).toEqual([{ token: null }, []]);
  expect(await page.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
});

test('`session` returns the user who opens a page, without a token', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  const session = await web.auth.session({ headers: { cookie } });
  expect(session).toMatchObject({ user_id: user.id });
  expect(JSON.stringify(session)).not.toMatch(/ps[as]_/);
  expect(await web.auth.session({ headers: new Headers() })).toBeNull();
  expect(await web.auth.session({ headers: { cookie: '__Host-postern=psa_unknown' } })).toBeNull();
  web.answer = lost;
  await expect(web.auth.session({ headers: { cookie } })).rejects.toMatchObject({ kind: 'network' });
});

test('`session` does not accept the cookie of plain http where the origin or the request shows https', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  const token = browser.cookies.get('__Host-postern') ?? '';
  const headers = { cookie: `postern=${token}` };
  expect(await web.auth.session({ headers })).toMatchObject({ user_id: user.id });
  expect(await web.auth.session(new Request('http://app.example.com/', { headers }))).not.toBeNull();
  expect(await web.auth.session(new Request('https://app.example.com/', { headers }))).toBeNull();
  const overTls = { headers, url: '/', socket: { encrypted: true } };
  expect(await web.auth.session(overTls)).toBeNull();
  const known = webOf({ origin: 'https://app.example.com' });
  expect(await known.auth.session({ headers })).toBeNull();
});

test('`snapshot` contains the parts that a page requests, and no token', async () => {
  const web = webOf();
  const { browser, user } = await loggedIn(web);
  const headers = { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') };
  const filter = { notification_type: 'payment' } as const;
  const notice = { user_id: user.id, notification_type: 'payment', description: 'hello' } as const;
  await web.server.publish(notice, { idempotencyKey: user.id });
  const snapshot = await web.auth.snapshot({ headers }, { account: true, inbox: { filter, limit: 5 }, devices: true });
  expect(snapshot).toMatchObject({
    ...{ session: { user_id: user.id }, account: { id: user.id }, devices: [{ current: true }] },
    inbox: { filter, marker: { unread_count: 1 }, page: { data: [{ description: 'hello' }], page: { limit: 5 } } },
  });
  expect(JSON.stringify(snapshot)).not.toMatch(/ps[as]_/);
  expect(Object.keys(await web.auth.snapshot({ headers }, {}))).toEqual(['session']);
  expect(await web.auth.snapshot({ headers: {} }, { account: true })).toEqual({ session: null });
});

test('a login whose body is too long is refused', async () => {
  const request = new Request('https://app.example.com/auth/v1/tokens', {
    ...{ method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, body: 'x'.repeat(70_000) },
  });
  const web = webOf({ clientAddress: 'none' });
  expect((await web.auth.handler(request)).status).toBe(413);
  expect(web.sent).toEqual([]);
});

test('the exported methods for a file-based router respond like the handler', async () => {
  const { routes } = webOf().auth;
  const answer = await routes.GET(new Request('https://app.example.com/auth/v1/login-options'));
  expect(answer.status).toBe(200);
  expect(Object.keys(routes)).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
});

test.each<[string, Partial<BrowserSessionOptions>]>([
  ['a relative path', { basePath: 'auth' as '/auth' }],
  ['the root', { basePath: '/' }],
  ['a slash at the end', { basePath: '/auth/' }],
  ['an origin with a path', { origin: 'https://app.example.com/x' }],
  ['an origin without a scheme', { allowedOrigins: ['app.example.com'] }],
])('%s is a usage error', (_, options) => {
  expect(() => webOf(options)).toThrow(expect.objectContaining({ kind: 'usage' }));
});

test('a client of another kind is a usage error', () => {
  expect(() => createBrowserSession({} as PosternServer, { basePath: '/auth' })).toThrow('createPosternServer');
});
