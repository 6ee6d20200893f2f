import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
  for (let count = 0; count < 30; count += 1) await createUser(postern, { name: `User ${count}` });
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

interface Shift {
  readonly value: number;
  readonly nodes: readonly string[];
}

/** What has moved on the page without an input of the user, since it was opened. */
const shifts = `new Promise((resolve) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  // Buffered entries arrive in a task of their own, after the next frame.
  requestAnimationFrame(() => setTimeout(() => resolve(found
    .filter((entry) => !entry.hadRecentInput)
    .map(({ value, sources }) => ({ value, nodes: sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? '') })))));
})`;

const pages = ['/console', '/console/users', '/console/messages', '/console/audit', '/console/keys', '/console/system'];

test.each(pages.flatMap((path) => ([1280, 390] as const).map((width) => [path, width] as const)))(
  'nothing moves on %s at %i px while its data arrives',
  async (path, width) => {
    const { page, settled } = await open(path, { as: await operator(), width });
    await settled();
    await page.locator('main').getByText('Loading…').first().waitFor({ state: 'detached' });
    expect(await page.evaluate<Shift[]>(shifts)).toEqual([]);
  },
);
