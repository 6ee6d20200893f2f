import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { renderToString } from 'react-dom/server';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createPostern, type Postern, type Snapshot } from '../../packages/client/src/index.js';
import { backendOf, publish } from '../../packages/react/test/support.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser, servePage } from '../support/browser.js';
import { otherReact } from '../support/other-react.js';
import { openPublicAddress, type PublicAddress } from '../support/public-address.js';
import { createUser, login, password } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';
import * as parts from './react-page.js';

// Defined by the code of the page, in the browser.
declare const window: {
  parts: typeof parts;
  postern: Postern;
  unmount: () => void;
  recovered: string[];
  user: { readonly identity: string; readonly password: string };
};

let app: TestApp;
let vendor: Vendor;
let address: PublicAddress;
let browser: Browser;
let site: { port: number; close(): Promise<void> };
let code: string;
beforeAll(async () => {
  site = await servePage();
  const origin = `http://localhost:${site.port}`;
  vendor = await startVendor();
  address = await openPublicAddress();
  app = await startTestApp({
    ...{ CORS_ORIGINS: origin, LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    ...{ PUBLIC_URL: address.url, REDIRECT_URIS: `${origin}/` },
    OIDC_PROVIDERS: JSON.stringify({
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
    }),
  });
  address.service = app.url;
  const entry = fileURLToPath(new URL('react-page.ts', import.meta.url));
  const packages = fileURLToPath(new URL('../../packages', import.meta.url));
  const result = await build({
    ...{ configFile: false, logLevel: 'silent', mode: 'development' },
    // Warnings and the double effects of StrictMode are in this build of React only.
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: {
      alias: [
        ...otherReact(),
        { find: '@postern/client/internal', replacement: `${packages}/client/src/internal.ts` },
        { find: '@postern/client', replacement: `${packages}/client/src/index.ts` },
      ],
    },
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'parts' } },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
  code = output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  address?.close();
  await vendor?.close();
  await site?.close();
});

const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

interface Tab {
  readonly page: Page;
  /** Warnings and errors in the console. */
  readonly complaints: string[];
  /** How often a path was requested. */
  count(path: string): number;
  /** Streams that are open. */
  streams(): number;
}

/** A page with React and a client. */
async function openTab(user?: { readonly username: string | null }): Promise<Tab> {
  const context = await browser.newContext();
  contexts.push(context);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  const sent: string[] = [];
  const open = new Set<unknown>();
  page.on('request', (request) => {
    if (request.method() === 'OPTIONS') return;
    const { pathname } = new URL(request.url());
    sent.push(pathname);
    if (pathname.endsWith('/stream')) open.add(request);
  });
  page.on('requestfailed', (request) => void open.delete(request));
  page.on('requestfinished', (request) => void open.delete(request));
  await page.goto(`http://localhost:${site.port}/`);
  await load(page, user);
  const count = (path: string) => sent.filter((one) => one === path).length;
  return { page, complaints, count, streams: () => open.size };
}

/** Runs the script of the page, as at each load of it. */
async function load(page: Page, user?: { readonly username: string | null }): Promise<void> {
  await page.addScriptTag({ content: `${code}\nwindow.parts = parts;` });
  await page.evaluate(
    async ({ url, identity, secret }) => {
      const { createLogin, createPostern, webStorage } = window.parts;
      window.recovered = [];
      window.postern = createPostern({ url, storage: webStorage('local'), timeout: 60_000 });
      if (identity !== undefined) {
        await createLogin(window.postern).start().password({ identity, password: secret });
        // As after a reload.
        window.postern.close();
        window.postern = createPostern({ url, storage: webStorage('local'), timeout: 60_000 });
      }
    },
    { url: app.url, identity: user?.username ?? undefined, secret: password },
  );
}

const render = (page: Page, names: readonly parts.Part[], options: { readonly suspense?: boolean } = {}) =>
  page.evaluate(
    ([names, options]) => {
      const { pageOf, show } = window.parts;
      window.unmount = show(pageOf(window.postern, names, options));
    },
    [names, options] as const,
  );
const shows = (page: Page, id: string, text: string) =>
  page.waitForFunction(([id, text]) => window.parts.textOf(id)?.includes(text), [id, text] as const);

test('components of StrictMode share one stream, which ends with the last of them', async () => {
  const user = await createUser(app);
  const tab = await openTab(user);
  await render(tab.page, ['Inbox', 'Badge', 'Who']);
  await shows(tab.page, 'inbox', 'ready live');
  for (const description of ['first', 'second']) await publish(app, user.id, description);
  await shows(tab.page, 'inbox', '* second\n* first');
  await shows(tab.page, 'badge', '2');
  await tab.page.getByText('Mark all as read').click();
  await shows(tab.page, 'badge', '0');
  expect(await tab.page.locator('#inbox li').allInnerTexts()).toEqual(['second', 'first']);
  expect([tab.streams(), tab.count('/v1/notifications/stream')]).toEqual([1, 1]);

  await tab.page.evaluate(() => window.unmount());
  await expect.poll(() => tab.streams()).toBe(0);
  await render(tab.page, ['Inbox']);
  await publish(app, user.id, 'third');
  await shows(tab.page, 'inbox', '* third\nsecond\nfirst');
  expect([tab.streams(), tab.count('/v1/notifications/stream')]).toEqual([1, 2]);
  expect(tab.complaints).toEqual([]);
});

test('two parts of an inbox and its counts share a stream, and a change in one part shows in the other', async () => {
  const user = await createUser(app);
  for (const description of ['first', 'second']) await publish(app, user.id, description);
  const tab = await openTab(user);
  await render(tab.page, ['Tabs', 'Counts']);
  await shows(tab.page, 'counts', '2 of 2');
  await tab.page.getByText('Archive first', { exact: true }).click();
  await shows(tab.page, 'archived', '* first');
  await shows(tab.page, 'counts', '1 of 1');
  const before = await tab.page.evaluate(() => window.parts.rendered.get('counts'));
  await tab.page.getByText('Back first', { exact: true }).click();
  await shows(tab.page, 'inbox', '* first');
  await shows(tab.page, 'counts', '2 of 2');
  // In StrictMode, a component is rendered twice for each change.
  expect(await tab.page.evaluate(() => window.parts.rendered.get('counts'))).toBe((before ?? 0) + 2);
  await tab.page.getByText('Read second', { exact: true }).click();
  await expect.poll(() => tab.page.locator('#inbox li').first().innerText()).toMatch(/^second/);
  expect([tab.streams(), tab.count('/v1/notifications/stream')]).toEqual([1, 1]);
  expect(tab.complaints).toEqual([]);
});

test('two components share the preferences, and a change that is refused is undone', async () => {
  const user = await createUser(app);
  const tab = await openTab(user);
  await render(tab.page, ['Preferences']);
  await shows(tab.page, 'one', 'ready on');
  await tab.page.getByText('Payments one', { exact: true }).click();
  await shows(tab.page, 'other', 'ready off');
  await tab.page.getByText('Unknown other', { exact: true }).click();
  await shows(tab.page, 'one', 'ready off problem');
  await tab.page.getByText('Payments other', { exact: true }).click();
  await shows(tab.page, 'one', 'ready on');
  // The components show a choice before the service has stored it.
  await vi.waitFor(async () => {
    const { body } = await app.api<{ categories: { payment: { cells: { push: object } } } }>(
      'GET',
      `/admin/v1/users/${user.id}/preferences`,
      { bearer: app.adminKey },
    );
    expect(body.categories.payment.cells.push).toMatchObject({ value: 'on', default: 'on', is_chosen: true });
  });
  // A refused request is in the console of the browser.
  expect(tab.complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});

test('topics are joined and left, and all pages that are shown are read again', async () => {
  const user = await createUser(app);
  for (const key of ['one', 'two', 'three']) {
    await app.api('PUT', `/admin/v1/topics/${key}`, { bearer: app.adminKey, body: { title: key, is_open: true } });
  }
  const tab = await openTab(user);
  await render(tab.page, ['Clubs']);
  const clubs = tab.page.locator('#clubs');
  await clubs.getByText('More', { exact: true }).click();
  await clubs.getByText('Join one', { exact: true }).click();
  await clubs.getByText('Leave one', { exact: true }).waitFor();
  expect((await clubs.getByRole('button').allInnerTexts()).sort()).toEqual(['Join three', 'Join two', 'Leave one']);
  await clubs.getByText('Leave one', { exact: true }).click();
  await clubs.getByText('Join one', { exact: true }).waitFor();
  expect(tab.complaints).toEqual([]);
});

test('a badge renders only when its number changes', async () => {
  const user = await createUser(app);
  const tab = await openTab(user);
  await render(tab.page, ['Inbox', 'Badge']);
  await shows(tab.page, 'inbox', 'ready live');
  await publish(app, user.id, 'one');
  await shows(tab.page, 'badge', '1');
  const before = await tab.page.evaluate(() => window.parts.rendered.get('badge'));
  const path = `/admin/v1/users/${user.id}/notifications`;
  const { body } = await app.api<{ id: string }[]>('GET', path, { bearer: app.adminKey });
  await app.api('PATCH', `/admin/v1/notifications/${body[0]?.id}`, {
    ...{ bearer: app.adminKey, body: { description: 'one, corrected' } },
  });
  await shows(tab.page, 'inbox', 'one, corrected');
  expect(await tab.page.evaluate(() => window.parts.rendered.get('badge'))).toBe(before);
});

test('the HTML of a server is hydrated without a warning, and then follows the inbox', async () => {
  const user = await createUser(app);
  await publish(app, user.id, 'from the server');
  const { body } = await login(app, user);
  const what = { account: true, inbox: { limit: 5 }, devices: true } as const;
  const snapshot = await backendOf(app).snapshot({ headers: { cookie: `postern=${body.token}` } }, what);
  const names = ['Inbox', 'Badge', 'Who', 'Devices', 'Account', 'SignIn'] as const;
  const onServer = createPostern({ url: '/auth', storage: 'backend' });
  const html = renderToString(parts.pageOf(onServer, names, { snapshot }));
  expect(html).toContain('* from the server');

  const tab = await openTab(user);
  const shown = await tab.page.evaluate(
    ([html, names, snapshot]) => {
      const { hydrate, pageOf, textOf } = window.parts;
      hydrate(html, pageOf(window.postern, names, { snapshot }), (error) => void window.recovered.push(String(error)));
      return textOf('inbox');
    },
    [html, names, JSON.parse(JSON.stringify(snapshot)) as Snapshot] as const,
  );
  expect(shown).toContain('* from the server');
  await shows(tab.page, 'inbox', 'ready live');
  await publish(app, user.id, 'live');
  await shows(tab.page, 'inbox', '* live\n* from the server');
  await shows(tab.page, 'badge', '2');
  expect(await tab.page.evaluate(() => window.recovered)).toEqual([]);
  expect(tab.complaints).toEqual([]);
  // The snapshot contains the devices and the account, so the page does not request them.
  expect([tab.count('/v1/devices/page'), tab.count('/v1/account')]).toEqual([0, 0]);
});

test('components that suspend are shown when their data has arrived, and the data is read once', async () => {
  const user = await createUser(app);
  await publish(app, user.id, 'one');
  const tab = await openTab(user);
  await render(tab.page, ['Inbox', 'Devices', 'Badge'], { suspense: true });
  await shows(tab.page, 'inbox', '* one');
  await shows(tab.page, 'devices', '(this one)');
  await shows(tab.page, 'inbox', 'live');
  expect(tab.count('/v1/devices/page')).toBe(1);
  expect([tab.streams(), tab.count('/v1/notifications/stream')]).toEqual([1, 1]);
  expect(tab.complaints).toEqual([]);
});

test('a login shows its issues, signs in, and a logout hides the data of the user', async () => {
  const [ada, bob] = [await createUser(app), await createUser(app)];
  await publish(app, ada.id, 'for Ada');
  const tab = await openTab();
  const signIn = async (identity: string | null, secret: string) => {
    await tab.page.fill('input[name=name]', identity ?? '');
    await tab.page.fill('input[name=password]', secret);
    await tab.page.click('#sign-in button');
  };
  await render(tab.page, ['SignIn', 'Who', 'Inbox', 'Devices']);
  await shows(tab.page, 'who', 'signed_out');
  await shows(tab.page, 'devices', 'signed_out');
  await signIn(ada.username, 'wrong');
  await shows(tab.page, 'sign-in', 'start wrong');
  await signIn(ada.username, password);
  await shows(tab.page, 'sign-in', 'done');
  await shows(tab.page, 'who', `signed_in ${ada.id}`);
  await shows(tab.page, 'inbox', '* for Ada');
  await shows(tab.page, 'devices', '(this one)');
  await tab.page.getByText('Sign out').click();
  await shows(tab.page, 'who', 'signed_out');
  expect(await tab.page.locator('#inbox li').count()).toBe(0);
  await shows(tab.page, 'devices', 'signed_out');
  await expect.poll(() => tab.streams()).toBe(0);

  await tab.page.evaluate(
    async ({ identity, secret }) => {
      await window.parts.createLogin(window.postern).start().password({ identity, password: secret });
    },
    { identity: bob.username ?? '', secret: password },
  );
  await shows(tab.page, 'who', `signed_in ${bob.id}`);
  await shows(tab.page, 'inbox', 'ready live');
  await shows(tab.page, 'devices', '(this one)');
  expect(await tab.page.locator('#inbox li').count()).toBe(0);
  expect(tab.complaints.filter((text) => !/\b40[01]\b/.test(text))).toEqual([]);
});

test('a change of the account asks for a proof until it is right, and shows the result', async () => {
  const user = await createUser(app);
  const tab = await openTab(user);
  await render(tab.page, ['Account']);
  await shows(tab.page, 'account', `ready ${user.username}`);
  await tab.page.getByText('Change the name').click();
  await tab.page.getByText('Refuse').click();
  await shows(tab.page, 'account', 'The user cancelled.');
  await tab.page.getByText('Change the name').click();
  await tab.page.fill('input[name=proof]', 'wrong');
  await tab.page.getByText('Prove').click();
  await tab.page.getByText('proof_rejected').waitFor();
  await tab.page.fill('input[name=proof]', password);
  await tab.page.getByText('Prove').click();
  await shows(tab.page, 'account', `ready new-${user.id} changed`);
  expect(await tab.page.locator('dialog').count()).toBe(0);
});

test('a request whose API wants a fresh proof asks the same dialog, and is sent again with the new session', async () => {
  const user = await createUser(app);
  const tab = await openTab(user);
  await render(tab.page, ['Account']);
  await shows(tab.page, 'account', `ready ${user.username}`);
  const sessions: string[] = [];
  // The API of an app, which is content with the session that a proof has made.
  await tab.page.route('**/pay', (route) => {
    const { authorization = '' } = route.request().headers();
    sessions.push(authorization);
    const challenge = 'Bearer error="insufficient_user_authentication", max_age="600"';
    return sessions.length === 1
      ? route.fulfill({ status: 401, headers: { 'www-authenticate': challenge } })
      : route.fulfill({ status: 200 });
  });
  const paid = tab.page.evaluate(() => window.postern.fetch('/pay', { method: 'POST' }).then(({ status }) => status));
  await tab.page.fill('input[name=proof]', password);
  await tab.page.getByText('Prove').click();
  expect(await paid).toBe(200);
  const [before, after] = await Promise.all(
    sessions.map((session) => app.api('POST', '/v1/sessions/verify', { bearer: session.slice(7) })),
  );
  expect([before?.status, after?.status]).toEqual([401, 200]);
  expect(await tab.page.locator('dialog').count()).toBe(0);
});

test('devices are signed out, and the activity is read page by page', async () => {
  const user = await createUser(app);
  await login(app, user, { make: 'Another phone' });
  const tab = await openTab(user);
  await render(tab.page, ['Devices', 'Activity']);
  await tab.page.getByText('Another phone').click();
  await tab.page.getByText('Another phone').waitFor({ state: 'detached' });
  await shows(tab.page, 'devices', '(this one)');
  await shows(tab.page, 'activity', '2');
  await tab.page.getByText('Earlier').click();
  await shows(tab.page, 'activity', '3');
});

test.each<[string, number]>([
  ['back', -86_400_000],
  ['forward', 86_400_000],
])('a clock that is set %s does not lock a countdown', async (_, change) => {
  const tab = await openTab();
  await tab.page.clock.install();
  await render(tab.page, ['Countdown']);
  await tab.page.clock.runFor(20_000);
  await shows(tab.page, 'countdown', '40 s');
  await tab.page.clock.setSystemTime(Date.now() + change);
  await tab.page.clock.runFor(41_000);
  expect(await tab.page.innerText('#countdown')).toBe('0 s');
});

test.each(['Providers', 'ProvidersAndResume'] as const)(
  'a login at a provider ends once in StrictMode (%s)',
  async (name) => {
    vendor.account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true };
    const { page, complaints } = await openTab();
    const ends: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/secret')) ends.push(request.url());
    });
    /** Goes to the provider and back, and loads the page again. */
    const through = async () => {
      await page.getByText('Sign in with Google').click();
      await page.waitForURL((url) => url.origin === vendor.url);
      await page.click('a');
      await page.waitForURL((url) => url.origin === `http://localhost:${site.port}`);
      await load(page);
      await render(page, [name, 'Who']);
    };
    await render(page, [name, 'Who']);
    await shows(page, 'providers', 'start');
    vendor.denial = { error: 'server_error' };
    await through();
    await shows(page, 'providers', 'refused provider_unavailable');
    vendor.denial = undefined;
    await through();
    await shows(page, 'providers', 'done');
    await shows(page, 'who', 'signed_in');
    expect(ends).toHaveLength(1);
    expect(page.url()).toBe(`http://localhost:${site.port}/`);
    expect(complaints).toEqual([]);
  },
);

test('a change that is proven at a provider goes on when the page is back, in StrictMode', async () => {
  const account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true };
  vendor.account = account;
  const { page, complaints } = await openTab();
  const changes: number[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'PATCH') changes.push(response.status());
  });
  /** Goes to the provider and back, and loads the page again. */
  const through = async (button: string, names: readonly parts.Part[]) => {
    await page.getByText(button, { exact: true }).click();
    await page.waitForURL((url) => url.origin === vendor.url);
    await page.click('a');
    await page.waitForURL((url) => url.origin === `http://localhost:${site.port}`);
    await load(page);
    await render(page, names);
  };
  await render(page, ['Providers']);
  await shows(page, 'providers', 'start');
  await through('Sign in with Google', ['Providers', 'Account']);
  await shows(page, 'account', 'ready');
  await page.getByText('Change the name').click();
  // The provider says that the person has logged in there now.
  vendor.account = { ...account, auth_time: Math.floor(Date.now() / 1000) };
  await through('Prove at the provider', ['Account']);
  await page.getByText('Go on with the name').click();
  await shows(page, 'account', 'changed');
  expect(await page.locator('dialog').count()).toBe(0);
  expect(changes).toEqual([200]);
  expect(page.url()).toBe(`http://localhost:${site.port}/`);
  expect(complaints).toEqual([]);
});
