import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

/** The page, with the errors that the browser reports, such as what the policy forbids. */
async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}) {
  const page = await (await browser.newContext({ ...options, bypassCSP: false })).newPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(postern.url + path);
  await page.locator('#filter').waitFor();
  return { page, errors };
}

const violationsOf = async (page: Page) => {
  const found = await page.evaluate(
    `${axe}; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
  );
  return found as string[];
};

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)('/docs breaks no rule of axe, closed and opened, in %s at %d px', async (colorScheme, width) => {
  const { page, errors } = await open('/docs#createToken', { colorScheme, viewport: { width, height: 900 } });
  await page.locator('#createToken .inline').first().waitFor();
  await page.evaluate(
    `document.querySelectorAll('#getUser, #schema-User').forEach((one) => { one.open = true; one.closest('.group').open = true; })`,
  );
  await page.locator('#getUser .inline').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
  expect(errors).toEqual([]);
  expect(await violationsOf(page)).toEqual([]);
  await page.context().close();
});

test('/docs has all operations, closed, and the filter shows those with all words', async () => {
  const { page, errors } = await open('/docs');
  const count = Object.values(postern.app.swagger().paths ?? {}).flatMap((path) => Object.keys(path ?? {})).length;
  expect(await page.locator('.operation').count()).toBe(count);
  expect(await page.locator('.operation').filter({ visible: true }).count()).toBe(0);
  await page.locator('#filter').fill('account_temporarily_locked post /v1/tokens');
  await page.locator('#createToken').waitFor();
  const shown = await page.locator('.operation').filter({ visible: true }).count();
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(10);
  expect(await page.locator('output').textContent()).toBe(`${shown} operations`);
  await page.locator('#filter').fill('');
  expect(await page.locator('output').textContent()).toBe(`${count} operations`);
  expect(errors).toEqual([]);
  await page.context().close();
});

test('a link to a schema opens it', async () => {
  const { page } = await open('/docs#createToken');
  await page.locator('#createToken a[href="#schema-TokenRequest"]').first().click();
  await page.locator('#schema-TokenRequest td').first().waitFor();
  expect(await page.locator('#schema-TokenRequest td').first().isVisible()).toBe(true);
  await page.context().close();
});
