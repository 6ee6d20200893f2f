import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createRedirectBrowser } from '../../../../test/support/redirect-browser.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createAccount, createLogin, createPostern, type Fetch } from '../../../client/src/index.js';
import { createBrowserSession, createPosternServer } from '../../src/index.js';

const publicUrl = 'http://127.0.0.1:9';
const origin = 'https://app.example.com';
const redirectTo = `${origin}/sign-in`;

let vendor: Vendor;
let app: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  app = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: redirectTo, TRUST_PROXY: '127.0.0.1' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
    }),
  });
});
afterAll(async () => {
  await app.close();
  await vendor.close();
});
beforeEach(() => {
  vendor.account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true };
});

interface Sent {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A page with a backend. Its requests, and those of the backend, are recorded. */
function startPage() {
  const [byPage, byBackend, setCookies]: [Sent[], Sent[], string[]] = [[], [], []];
  const record = (list: Sent[], input: unknown, body: unknown) => {
    list.push({ path: new URL(`${input}`).pathname, body: typeof body === 'string' ? JSON.parse(body) : {} });
  };
  const server = createPosternServer({
    url: app.url,
    fetch: (input, init) => {
      record(byBackend, input, init?.body);
      return fetch(input, init);
    },
  });
  const auth = createBrowserSession(server, { basePath: '/auth', origin, clientAddress: 'none' });
  const cookies = new Map<string, string>();
  const send: Fetch = async (input, init = {}) => {
    record(byPage, input, init.body);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    headers.set('sec-fetch-site', 'same-origin');
    const answer = await auth.handler(new Request(input, { ...init, headers }));
    for (const text of answer.headers.getSetCookie()) {
      setCookies.push(text);
      const [name = '', value = ''] = (text.split(';', 1)[0] ?? '').split('=');
      if (/Max-Age=0\b/.test(text)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const postern = createPostern({ url: `${origin}/auth`, storage: 'backend', fetch: send, timeout: 60_000 });
  return { postern, cookies, setCookies, byPage, byBackend };
}

test('the backend keeps the code verifier in a cookie, and the page never has it', async () => {
  const page = startPage();
  const browser = createRedirectBrowser(vendor, { publicUrl, url: app.url });
  let verifier = '';
  const open = (url: string) => {
    const [name = '', value = ''] = [...page.cookies].find(([one]) => one.includes('redirect')) ?? [];
    expect(name).toBe(`__Host-postern-redirect-${url.split('/').at(-1)}`);
    expect(page.setCookies.at(-1)).toBe(`${name}=${value}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`);
    verifier = value;
    return browser.goThrough(url);
  };
  const state = await createLogin(page.postern).redirect('oidc:google', { redirectTo, open });
  expect(state.step).toBe('done');
  expect(await page.postern.getSession()).toMatchObject({ token: expect.stringMatching(/^pss_/) });
  expect(JSON.stringify(page.byPage)).not.toMatch(/code_verifier|code_challenge/);
  const [started, ended] = page.byBackend;
  expect(started?.body.code_challenge).toBe(createHash('sha256').update(verifier).digest('base64url'));
  expect(JSON.parse(`${ended?.body.secret}`)).toEqual({ code: expect.any(String), code_verifier: verifier });
  expect([...page.cookies.keys()].sort()).toEqual(['__Host-postern', '__Host-postern-device']);
});

test('the backend keeps the code verifier of a proof, too, and adds it to the change that uses the proof', async () => {
  vendor.account = { sub: randomUUID() };
  const page = startPage();
  const browser = createRedirectBrowser(vendor, { publicUrl, url: app.url });
  const open = (url: string) => browser.goThrough(url);
  await createLogin(page.postern).redirect('oidc:google', { redirectTo, open });
  vendor.account = { ...vendor.account, auth_time: Math.floor(Date.now() / 1000) };
  const account = createAccount(page.postern, {
    async prove({ choices }) {
      const choice = choices.find(({ type }) => type === 'provider');
      return choice?.type === 'provider' ? choice.prove({ redirectTo, open }) : null;
    },
  });
  const name = `grace-${randomUUID().slice(0, 8)}`;
  expect(await account.setUsername(name)).toMatchObject({ username: name });
  expect(JSON.stringify(page.byPage)).not.toMatch(/code_verifier|code_challenge/);
  const proven = page.byBackend.find(({ body }) => body.proof !== undefined)?.body.proof as { readonly secret: string };
  expect(JSON.parse(proven.secret)).toEqual({
    code: expect.any(String),
    code_verifier: expect.stringMatching(/^.{43}$/),
  });
  expect([...page.cookies.keys()].filter((cookie) => cookie.includes('redirect'))).toEqual([]);
  // An answer without a body removes the cookie, too.
  await account.deleteAccount();
  expect([...page.cookies.keys()].filter((cookie) => cookie.includes('redirect'))).toEqual([]);
});

test('two logins of one browser at the same time keep their own verifiers', async () => {
  const page = startPage();
  const browser = createRedirectBrowser(vendor, { publicUrl, url: app.url });
  const leaving: (() => void)[] = [];
  const open = async (url: string) => {
    await new Promise<void>((resolve) => {
      leaving.push(resolve);
      if (leaving.length === 2) for (const leave of leaving) leave();
    });
    return browser.goThrough(url);
  };
  const logIn = () => createLogin(page.postern).redirect('oidc:google', { redirectTo, open });
  const states = await Promise.all([logIn(), logIn()]);
  expect(states.map(({ step }) => step)).toEqual(['done', 'done']);
});

test('a page that makes its own code challenge keeps its verifier', async () => {
  const challenge = createHash('sha256').update('x'.repeat(43)).digest('base64url');
  const server = createPosternServer({ url: app.url });
  const auth = createBrowserSession(server, { basePath: '/auth', origin, clientAddress: 'none' });
  const answer = await auth.handler(
    new Request(`${origin}/auth/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({
        ...{ authenticator: 'oidc:google', redirect_to: redirectTo, code_challenge: challenge, device: {} },
      }),
    }),
  );
  expect({ status: answer.status, cookies: answer.headers.getSetCookie() }).toEqual({ status: 201, cookies: [] });
});
