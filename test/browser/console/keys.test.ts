import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKey, IssuedApiKey } from '../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';

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
const makeKey = (name: string, more: object = {}) =>
  admin<IssuedApiKey>('POST', '/keys', { name, scopes: ['users:read'], ...more });
const keysCalled = async (name: string) =>
  (await admin<ApiKey[]>('GET', '/keys?limit=100')).body.filter((key) => key.name === name);
const nameField = (page: Page) => page.getByRole('dialog').getByLabel('Name', { exact: true });
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });

test('an operator creates a key, whose token is shown once and works', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/keys', { as: await operator() });
  await page.getByText('No API key yet').waitFor();
  await page.getByRole('button', { name: 'New key…' }).click();
  const create = page.getByRole('button', { name: 'Create the key' });
  expect(await create.isDisabled()).toBe(true);
  await nameField(page).fill('billing');
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel(/Publish and change notifications/).check();
  await page.getByLabel('Valid for').selectOption('90 days');
  await create.click();
  const token = (await page.getByText(/^psk_/).textContent()) ?? '';
  expect(token).toMatch(/^psk_[\w-]{60}$/);
  const [made] = await keysCalled('billing');
  expect(made).toMatchObject({ scopes: ['notifications:write'], expires_at: expect.any(String) });
  const refused = await postern.api('GET', '/admin/v1/keys', { bearer: token });
  expect(refused.body).toMatchObject({ errors: [{ code: 'insufficient_scope' }] });
  // Only the button closes the dialog, so that an accidental key press does not lose the API key.
  await page.keyboard.press('Escape');
  expect(await page.getByText(token).isVisible()).toBe(true);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await row(page, 'billing').waitFor();
  expect(await page.content()).not.toContain(token);
  await expectNoErrorsOrSidewaysScroll();
});

test('the form keeps its draft over a reload', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/keys', { as: await operator() });
  await page.getByRole('button', { name: 'New key…' }).click();
  await nameField(page).fill('half written');
  await page.getByLabel(/Check sessions/).check();
  await page.reload();
  await page.getByRole('button', { name: 'New key…' }).click();
  expect(await nameField(page).inputValue()).toBe('half written');
  expect(await page.getByLabel(/Check sessions/).isChecked()).toBe(true);
  await expectNoErrorsOrSidewaysScroll();
});

test('an operator revokes a key after typing its name, and the API refuses the key', async () => {
  const { body: key } = await makeKey('doomed');
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/keys?q=doom', { as: await operator() });
  await row(page, 'doomed').click();
  await page.getByRole('button', { name: 'Revoke…' }).click();
  const revoke = page.getByRole('button', { name: 'Revoke the key' });
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'Type doomed to confirm' }).fill('doomed');
  await revoke.click();
  await page.getByText('doomed is revoked.').waitFor();
  await page.getByText('No key matches').waitFor();
  expect((await postern.api('GET', '/admin/v1/users', { bearer: key.token })).status).toBe(401);
  await expectNoErrorsOrSidewaysScroll();
});

test('the search is in the URL, takes any text, and the keyboard opens a row', async () => {
  await makeKey('a:b|c, d');
  await makeKey('other');
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/keys', { as: await operator() });
  await page.getByRole('searchbox').fill('b|c,');
  await row(page, 'other').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('q')).toBe('b|c,');
  await page.reload();
  await row(page, 'a:b').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Read users, devices and sign-ins').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expectNoErrorsOrSidewaysScroll();
});

test('a support agent has no link to the page, and the API refuses its data', async () => {
  const { page } = await open('/console/keys', { as: await operator('support') });
  await page.getByText('The scope admin is missing.').waitFor();
  expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
});

describe.each([
  { width: 1280, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const)('at $width px in the $theme theme', (variant) => {
  test('the list and the form have no finding of axe-core and no report', async () => {
    await makeKey('<b>W</b>'.repeat(12), { scopes: ['admin'] });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/keys', {
      as: await operator(),
      ...variant,
    });
    await page.getByText('<b>W</b>').locator('visible=true').first().waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'New key…' }).click();
    await nameField(page).waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });
});
