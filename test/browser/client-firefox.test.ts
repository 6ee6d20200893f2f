import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type ClientPage, serveClientPage } from '../support/client-page.js';
import { type Firefox, type FirefoxPage, launchFirefox } from '../support/firefox.js';
import { createUser, password } from '../support/users.js';

let app: TestApp;
let firefox: Firefox;
let page: ClientPage;
let first: FirefoxPage;
let second: FirefoxPage;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  page = await serveClientPage(app);
  firefox = await launchFirefox();
  first = firefox.page;
  second = await firefox.newTab();
  for (const tab of [first, second]) await open(tab);
});
afterAll(async () => {
  await firefox?.close();
  await page?.close();
  await app?.close();
});

/** Opens the page with a client that keeps its login in IndexedDB. @returns the status of the client */
async function open(tab: FirefoxPage): Promise<string> {
  await tab.goto(page.url);
  await tab.until('globalThis.tab');
  return tab.evaluate(`tab.open('all tabs')`);
}
const publish = (userId: string, description: string) =>
  app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: userId, notification_type: 'payment', description },
  });

test('tabs follow each other, keep the login and its key in IndexedDB, and share a live inbox that loses nothing', async () => {
  const user = await createUser(app);
  expect(await first.evaluate(`tab.logIn(${JSON.stringify(user.username)}, ${JSON.stringify(password)})`)).toBe('done');
  await second.until(`tab.status() === 'signed_in'`);
  const { body: devices } = await app.api<{ is_bound: boolean }[]>('GET', `/admin/v1/users/${user.id}/devices`, {
    bearer: app.adminKey,
  });
  expect(devices).toMatchObject([{ is_bound: true }]);
  // A tab that is loaded again finds both.
  expect(await open(second)).toBe('signed_in');
  for (const tab of [first, second]) {
    await tab.evaluate('tab.follow()');
    await tab.until('tab.isLive()');
  }
  expect(page.openStreams()).toBe(1);
  await publish(user.id, 'before the cut');
  await second.until(`tab.texts.join() === 'before the cut'`);
  page.cut();
  await publish(user.id, 'during the cut');
  for (const tab of [first, second]) await tab.until(`tab.texts.join() === 'before the cut,during the cut'`);
  await second.evaluate('tab.logOut()');
  await first.until(`tab.status() === 'signed_out'`);
  expect(await firefox.page.evaluate('reports')).toEqual([]);
});
