// What browsers do around a page with the client.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
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

test.each(['tab', 'shared'])(
  'a page that comes back from the back-forward cache goes on (stream: %s)',
  async (stream) => {
    const context = await newContext();
    const [ada, opened] = [await createUser(app), await open(context, { stream })];
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
    // A page that nobody sees holds no stream. A shared worker stands still while its only page is in the cache.
    if (stream === 'tab') await expect.poll(() => page.openStreams()).toBe(0);
    await publish(ada.id, 'meanwhile');
    await opened.goBack({ waitUntil: 'commit' });
    await opened.waitForFunction(() => (globalThis as { persisted?: boolean }).persisted);
    await shows(opened, ['before', 'meanwhile']);
    await isLive(opened);
    expect(page.openStreams()).toBe(1);
  },
);

describe('a service worker of the page', () => {
  const workerThat = (answer: string) => `
    addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    addEventListener('fetch', (event) => {
      const { url, method } = event.request;
      if (url.includes('/v1/')) event.respondWith((async () => { ${answer} })());
    });`;
  const buffers = `
    const answer = await fetch(event.request);
    const body = await answer.arrayBuffer();
    return new Response(answer.status === 204 ? null : body, answer);`;
  const copies = `
    const answer = await fetch(event.request);
    if (method === 'GET') event.waitUntil(caches.open('copies').then((cache) => cache.put(url, answer.clone())));
    return answer;`;
  const refuses = `return url.includes('/stream') ? Response.error() : fetch(event.request);`;

  async function openBehind(code: string): Promise<{ ada: User; opened: Page }> {
    page.serviceWorker = workerThat(code);
    const context = await newContext();
    const opened = await context.newPage();
    await opened.goto(page.url);
    await opened.waitForFunction(() => 'tab' in globalThis);
    await opened.evaluate(async () => {
      const { serviceWorker } = (globalThis as unknown as { navigator: { serviceWorker: ServiceWorkers } }).navigator;
      const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve));
      await serviceWorker.register('/service-worker.js');
      await controlled;
    });
    await opened.evaluate(() => tab.open('all tabs', { stream: 'tab' }));
    const ada = await createUser(app);
    await logIn(opened, ada.username);
    await publish(ada.id, 'before');
    return { ada, opened };
  }
  interface ServiceWorkers {
    register(url: string): Promise<unknown>;
    addEventListener(type: 'controllerchange', listener: (event: unknown) => void): void;
  }

  test.each([
    ['passes requests on', 'return fetch(event.request);'],
    ['copies answers into its cache', copies],
  ])('that %s does not disturb a stream', async (_name, code) => {
    const { ada, opened } = await openBehind(code);
    await opened.evaluate(() => tab.follow());
    await isLive(opened);
    await publish(ada.id, 'news');
    await shows(opened, ['news']);
    expect(await opened.evaluate(() => tab.connections)).toEqual(['connecting', 'live']);
    await opened.evaluate(() => tab.logOut());
    await expect.poll(() => page.openStreams(), { timeout: 30_000 }).toBe(0);
  });

  test.each([
    ['buffers answers until they end', buffers],
    ['refuses streams', refuses],
  ])('that %s delays neither the list nor news', async (_name, code) => {
    const { ada, opened } = await openBehind(code);
    await opened.evaluate(() => tab.show());
    await opened.waitForFunction(() => tab.shown().join() === 'before');
    const texts = ['before'];
    for (let number = 0; number < 2; number += 1) {
      texts.unshift(`news ${number}`);
      await publish(ada.id, `news ${number}`);
      await opened.waitForFunction((wanted) => tab.shown().join() === wanted, texts.join(), { timeout: 60_000 });
      await opened.waitForFunction((polls) => tab.polls() > polls, await opened.evaluate(() => tab.polls()), {
        timeout: 60_000,
      });
    }
    expect(await opened.evaluate(() => tab.states())).not.toContain('live');
    expect(page.openStreams()).toBeLessThan(3);
  });
});

describe('an IndexedDB that cannot be used', () => {
  /** What `indexedDB.open` does in every page of the context, as browsers do in private windows. */
  const openingThat = (effect: string) => `
    Object.defineProperty(IDBFactory.prototype, 'open', { value() {
      const error = new DOMException('refused', ${JSON.stringify(effect)});
      if (error.name === 'SecurityError') throw error;
      const request = { error };
      if (error.name !== 'hangs') setTimeout(() => request.onerror?.({}));
      return request;
    } });`;

  test.each([
    ['SecurityError', 'signed_out'],
    ['InvalidStateError', 'starting'],
    ['hangs', 'starting'],
  ])('(%s) does not stop a login in the memory of the tab', async (effect, status) => {
    const context = await newContext();
    await context.addInitScript(openingThat(effect));
    const opened = await context.newPage();
    await opened.goto(page.url);
    await opened.waitForFunction(() => 'tab' in globalThis);
    await opened.evaluate(() => tab.open('all tabs', { stream: 'tab' }).catch(() => undefined));
    expect(await opened.evaluate(() => tab.status())).toBe(status);
    const ada = await createUser(app);
    expect(await logIn(opened, ada.username)).toBe('done');
    expect(await opened.evaluate(() => tab.session())).toBe(ada.id);
    await opened.evaluate(() => tab.follow());
    await isLive(opened);
    await publish(ada.id, effect);
    await shows(opened, [effect]);
    await opened.evaluate(() => tab.logOut());
    expect(await opened.evaluate(() => tab.status())).toBe('signed_out');
  });

  /** A script of the same site that uses the database too. @returns what it was told */
  const deleteIn = (other: Page, holds: boolean) =>
    other.evaluate(async (isHeld) => {
      const { indexedDB } = globalThis as unknown as { indexedDB: Factory };
      if (isHeld) {
        const opening = indexedDB.open('postern');
        await new Promise((resolve) => {
          opening.onsuccess = resolve;
        });
        Object.assign(globalThis, { held: opening.result });
      }
      const deletion = indexedDB.deleteDatabase('postern');
      return new Promise<string>((resolve) => {
        deletion.onsuccess = () => resolve('deleted');
        deletion.onblocked = () => resolve('blocked');
      });
    }, holds);
  interface Opening {
    onsuccess: ((event: unknown) => void) | null;
    onblocked: ((event: unknown) => void) | null;
    readonly result: unknown;
  }
  interface Factory {
    open(name: string): Opening;
    deleteDatabase(name: string): Opening;
  }

  test('because another tab deletes it: the tab does not block that, its key is gone, and the next login is stored', async () => {
    const context = await newContext();
    const opened = await open(context, { stream: 'tab' });
    const [ada, bob] = [await createUser(app), await createUser(app)];
    await logIn(opened, ada.username);
    const other = await context.newPage();
    await other.goto(page.url);
    expect(await deleteIn(other, false)).toBe('deleted');
    expect(await opened.evaluate(() => tab.session())).toBeUndefined();
    expect(await opened.evaluate(() => tab.status())).toBe('signed_out');
    expect(await logIn(opened, bob.username)).toBe('done');
    const next = await open(context, { stream: 'tab' });
    expect(await next.evaluate(() => tab.session())).toBe(bob.id);
  });

  test('because another tab blocks its deletion: a login works, and is stored when that tab has closed', async () => {
    const context = await newContext();
    const other = await context.newPage();
    await other.goto(page.url);
    expect(await deleteIn(other, true)).toBe('blocked');
    const opened = await context.newPage();
    await opened.goto(page.url);
    await opened.waitForFunction(() => 'tab' in globalThis);
    await opened.evaluate(() => tab.open('all tabs', { stream: 'tab' }).catch(() => undefined));
    expect(await opened.evaluate(() => tab.status())).toBe('starting');
    const [ada, bob] = [await createUser(app), await createUser(app)];
    expect(await logIn(opened, ada.username)).toBe('done');
    expect(await opened.evaluate(() => tab.session())).toBe(ada.id);
    await other.close();
    expect(await logIn(opened, bob.username)).toBe('done');
    const next = await open(context, { stream: 'tab' });
    expect(await next.evaluate(() => tab.session())).toBe(bob.id);
  });
});
