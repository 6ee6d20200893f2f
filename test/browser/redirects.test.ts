// Logins by redirect in a browser, with the packed client and the code of docs/providers.md.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Login, LoginRefused, LoginState, Postern } from '../../packages/client/src/index.js';
import { createBrowserSession, createPosternServer, expressHandler } from '../../packages/server/src/index.js';
import { fencesOf } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser, launchWithoutCookies } from '../support/browser.js';
import { type PackedProject, packProject } from '../support/packed.js';
import { passOn } from '../support/public-address.js';
import { startVendor, type Vendor } from '../support/vendor.js';

// Defined by the code of the page, in the browser.
declare const window: { postern: Postern; login: Login };

let vendor: Vendor;
let app: TestApp;
let browser: Browser;
let project: PackedProject;
let origin: string;
let closeSite: () => void;
beforeAll(async () => {
  vendor = await startVendor();
  project = await packProject(['client']);
  const pages = express();
  const server = createServer(pages);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeSite = () => server.close();
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: origin, REDIRECT_URIS: `${origin}/direct,${origin}/backend`, TRUST_PROXY: '127.0.0.1' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
    }),
  });
  const recipe =
    fencesOf('docs/providers.md').find(({ text }) => text.includes("querySelector('#google')"))?.text ?? '';
  const built: Record<string, string> = {};
  for (const [name, url, storage] of [
    ['direct', origin, 'indexedDbStorage()'],
    ['backend', `${origin}/auth`, "'backend'"],
  ] as const) {
    const code = recipe
      .replace('https://auth.example.com', url)
      .replace('indexedDbStorage() }', `${storage}, timeout: 60_000 }`);
    await project.write(
      `${name}.js`,
      code.replace('\ndocument', '\nObject.assign(window, { postern, login });\ndocument'),
    );
    built[name] = (await project.bundle('esbuild', `${name}.js`, 'page')).entry;
  }
  pages.use(expressHandler(createBrowserSession(createPosternServer({ url: app.url }), { basePath: '/auth' })));
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
  await project?.remove();
  closeSite?.();
});

const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

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
