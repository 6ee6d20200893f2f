import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Suppression } from '../../../src/contract/suppression.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';
import { newEmail } from '../../support/users.js';

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

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const isSuppressed = async (email: string) =>
  (await admin<Suppression>('POST', '/suppressions/find', { email })).status;

test('an operator suppresses an address, finds it, and deletes the suppression', async () => {
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/suppressions', {
    as: await operator(),
  });
  const email = newEmail();
  await page.getByText('No address is suppressed').waitFor();
  await page.getByRole('button', { name: 'Suppress an address…' }).click();
  const field = page.getByRole('dialog').getByLabel('Mail address');
  await field.fill('not an address');
  await page.getByRole('button', { name: 'Suppress the address' }).click();
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  await field.fill(email.toUpperCase());
  await page.getByRole('button', { name: 'Suppress the address' }).click();
  await page.getByRole('row', { name: 'added by an operator' }).waitFor();
  expect(await isSuppressed(email)).toBe(200);
  await page.getByLabel('Mail address').fill(newEmail());
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText(/is not suppressed/).waitFor();
  await page.getByLabel('Mail address').fill(email);
  await page.getByRole('button', { name: 'Find' }).click();
  await expectAccessible();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByText('A further bounce or complaint suppresses it again').waitFor();
  await page.getByRole('button', { name: 'Delete the suppression' }).click();
  await page.getByText('No address is suppressed').waitFor();
  expect(await isSuppressed(email)).toBe(404);
  await expectNoErrorsOrSidewaysScroll();
});

test('the list loads more rows while it is scrolled, and filters by the reason, on a phone in Spanish', async () => {
  const emails = Array.from({ length: 70 }, () => newEmail());
  await Promise.all(emails.map((email) => admin('POST', '/suppressions', { email })));
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/suppressions', {
    ...{ as: await operator(), width: 390, language: 'es' },
  });
  await page.getByText('la añadió un operador').filter({ visible: true }).first().waitFor();
  await page.getByText('70 supresiones').waitFor();
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
  await page.goto(`${postern.url}/console/suppressions?reason=complaint`);
  await page.getByText('Ninguna supresión coincide').waitFor();
});

test('a support agent changes suppressions too', async () => {
  const { page } = await open('/console/suppressions', { as: await operator('support') });
  await page.getByRole('button', { name: 'Suppress an address…' }).waitFor();
});

test('the overview counts the addresses that were suppressed after bounces and complaints', async () => {
  for (const reason of ['soft_bounces', 'hard_bounce', 'complaint']) {
    const { body } = await admin<Suppression>('POST', '/suppressions', { email: newEmail() });
    await postern.database.query(testSql('update suppressions set reason = $2 where id = $1', [body.id, reason]));
  }
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator() });
  await page.getByText('suppressed after bounces: 2').waitFor();
  await page.getByRole('link', { name: 'suppressed after complaints: 1' }).click();
  await page.getByRole('heading', { name: 'Suppressed addresses', level: 1 }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});
