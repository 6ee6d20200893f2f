import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

/** Opens the page in a fresh context. @returns milliseconds until the first operation is shown */
async function open(change: (configuration: string) => string): Promise<{ page: Page; milliseconds: number }> {
  const page = await (await browser.newContext()).newPage();
  await page.route('**/swagger-initializer.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
  const start = performance.now();
  await page.goto(`${postern.url}/docs`, { waitUntil: 'commit' });
  await page.waitForSelector('.opblock');
  return { page, milliseconds: performance.now() - start };
}

const asServed = (configuration: string) => configuration;
/** Removes our plug-ins, so that Swagger UI works as it does by default. */
const withDefaultPlugins = (configuration: string) =>
  configuration.replace('}, config, {', '}, config, { plugins: [SwaggerUIBundle.plugins.DownloadUrl],');

async function timeOf(change: typeof asServed): Promise<number> {
  const { page, milliseconds } = await open(change);
  await page.context().close();
  return milliseconds;
}

test('/docs shows its first operation a quarter faster than Swagger UI without the plug-ins of Postern', async () => {
  const times = { ours: Number.POSITIVE_INFINITY, byDefault: Number.POSITIVE_INFINITY };
  const isFaster = () => times.ours < times.byDefault * 0.75;
  // The two pages load in turns, so that other load of the machine affects both. The fastest round of each had the
  // least other load, so more rounds help on a busy machine.
  for (let round = 0; round < 2 || (round < 10 && !isFaster()); round += 1) {
    times.ours = Math.min(times.ours, await timeOf(asServed));
    times.byDefault = Math.min(times.byDefault, await timeOf(withDefaultPlugins));
  }
  expect(isFaster(), JSON.stringify(times)).toBe(true);
});

test('/docs expands an operation, and offers each way to authorize', async () => {
  const { page } = await open(asServed);
  const count = Object.values(postern.app.swagger().paths ?? {}).flatMap((path) => Object.keys(path ?? {})).length;
  expect(await page.locator('.opblock').count()).toBe(count);
  await page.locator('#operations-Tokens-createToken .opblock-summary').click();
  await page.waitForSelector('#operations-Tokens-createToken .opblock-body .responses-table');
  await page.locator('.scheme-container .authorize').click();
  await page.waitForSelector('.auth-container');
  expect(await page.locator('.auth-container').count()).toBe(3);
  await page.close();
});
