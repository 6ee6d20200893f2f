// Logins by redirect in a browser, with the packed client and the code of docs/providers.md.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Login, LoginRefused, LoginState, Postern } from '../../packages/client/src/index.js';
import { createBrowserSession, createPosternServer, expressHandler } from '../../packages/server/src/index.js';
import { fencesOf } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser, launchWithoutCookies, launchWithPreferences } from '../support/browser.js';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.js';
import { type PackedProject, packProject } from '../support/packed.js';
import { passOn } from '../support/public-address.js';
import { startVendor, type Vendor } from '../support/vendor.js';

// Defined by the code of the page, in the browser.
declare const window: { postern: Postern; login: Login };

let vendor: Vendor;
/** A real provider with pages to log in and to consent, on another site than the service. */
let house: OpenIdProvider;
let app: TestApp;
let browser: Browser;
let project: PackedProject;
let origin: string;
/** The same pages on another site than the service. */
let elsewhere: string;
let closeSite: () => void;
/** Takes the callbacks, so that the browser stays at the provider. */
let onCallback: ((path: string) => void) | undefined;
beforeAll(async () => {
  vendor = await startVendor();
  project = await packProject(['client']);
  const pages = express();
  const server = createServer(pages);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeSite = () => server.close();
  const { port } = server.address() as AddressInfo;
  [origin, elsewhere] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const redirectUris = ['real', 'posting'].map((name) => `${origin}/callback/${name}`);
  house = await startOpenIdProvider(['ours'], { host: 'localhost', redirectUris });
  const client = { client_id: 'ours', sign_up: true };
  const atHouse = { ...client, client_secret: 'a secret', issuer: house.url, scopes: 'openid email profile' };
  app = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: origin, TRUST_PROXY: '127.0.0.1', CORS_ORIGINS: elsewhere },
    REDIRECT_URIS: [origin, elsewhere].flatMap((at) => Object.keys(variants).map((name) => `${at}/${name}`)).join(','),
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', issuer: vendor.url },
      real: { ...atHouse, preset: 'google' },
      posting: { ...atHouse, preset: 'apple' },
    }),
  });
  const recipe =
    fencesOf('docs/providers.md').find(({ text }) => text.includes("querySelector('#google')"))?.text ?? '';
  const built: Record<string, string> = {};
  for (const [name, { path, storage, provider }] of Object.entries(variants)) {
    const code = recipe
      .replace('https://auth.example.com', origin + path)
      .replace('oidc:google', `oidc:${provider}`)
      .replace('indexedDbStorage() }', `${storage}, timeout: 60_000 }`);
    await project.write(
      `${name}.js`,
      code.replace('\ndocument', '\nObject.assign(window, { postern, login });\ndocument'),
    );
    built[name] = (await project.bundle('esbuild', `${name}.js`, 'page')).entry;
  }
  pages.use(expressHandler(createBrowserSession(createPosternServer({ url: app.url }), { basePath: '/auth' })));
  pages.use('/callback', (asked, response, next) => {
    if (onCallback === undefined) return next();
    onCallback(asked.originalUrl);
    response.status(204).end();
  });
  pages.use('/built', express.static(project.folder));
  pages.get('/:name', (asked, response, next) => {
    const entry = built[asked.params.name];
    if (entry === undefined) return next();
    response.send(
      `<!doctype html><title>App</title><button id="google">Sign in with Google</button><script type="module" src="/built/${entry}"></script>`,
    );
  });
  pages.use((incoming, response) => passOn(app.url, incoming, response));
  browser = await launchBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await vendor?.close();
  await house?.close();
  await project?.remove();
  closeSite?.();
});

const contexts: BrowserContext[] = [];
afterEach(async () => {
  onCallback = undefined;
  for (const context of contexts.splice(0)) await context.close();
});

/** The pages: the code of the documentation, with other storages and providers. */
const variants = {
  direct: { path: '', storage: 'indexedDbStorage()', provider: 'google' },
  backend: { path: '/auth', storage: "'backend'", provider: 'google' },
  real: { path: '', storage: 'indexedDbStorage()', provider: 'real' },
  posting: { path: '', storage: 'indexedDbStorage()', provider: 'posting' },
} as const;

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  contexts.push(context);
  return context;
}
const newAccount = () => {
  const email = `${randomUUID()}@gmail.com`;
  vendor.account = { sub: randomUUID(), email, email_verified: true };
  return email;
};
async function open(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForFunction(() => 'login' in window);
  return page;
}
/** Clicks the button, and waits for the page of the vendor. */
async function leave(page: Page): Promise<void> {
  await page.click('#google');
  await page.waitForURL((url) => url.origin === vendor.url);
}
/** Clicks the link of the vendor, and waits for the app. */
async function comeBack(page: Page, name: string): Promise<void> {
  await page.click('a');
  await page.waitForURL((url) => url.pathname === `/${name}`);
  await page.waitForFunction(() => 'login' in window);
}
const isDone = (page: Page) =>
  page.waitForFunction(() => (window.login.current as LoginState).step === 'done', undefined, { timeout: 60_000 });
const userOf = (page: Page) =>
  page.evaluate(() => ('user_id' in window.postern.current ? window.postern.current.user_id : null));
const emailOf = async (id: string | null) =>
  (await app.api<{ email: string }>('GET', `/admin/v1/users/${id}`, { bearer: app.adminKey })).body.email;

test.each(['direct', 'backend'])('a page signs in with its two lines (%s)', async (name) => {
  const context = await newContext();
  const email = newAccount();
  const page = await open(context, `${origin}/${name}`);
  await leave(page);
  await comeBack(page, name);
  await isDone(page);
  expect(page.url()).toBe(`${origin}/${name}`);
  expect(await emailOf(await userOf(page))).toBe(email);
  await page.reload();
  await page.waitForFunction(() => 'postern' in window);
  const state = await page.evaluate(() => window.postern.ready());
  expect(state.status).toBe('signed_in');
});

test.each(['direct', 'backend'])('two tabs go through the provider at the same time (%s)', async (name) => {
  const context = await newContext();
  const email = newAccount();
  const tabs = [await open(context, `${origin}/${name}`), await open(context, `${origin}/${name}`)];
  for (const tab of tabs) await leave(tab);
  for (const tab of tabs.toReversed()) {
    await comeBack(tab, name);
    await isDone(tab);
    expect(await emailOf(await userOf(tab))).toBe(email);
  }
});

test.each(['direct', 'backend'])('the back button leads to a page that can begin again (%s)', async (name) => {
  newAccount();
  const page = await open(await newContext(), `${origin}/${name}`);
  await leave(page);
  await page.goBack({ waitUntil: 'commit' });
  await page.waitForFunction(() => 'login' in window && window.login.current.step === 'start');
  await leave(page);
  await comeBack(page, name);
  await isDone(page);
});

test.each(['direct', 'backend'])('another browser ignores the answer, and removes it (%s)', async (name) => {
  newAccount();
  const context = await newContext();
  const attacker = await open(context, `${origin}/${name}`);
  await leave(attacker);
  // The attacker keeps the answer, and sends it to somebody else.
  const callback = await attacker.getAttribute('a', 'href');
  const answer = (await context.request.get(callback ?? '', { maxRedirects: 0 })).headers().location ?? '';
  expect(answer).toContain('&code=');
  const victim = await open(await newContext(), answer);
  await victim.waitForURL(`${origin}/${name}`);
  expect(await victim.evaluate(() => window.postern.ready())).toMatchObject({ status: 'signed_out' });
  expect(await victim.evaluate(() => window.login.current)).toMatchObject({ step: 'start', issue: null });
});

/** At the real provider: leaves, and waits for its page. */
async function leaveToHouse(page: Page): Promise<void> {
  await page.click('#google');
  await page.waitForURL((url) => url.origin === house.url);
}
/** At the real provider: logs in, and stops at the page that asks for consent. */
async function logInAtHouse(page: Page, login: string): Promise<void> {
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
}
async function comeBackFromHouse(page: Page, address: string): Promise<void> {
  await page.waitForURL((url) => url.href.startsWith(address));
  await page.waitForFunction(() => 'login' in window);
  await isDone(page);
}
const newLogin = () => `person-${randomUUID()}`;
const mailOf = async (page: Page) => emailOf(await userOf(page));

describe.each(['real', 'posting'])('a real provider on another site (%s)', (name) => {
  test('asks to log in and to consent once, and then sends the browser back at once', async () => {
    const context = await newContext();
    const login = newLogin();
    const page = await open(context, `${origin}/${name}`);
    await leaveToHouse(page);
    await logInAtHouse(page, login);
    await page.click('button[type=submit]');
    await comeBackFromHouse(page, `${origin}/${name}`);
    expect(page.url()).toBe(`${origin}/${name}`);
    expect(await mailOf(page)).toBe(`${login}@gmail.com`);
    await page.evaluate(() => window.postern.logOut());
    const again = await open(context, `${origin}/${name}`);
    await again.click('#google');
    await comeBackFromHouse(again, `${origin}/${name}`);
    expect(await mailOf(again)).toBe(`${login}@gmail.com`);
  });

  test('is left with the back button, and then a login begins again', async () => {
    const login = newLogin();
    const page = await open(await newContext(), `${origin}/${name}`);
    await leaveToHouse(page);
    await logInAtHouse(page, login);
    // Over the pages of the provider, back to the app.
    while (new URL(page.url()).origin === house.url) await page.goBack({ waitUntil: 'commit' });
    await page.waitForFunction(() => 'login' in window && window.login.current.step === 'start');
    await leaveToHouse(page);
    await page.click('button[type=submit]');
    await comeBackFromHouse(page, `${origin}/${name}`);
    expect(await mailOf(page)).toBe(`${login}@gmail.com`);
    // Nothing in the history of the browser ends the session, or begins another.
    await page.goBack({ waitUntil: 'commit' });
    await page.goForward({ waitUntil: 'commit' });
    await page.waitForFunction(() => 'postern' in window);
    expect((await page.evaluate(() => window.postern.ready())).status).toBe('signed_in');
  });

  test('serves two tabs at the same time, each its own login', async () => {
    const context = await newContext();
    const login = newLogin();
    const tabs = [await open(context, `${origin}/${name}`), await open(context, `${origin}/${name}`)];
    for (const tab of tabs) await leaveToHouse(tab);
    for (const tab of tabs) await logInAtHouse(tab, login);
    for (const tab of tabs.toReversed()) {
      await tab.click('button[type=submit]');
      await comeBackFromHouse(tab, `${origin}/${name}`);
      expect(await mailOf(tab)).toBe(`${login}@gmail.com`);
    }
  });

  test('ends no login in another browser, and uses nothing up there', async () => {
    const login = newLogin();
    const page = await open(await newContext(), `${origin}/${name}`);
    await leaveToHouse(page);
    await logInAtHouse(page, login);
    const taken = new Promise<string>((resolve) => {
      onCallback = resolve;
    });
    // The form that posts the answer is sent, too.
    const posted = page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/callback/'));
    await page.click('button[type=submit]');
    const [path, body] = [await taken, (await posted).postData()];
    onCallback = undefined;
    const victim = await (await newContext()).newPage();
    await victim.goto(`${origin}/${name}`);
    if (body === null) {
      await victim.goto(origin + path);
    } else {
      await victim.evaluate(`{
        const form = Object.assign(document.createElement('form'), { method: 'post', action: ${JSON.stringify(origin + path)} });
        for (const [name, value] of new URLSearchParams(${JSON.stringify(body)}))
          form.append(Object.assign(document.createElement('input'), { name, value }));
        document.body.append(form);
        form.submit();
      }`);
    }
    await victim.waitForSelector('text=Sign in again in this browser');
    // The own browser: its answer is still good.
    await page.goto(`${origin}/${name}`);
    await page.goto(
      body === null ? origin + path : `${origin}${path}?handle=${new URLSearchParams(body).get('state')}`,
    );
    await comeBackFromHouse(page, `${origin}/${name}`);
    expect(await mailOf(page)).toBe(`${login}@gmail.com`);
  });

  test('works for a page on a third site in a browser that is set to block cookies of other sites', async () => {
    const { context, close } = await launchWithPreferences({
      profile: { block_third_party_cookies: true, cookie_controls_mode: 1 },
    });
    try {
      const login = newLogin();
      const page = await open(context, `${elsewhere}/${name}`);
      await leaveToHouse(page);
      await logInAtHouse(page, login);
      await page.click('button[type=submit]');
      await comeBackFromHouse(page, `${elsewhere}/${name}`);
      expect(await mailOf(page)).toBe(`${login}@gmail.com`);
    } finally {
      await close();
    }
  });
});

test('a browser that blocks all cookies of the service gets a page that says so, and the login can begin again', async () => {
  newAccount();
  const { context, close } = await launchWithPreferences({
    profile: { content_settings: { exceptions: { cookies: { [`${origin},*`]: { setting: 2 } } } } },
  });
  try {
    const page = await open(context, `${elsewhere}/direct`);
    await leave(page);
    await page.click('a');
    await page.waitForSelector('text=Allow cookies for this site');
    await page.goto(`${elsewhere}/direct`);
    await page.waitForFunction(() => 'login' in window && window.login.current.step === 'start');
  } finally {
    await close();
  }
});

test.each(['direct', 'backend'])(
  'a browser that blocks cookies stays on the page, which says why (%s)',
  async (name) => {
    newAccount();
    const blocking = await launchWithoutCookies();
    try {
      const page = await open(blocking.context, `${origin}/${name}`);
      const visits = vendor.authorizations.length;
      await page.click('#google');
      await page.waitForFunction(() => window.login.current.step === 'refused');
      const { reason, message } = await page.evaluate(() => {
        const { step: _, ...state } = window.login.current as LoginRefused;
        return state;
      });
      expect({ reason, message }).toEqual({ reason: 'no_cookies', message: expect.stringContaining('Allow cookies') });
      expect([page.url(), vendor.authorizations.length]).toEqual([`${origin}/${name}`, visits]);
    } finally {
      await blocking.close();
    }
  },
);
