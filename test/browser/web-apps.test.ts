import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser, servePage } from '../support/browser.js';
import { createUser, password } from '../support/users.js';
import { codeOfPage, startWebApp, type WebApp } from '../support/web-app.js';

// Defined by the code of the page, in the browser.
declare function openInbox(onChange: (list: readonly Notification[]) => void, onLoggedOut: () => void): () => void;
declare const window: { shown: string; isLoggedOut: boolean };
declare const document: { readonly cookie: string };

let postern: TestApp;
let webApp: WebApp;
let browser: Browser;
let pages: { port: number; close(): Promise<void> }[];
beforeAll(async () => {
  pages = [await servePage(), await servePage()];
  postern = await startTestApp({ TRUST_PROXY: '127.0.0.1,::1', CORS_ORIGINS: `http://localhost:${pages[0]?.port}` });
  webApp = await startWebApp(postern.url);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await webApp?.stop();
  await postern?.close();
  for (const page of pages) await page.close();
});

/** Opens a page of the web app with the code of the documentation. */
async function open(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.route(`${webApp.url}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
  await page.goto(`${webApp.url}/`);
  await page.addScriptTag({ content: codeOfPage('openInbox') });
  return page;
}

const credentialsOf = ({ username }: User) => ({
  identity: { type: 'username', value: username },
  authenticator: 'password',
  secret: password,
});

const logInTo = (page: Page, user: User) =>
  page.evaluate(
    async (body) => {
      const answer = await fetch('/login', { method: 'POST', body });
      return ((await answer.json()) as { status: string }).status;
    },
    JSON.stringify(credentialsOf(user)),
  );

const publish = (user: User, description: string) =>
  postern.api('POST', '/admin/v1/notifications', {
    bearer: postern.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description },
  });

test('a page logs in, shows a live inbox, and shows when the login ends', async () => {
  const user = await createUser(postern);
  await publish(user, 'first');
  const page = await open();
  expect(await logInTo(page, user)).toBe('approved');
  expect(await page.evaluate(() => document.cookie)).toBe('');
  await page.evaluate(() => {
    const show = (list: readonly Notification[]) => {
      window.shown = list.map(({ description }) => description).join();
    };
    openInbox(show, () => {
      window.isLoggedOut = true;
    });
  });
  await page.waitForFunction(() => window.shown === 'first');
  await publish(user, 'second');
  await page.waitForFunction(() => window.shown === 'second,first');
  await postern.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: postern.adminKey });
  await page.waitForFunction(() => window.isLoggedOut);
});

test('a page of another origin on the same site cannot log the user out', async () => {
  const page = await open();
  const user = await createUser(postern);
  await logInTo(page, user);
  await page.goto(`http://localhost:${pages[0]?.port}/`);
  const target = `${webApp.url}/logout`;
  await page.evaluate((url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }), target);
  await page.goto(`${webApp.url}/`);
  expect(await page.evaluate(async () => (await fetch('/api/notifications')).status)).toBe(200);
  await page.evaluate(() => fetch('/logout', { method: 'POST' }));
  expect(await page.evaluate(async () => (await fetch('/api/notifications')).status)).toBe(401);
});

test('only a page of an origin in CORS_ORIGINS can call Postern', async () => {
  const user = await createUser(postern);
  const totalAt = async (port: number | undefined) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://localhost:${port}/`);
    return page.evaluate(
      async ({ url, body }) => {
        const ask = async (path: string, init: RequestInit) => fetch(url + path, init);
        const tokenOf = async (answer: Response) => ((await answer.json()) as { token: string }).token;
        const headers = { 'content-type': 'application/json' };
        const token = await tokenOf(await ask('/v1/tokens', { method: 'POST', headers, body }));
        const basic = { authorization: `Basic ${btoa(token)}` };
        const session = await tokenOf(await ask('/v1/sessions', { method: 'POST', headers: basic }));
        const list = await ask('/v1/notifications', { headers: { authorization: `Bearer ${session}` } });
        return list.headers.get('x-total-count');
      },
      { url: postern.url, body: JSON.stringify({ ...credentialsOf(user), device: {} }) },
    );
  };
  expect(await totalAt(pages[0]?.port)).toBe('0');
  await expect(totalAt(pages[1]?.port)).rejects.toThrow('Failed to fetch');
});
