import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { freePort } from '../../support/free-port.js';
import { startVendor, type Vendor } from '../../support/vendor.js';

let vendor: Vendor;
let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  vendor = await startVendor();
  const port = await freePort();
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url };
  postern = await startTestApp({
    ...{
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      REDIRECT_URIS: 'https://app.example.com/callback',
    },
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', sign_up: true },
      phones: { title: 'Apps for phones', issuer: vendor.url, client_ids: ['ours'] },
      [`w${'w'.repeat(30)}`]: { ...client, title: 'Wolfeschlegelsteinhausenbergerdorff '.repeat(4) },
    }),
  });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await vendor?.close();
});
beforeEach(() => vendor.reset());

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

/** Opens the test of Google, and goes to the provider and back in the new window. @returns that window */
async function goThrough(page: Page): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Sign in at Google' }).click();
  const window = await popup;
  await window.getByRole('link', { name: 'Go on' }).click();
  await window.waitForSelector('h1');
  return window;
}

test('a test goes through the whole login in a new window, and says what a login would do', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/providers', { as: await operator() });
  await page.getByText(`${postern.url}/callback/google`).waitFor();
  await page.getByRole('button', { name: 'Test Google' }).click();
  const email = `${randomUUID()}@gmail.com`;
  vendor.account = { sub: randomUUID(), email, email_verified: true };
  const window = await goThrough(page);
  expect(await window.locator('h1').textContent()).toBe('The test worked');
  await page.getByText('Signing in with this account makes a new user.').waitFor();
  expect(await page.getByText(email).isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByText('Works', { exact: true }).first().waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('a test that fails says at which step and why, and the page keeps it, in Spanish and on a phone', async () => {
  vendor.onToken = (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
    return true;
  };
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/providers', {
    ...{ as: await operator(), width: 390, language: 'es' },
  });
  await page.getByRole('button', { name: 'Probar Google' }).click();
  const popup = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Iniciar sesión en Google' }).click();
  const window = await popup;
  await window.getByRole('link', { name: 'Go on' }).click();
  await window.getByText('El proveedor no acepta las credenciales').waitFor();
  const failed = page.getByRole('listitem').filter({ hasText: 'ha fallado' });
  expect(await failed.textContent()).toContain('El proveedor canjea su código');
  await page
    .getByText(/Compara client_id/)
    .first()
    .waitFor();
  await expectAccessible();
  await page.getByRole('button', { name: 'Cerrar' }).click();
  await page.getByText('Los inicios de sesión con este proveedor fallan.').waitFor();
  expect(await page.getByText('Falta client_id').isVisible()).toBe(true);
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});
