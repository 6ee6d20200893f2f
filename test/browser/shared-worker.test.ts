import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { type ClientPage, serveClientPage } from '../support/client-page.js';
import type { tab as Tab } from '../support/client-page-script.js';
import { eventually } from '../support/eventually.js';
import { createUser, password } from '../support/users.js';

// Defined by the code of the page, in the browser.
declare const tab: typeof Tab;

let app: TestApp;
let browser: Browser;
let page: ClientPage;
const faults: string[] = [];
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  browser = await launchBrowser();
  page = await serveClientPage(app);
}, 120_000);
beforeEach(() => {
  faults.length = 0;
  page.policy = "worker-src 'self'";
});
afterAll(async () => {
  await browser?.close();
  await page?.close();
  await app?.close();
});

async function open(context: BrowserContext, kind: 'tab' | 'all tabs', options: object = {}): Promise<Page> {
  const opened = await context.newPage();
  opened.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await opened.goto(page.url);
  await opened.waitForFunction(() => 'tab' in globalThis);
  await opened.evaluate(([where, how]) => tab.open(where, how), [kind, options] as const);
  return opened;
}
const logIn = (opened: Page, username: string | null) =>
  opened.evaluate(([identity, secret]) => tab.logIn(identity, secret), [username ?? '', password] as const);
async function follow(...tabs: Page[]): Promise<void> {
  for (const one of tabs) {
    await one.evaluate(() => tab.follow());
    await one.waitForFunction(() => tab.isLive(), undefined, { timeout: 60_000 });
  }
}
const publish = (userId: string, description: string) =>
  app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: userId, notification_type: 'payment', description },
    headers: { 'idempotency-key': description },
  });
const shows = (opened: Page, texts: readonly string[]) =>
  opened.waitForFunction((wanted) => tab.texts.join() === wanted, texts.join(), { timeout: 120_000 });
const openStreams = (count: number) =>
  eventually(`${count} open streams`, async () => (page.openStreams() === count ? true : undefined), 120_000);

test('one stream serves all tabs under a strict policy, until the last one is closed', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const first = await open(context, 'all tabs');
  await logIn(first, user.username);
  const [second, third] = [await open(context, 'all tabs'), await open(context, 'all tabs')];
  const before = page.streams();
  await follow(first, second, third);
  await publish(user.id, 'for all tabs');
  for (const one of [first, second, third]) await shows(one, ['for all tabs']);
  expect(page.streams() - before).toBe(1);
  await first.close();
  await publish(user.id, 'for two tabs');
  for (const one of [second, third]) await shows(one, ['for all tabs', 'for two tabs']);
  expect(page.openStreams()).toBe(1);
  await second.close();
  await third.close();
  await openStreams(0);
  expect(faults).toEqual([]);
});

test('a cut of the shared stream loses nothing and repeats nothing in any tab', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const first = await open(context, 'all tabs');
  await logIn(first, user.username);
  const second = await open(context, 'all tabs');
  await follow(first, second);
  await publish(user.id, 'before the cut');
  await shows(second, ['before the cut']);
  page.cut();
  await publish(user.id, 'during the cut');
  for (const one of [first, second]) await shows(one, ['before the cut', 'during the cut']);
  await context.close();
});

test('a tab continues when another one has crashed', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const first = await open(context, 'all tabs');
  await logIn(first, user.username);
  const second = await open(context, 'all tabs');
  await follow(first, second);
  const crashed = new Promise((resolve) => first.once('crash', resolve));
  const session = await context.newCDPSession(first);
  // This call gets no answer, because the tab crashes.
  void session.send('Page.crash').catch(() => undefined);
  await crashed;
  await publish(user.id, 'after the crash');
  await shows(second, ['after the crash']);
  expect(page.openStreams()).toBe(1);
  await context.close();
});

test('a logout in one tab ends the stream of all tabs of this login', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const first = await open(context, 'all tabs');
  await logIn(first, user.username);
  const second = await open(context, 'all tabs');
  await follow(first, second);
  await second.evaluate(() => tab.logOut());
  for (const one of [first, second]) await one.waitForFunction(() => tab.connections.at(-1) === 'ended');
  await openStreams(0);
  await context.close();
});

test('two users in two tabs have streams of their own, and a logout of one leaves the other', async () => {
  const [ada, bob] = [await createUser(app), await createUser(app)];
  const context = await browser.newContext();
  const [first, second] = [await open(context, 'tab'), await open(context, 'tab')];
  await logIn(first, ada.username);
  await logIn(second, bob.username);
  await follow(first, second);
  expect(page.openStreams()).toBe(2);
  await publish(ada.id, 'for Ada');
  await publish(bob.id, 'for Bob');
  await shows(first, ['for Ada']);
  await shows(second, ['for Bob']);
  await second.evaluate(() => tab.logOut());
  await openStreams(1);
  await publish(ada.id, 'for Ada only');
  await shows(first, ['for Ada', 'for Ada only']);
  expect(await second.evaluate(() => tab.texts)).toEqual(['for Bob']);
  await context.close();
});

test.each<[string, string, object]>([
  ['the policy forbids workers', "worker-src 'none'", {}],
  ['the file of the worker is missing', "worker-src 'self'", { workerUrl: '/missing.js' }],
])('each tab has a stream of its own if %s', async (_name, policy, options) => {
  page.policy = policy;
  const user = await createUser(app);
  const context = await browser.newContext();
  const first = await open(context, 'all tabs', options);
  await logIn(first, user.username);
  const second = await open(context, 'all tabs', options);
  await follow(first, second);
  expect(page.openStreams()).toBe(2);
  await publish(user.id, `without a worker: ${policy}`);
  for (const one of [first, second]) await shows(one, [`without a worker: ${policy}`]);
  await context.close();
});
