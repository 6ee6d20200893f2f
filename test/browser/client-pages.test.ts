// What browsers do around a page with the client.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { type ClientPage, serveClientPage } from '../support/client-page.js';
import type { tab as Tab } from '../support/client-page-script.js';
import { createUser, password } from '../support/users.js';

// Defined by the code of the page, in the browser.
declare const tab: typeof Tab;

let app: TestApp;
let page: ClientPage;
let browser: Browser;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  page = await serveClientPage(app);
  browser = await launchBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
});
const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await page?.close();
  await app?.close();
});

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  contexts.push(context);
  return context;
}
async function open(context: BrowserContext, options: object): Promise<Page> {
  const opened = await context.newPage();
  await opened.goto(page.url);
  await opened.waitForFunction(() => 'tab' in globalThis);
  await opened.evaluate((how) => tab.open('all tabs', how), options);
  return opened;
}
const logIn = (opened: Page, username: string | null) =>
  opened.evaluate(([identity, secret]) => tab.logIn(identity, secret), [username ?? '', password] as const);
const publish = (userId: string, description: string) =>
  app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: userId, notification_type: 'payment', description },
    headers: { 'idempotency-key': `${userId} ${description}` },
  });
const shows = (opened: Page, texts: readonly string[]) =>
  opened.waitForFunction((wanted) => tab.texts.join() === wanted, texts.join(), { timeout: 60_000 });
const isLive = (opened: Page) => opened.waitForFunction(() => tab.isLive());

test('a page that comes back from the back-forward cache goes on with a stream of its own', async () => {
  const context = await newContext();
  const [ada, opened] = [await createUser(app), await open(context, { stream: 'tab' })];
  await logIn(opened, ada.username);
  await opened.evaluate(() => tab.follow());
  await isLive(opened);
  await opened.evaluate(() => {
    const { addEventListener } = globalThis as unknown as {
      addEventListener(type: string, listener: (event: { persisted: boolean }) => void): void;
    };
    addEventListener('pageshow', ({ persisted }) => Object.assign(globalThis, { persisted }));
  });
  await publish(ada.id, 'before');
  await shows(opened, ['before']);
  await opened.goto('about:blank');
  // A page that nobody sees holds no stream.
  await expect.poll(() => page.openStreams()).toBe(0);
  await publish(ada.id, 'meanwhile');
  await opened.goBack({ waitUntil: 'commit' });
  await opened.waitForFunction(() => (globalThis as { persisted?: boolean }).persisted);
  await shows(opened, ['before', 'meanwhile']);
  await isLive(opened);
  expect(page.openStreams()).toBe(1);
});
