import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as client from '../../packages/client/src/index.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { addAuthenticator, launchBrowser, servePage } from '../support/browser.js';
import { createUser, password } from '../support/users.js';

// Defined by the code of the page, in the browser.
declare const window: { client: typeof client; postern: client.Postern; shown: readonly string[] };

let app: TestApp;
let browser: Browser;
let page: { port: number; close(): Promise<void> };
let code: string;
beforeAll(async () => {
  page = await servePage();
  const origin = `http://localhost:${page.port}`;
  app = await startTestApp({
    ...{ PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: origin, CORS_ORIGINS: origin },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
  });
  const entry = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url));
  const result = await build({
    ...{ configFile: false, logLevel: 'silent' },
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'client' } },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
  code = output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await page?.close();
});

/** A tab with a client that keeps its login in IndexedDB. */
async function openTab(context: BrowserContext): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`http://localhost:${page.port}/`);
  await tab.addScriptTag({ content: `${code}\nwindow.client = client;` });
  await tab.evaluate((url) => {
    const { createPostern, indexedDbStorage } = window.client;
    window.postern = createPostern({ url, storage: indexedDbStorage(), timeout: 60_000 });
  }, app.url);
  await tab.evaluate(() => window.postern.ready());
  return tab;
}

const logIn = (tab: Page, username: string | null) =>
  tab.evaluate(
    async ({ identity, secret }) => {
      const state = await window.client.createLogin(window.postern).start().password({ identity, password: secret });
      return state.step;
    },
    { identity: username ?? '', secret: password },
  );
const untilStatus = (tab: Page, status: client.AuthState['status']) =>
  tab.waitForFunction((wanted) => window.postern.current.status === wanted, status);

test('tabs of a browser follow each other, and a new tab finds the login in IndexedDB', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const [first, second] = [await openTab(context), await openTab(context)];
  expect(await logIn(first, user.username)).toBe('done');
  await untilStatus(second, 'signed_in');
  const third = await openTab(context);
  expect(await third.evaluate(() => window.postern.current)).toMatchObject({ status: 'signed_in', user_id: user.id });
  await third.evaluate(() => window.postern.logOut());
  await untilStatus(first, 'signed_out');
  await untilStatus(second, 'signed_out');
  const stranger = await openTab(await browser.newContext());
  expect(await stranger.evaluate(() => window.postern.current.status)).toBe('signed_out');
});

test('a live inbox and its copy in IndexedDB show what is published, the copy also without a network', async () => {
  const user = await createUser(app);
  const context = await browser.newContext();
  const tab = await openTab(context);
  await logIn(tab, user.username);
  await tab.evaluate(() => {
    const { createInbox, createInboxView } = window.client;
    createInboxView(window.postern, createInbox(window.postern)).subscribe(({ items, connection }) => {
      window.shown = [connection, ...items.map(({ description }) => description)];
    });
  });
  await tab.waitForFunction(() => window.shown?.[0] === 'live');
  for (const description of ['first', 'second']) {
    const body = { user_id: user.id, notification_type: 'payment', description };
    await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
  }
  await tab.waitForFunction(() => window.shown.join() === 'live,second,first');
  await tab.evaluate(() => window.client.createInboxCopy(window.postern).sync());
  const later = await openTab(context);
  await context.setOffline(true);
  const copied = await later.evaluate(async () => {
    const items = await window.client.createInboxCopy(window.postern).items();
    return items.map(({ description }) => description);
  });
  expect(copied).toEqual(['second', 'first']);
  const failed = await later.evaluate(() => window.postern.getSession({ fresh: true }).catch((error) => error.kind));
  expect(failed).toBe('network');
  expect(await later.evaluate(() => window.postern.current.status)).toBe('signed_in');
});

test('a passkey is added with a proof, and logs in without a name', async () => {
  const user = await createUser(app);
  const tab = await openTab(await browser.newContext());
  await addAuthenticator(tab, { verifiesUser: true });
  await logIn(tab, user.username);
  const state = await tab.evaluate(async (secret) => {
    const { createAccount, createLogin, passwordProof } = window.client;
    await createAccount(window.postern).addPasskey('Laptop', { proof: passwordProof(secret) });
    await window.postern.logOut();
    const { step, issue } = await createLogin(window.postern).start().passkey();
    return { step, issue, current: window.postern.current };
  }, password);
  expect(state).toMatchObject({ step: 'done', current: { status: 'signed_in', user_id: user.id } });
});
