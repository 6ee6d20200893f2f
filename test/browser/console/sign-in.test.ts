import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser, password } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '3' });
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

async function enterPassword(page: Page, identity: string, secret = password): Promise<void> {
  await page.getByLabel('Mail address, username or phone').fill(identity);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const isOnOverview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

describe('signing in', () => {
  test('takes the password, then the code of the app, and stays signed in after a reload', async () => {
    const person = await operator();
    const { page, context, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console');
    await expectAccessible();
    await enterPassword(page, person.username);
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    await expectAccessible();
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await isOnOverview(page);
    await page.reload();
    await isOnOverview(page);
    // No script can read the login: it is in no storage, and not in the cookies that a script sees.
    expect(await page.evaluate('document.cookie')).toBe('');
    const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(stored).not.toMatch(/ps[as]_/);
    expect((await context.cookies()).map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toContainEqual([
      true,
      'Strict',
    ]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('opens the page that was asked for', async () => {
    const person = await operator();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts?q=bobby');
    await enterPassword(page, person.username);
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await page.getByRole('heading', { name: 'Components and states', level: 1 }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('bobby');
    await expectNoErrorsOrSidewaysScroll();
  });

  test('says that a password or a code was wrong, and takes another', async () => {
    const person = await operator();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
    await enterPassword(page, person.username, 'not this one');
    await page.getByText('The sign-in failed.').waitFor();
    await enterPassword(page, person.username);
    await page.getByLabel('6-digit code').fill('000000');
    await page.getByText('That code is wrong, or you have already used it.').waitFor();
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await isOnOverview(page);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('says that an account is locked by guesses', async () => {
    const person = await operator();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
    for (let guess = 1; guess <= 3; guess += 1) {
      await enterPassword(page, person.username, 'not this one');
      await page.getByText('The sign-in failed.').waitFor();
    }
    await enterPassword(page, person.username);
    await page
      .getByRole('alert')
      .filter({ hasText: /locked/i })
      .waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('is refused without a role, and without a second factor', async () => {
    const user = await createUser(postern);
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
    await enterPassword(page, user.username ?? '');
    await page.getByText('This account is neither an operator nor a support agent.').waitFor();
    await admin('PATCH', `/users/${user.id}`, { role: 'support' });
    await enterPassword(page, user.username ?? '');
    await page.getByText('Your role is not active yet.').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('shows the other language at once, and remembers it', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
    await page.getByRole('button', { name: 'Español' }).click();
    await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('es');
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('signing out', () => {
  test('ends the login, in all tabs of the browser', async () => {
    const person = await operator();
    const { page, context, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: person });
    const other = await context.newPage();
    await other.goto(`${postern.url}/console`);
    await isOnOverview(other);
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: person.session.token })).status).toBe(401);
    await expectNoErrorsOrSidewaysScroll();
  });
});
