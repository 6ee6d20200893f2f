import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser, newEmail } from '../../support/users.js';

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

/** The answer to "Can they log in?". */
const headingNo = (page: Page) => page.getByRole('heading', { name: 'No', exact: true });

test('a search that finds no user links to the login check, which offers to create the user', async () => {
  const email = newEmail();
  const query = new URLSearchParams({ q: email });
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users?${query}`, { as: await operator() });
  await page.getByRole('link', { name: `Why can “${email}” not sign in?` }).click();
  await page.getByText(`No user has “${email}”.`).waitFor();
  await headingNo(page).waitFor();
  expect(await page.getByLabel('Type of identity').inputValue()).toBe('email');
  await page.getByRole('button', { name: 'Create the user…' }).first().click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Mail address', { exact: true }).inputValue()).toBe(email);
  await dialog.getByLabel('Password').fill('a battery of horses');
  await dialog.getByRole('button', { name: 'Create user' }).click();
  await page.getByRole('link', { name: `Open ${email}` }).waitFor();
  const found = await admin<{ email: string }[]>('GET', `/users?search=${encodeURIComponent(email)}`);
  expect(found.body.map((user) => user.email)).toEqual([email]);
  await expectNoErrorsOrSidewaysScroll();
});

describe('the login check of an existing user', () => {
  test('is started by keyboard alone, and its buttons work', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    await admin('POST', `/users/${user.id}/lock`, { permanent: true, reason: 'Stolen' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/login-check', { as: await operator() });
    await page.getByLabel('What the user types to sign in').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(user.username ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('An operator locked the user: Stolen.').waitFor();
    expect(new URL(page.url()).searchParams.get('value')).toBe(user.username);
    await page.getByRole('button', { name: 'Unlock' }).click();
    await eventually(
      'the unlock',
      async () => (await admin('GET', `/users/${user.id}`)).body.lock === null || undefined,
    );
    await page.getByText('An operator locked the user: Stolen.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Open Ada' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test("opens the user's page with the form, if a change needs a form", async () => {
    const user = await createUser(postern);
    await admin('PATCH', `/users/${user.id}`, { password: null });
    const query = new URLSearchParams({ type: 'username', value: user.username ?? '' });
    const { page } = await open(`/console/users/login-check?${query}`, { as: await operator() });
    await page.getByRole('button', { name: 'Set a password…' }).click();
    await page.getByRole('dialog').getByLabel('New password').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/users/${user.id}`);
  });

  test('shows an error of the network address at its field', async () => {
    const query = new URLSearchParams({ value: 'ada', address: 'not an address' });
    const { page } = await open(`/console/users/login-check?${query}`, { as: await operator('support') });
    await page.locator('[aria-invalid]').waitFor();
    expect(await page.getByLabel('Network address (optional)').getAttribute('aria-invalid')).toBe('true');
  });
});

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in the %s theme at %i px', (theme, width) => {
  test('the page has no finding of axe-core, also with a hostile value', async () => {
    const value = `<b>${'W'.repeat(220)}</b>ليلى\u202e`;
    const query = new URLSearchParams({ value });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(
      `/console/users/login-check?${query}`,
      {
        ...{ as: await operator(), theme, width },
      },
    );
    await page.getByText('This is not a valid username.').waitFor();
    await expectAccessible();
    await page.getByLabel('What the user types to sign in').fill(`${'w'.repeat(60)}@example.com`);
    await page.getByLabel('What the user types to sign in').press('Enter');
    await headingNo(page).waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });
});
