import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { codeOf, createUser, emailLogin, newEmail } from '../support/users.js';

/** The page of the link in a mail, opened by people and by the programs that check mails. */

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  [postern, browser] = await Promise.all([
    startTestApp({ PUBLIC_URL: 'http://localhost', LOGIN_LINK: 'on', PIN_POLICY: 'off', ALLOW_CONSOLE_CODES: 'true' }),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await postern.close();
});

async function begin() {
  const { email } = await createUser(postern, { email: newEmail() });
  const { body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: emailLogin(email) });
  const code = await codeOf(postern, body.id);
  return { id: body.id, code, link: `${postern.url}/link#${body.id}.${code}` };
}

test('a scanner that opens the link, runs its script and clicks on everything uses nothing up', async () => {
  const { id, code, link } = await begin();
  const page = await browser.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  for (let visit = 0; visit < 3; visit += 1) {
    await page.goto(link);
    await expect.poll(() => page.textContent('output')).toBe(code);
    for (const element of await page.locator('body *:visible').all()) await element.click();
    await page.keyboard.press('Enter');
    await page.goto('about:blank');
  }
  await fetch(link);
  await fetch(link, { method: 'HEAD' });
  expect(new Set(requests)).toEqual(new Set(['GET /link']));
  expect(complaints).toEqual([]);
  expect((await postern.api<Authentication>('GET', `/v1/tokens/${id}`)).body.status).toBe('pending');
  const answer = await postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret: code } });
  expect(answer.body.status).toBe('approved');
  await page.close();
});

test('the page takes the code out of the address and the history, and shows the next link too', async () => {
  const page = await browser.newPage();
  const [first, second] = [await begin(), await begin()];
  await page.goto(first.link);
  await expect.poll(() => page.textContent('output')).toBe(first.code);
  expect(page.url()).toBe(`${postern.url}/link`);
  await page.evaluate(`location.hash = '#${second.id}.${second.code}'`);
  await expect.poll(() => page.textContent('output')).toBe(second.code);
  await page.close();
});

test.each(['', '#', '#1.123456', '#<img src=x onerror=alert(1)>.123456'])(
  'a broken link (%s) shows no code',
  async (hash) => {
    const page = await browser.newPage();
    await page.goto(`${postern.url}/link${hash}`);
    expect(await page.isVisible('#missing')).toBe(true);
    expect(await page.isVisible('output')).toBe(false);
    await page.close();
  },
);

test.each([
  ['light', 'en-US'],
  ['dark', 'es-ES'],
] as const)('the page in %s and %s is accessible, and fits a narrow window', async (colorScheme, locale) => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // The policy of the page allows no other script, so the check brings its own.
  const context = await browser.newContext({
    colorScheme,
    locale,
    viewport: { width: 320, height: 600 },
    bypassCSP: true,
  });
  const page = await context.newPage();
  await page.goto((await begin()).link);
  await page.evaluate(axe);
  const violations = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
  expect(violations).toEqual([]);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(320);
  await context.close();
});
