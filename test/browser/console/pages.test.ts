import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages, heights } from '../../support/console-pages.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

test('the sign-in page is in Spanish for a Spanish browser, without a finding of axe-core', async () => {
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console', { language: 'es' });
  await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
  for (const width of [1280, 390] as const) {
    await page.setViewportSize({ width, height: heights[width] });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible();
    }
    await expectNoErrorsOrSidewaysScroll();
  }
});

test('a support agent sees no events, which the API would refuse', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator('support') });
  const refused: string[] = [];
  page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())));
  await page.getByText('Nothing needs your attention now.').waitFor();
  expect(await page.getByRole('heading', { name: 'Now' }).count()).toBe(0);
  expect(refused).toEqual([]);
  await expectNoErrorsOrSidewaysScroll();
});

test('the filters of a list are in the address', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts?state=locked', { as: await operator() });
  const rows = page.getByRole('table', { name: 'A list' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Remove the filter State' }).click();
  await expect.poll(() => rows.count()).toBe(5);
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('searchbox').fill('bobby');
  await expect.poll(() => new URL(page.url()).search).toBe('?q=bobby');
  await expect.poll(() => rows.count()).toBe(2);
  await expectNoErrorsOrSidewaysScroll();
});
