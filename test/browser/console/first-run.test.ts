import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { addAuthenticator, launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';

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

const { open, admin, operator, setUpLink, codeFor } = createConsolePages(
  () => postern,
  () => browser,
);
const validPassword = 'a battery of horses';

/** Fills the first two steps of the set-up. */
async function enter(page: Page, fields: Readonly<Record<string, string>>, password = validPassword): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Next' }).click();
}

/** Types the code for the key that the page shows. */
async function enterCode(page: Page): Promise<void> {
  const key = (await page.locator('code', { hasText: /^(?:[A-Z2-7]{4} ?){6,}$/ }).innerText()).replaceAll(' ', '');
  await page.getByLabel('The 6 digits').fill(await codeFor(key));
}

describe('a set-up link', () => {
  test('leads a newcomer through three steps and the recovery codes to the overview', async () => {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(
      `/console/setup#${await setUpLink()}`,
    );
    expect(await page.getByRole('timer').innerText()).toMatch(/^(?:30|29):\d\d$/);
    await expectAccessible();
    await enter(page, { 'Your name': 'Inés Carrascosa', 'Mail address': 'ines@example.com' });
    await page.getByText('Inés Carrascosa · ines@example.com').waitFor();
    await page.getByText('19 characters').waitFor();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    await expectAccessible();
    await enterCode(page);
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    expect(await page.locator('li code').count()).toBe(10);
    expect(await page.getByRole('button', { name: 'Open the console' }).isDisabled()).toBe(true);
    await page.getByLabel('I have saved them').check();
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // The secret of the link is in no address that the browser keeps.
    expect(new URL(page.url()).hash).toBe('');
    const { body } = await admin<User[]>('GET', '/users?filter=email:eq:ines@example.com');
    expect(body).toMatchObject([{ name: 'Inés Carrascosa', role: 'operator', role_active: true }]);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('creates a support agent who signs in with a passkey', async () => {
    const secret = await setUpLink('support');
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
    await addAuthenticator(page, { verifiesUser: true });
    await page.goto(`${postern.url.replace('127.0.0.1', 'localhost')}/console/setup#${secret}`);
    await page.getByText('You will be a support agent of Postern.').waitFor();
    await enter(page, { 'Your name': 'Sam', Username: 'sam' });
    await page.getByRole('radio', { name: 'Passkey' }).check();
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByLabel('I have saved them').check();
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByText('support agent').first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('opens the step with the field that the service refuses', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/setup#${await setUpLink()}`);
    await admin('POST', '/users', { username: 'taken' });
    await enter(page, { 'Your name': 'Somebody', Username: 'taken' });
    await page.getByText('Another user has this value.').waitFor();
    expect(await page.locator('input[aria-invalid]').getAttribute('autocomplete')).toBe('username');
    await page.getByLabel('Username').fill('free');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Password', { exact: true }).fill('password1234');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.locator('input[aria-invalid]').waitFor();
    expect(await page.locator('input[aria-invalid]').getAttribute('autocomplete')).toBe('new-password');
    await expectNoErrorsOrSidewaysScroll();
  });

  test('accepts another code after a wrong one', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/setup#${await setUpLink()}`);
    await enter(page, { 'Your name': 'Somebody', Username: 'second' });
    await page.getByLabel('The 6 digits').fill('000 000');
    await page.getByText('That code is wrong.').waitFor();
    expect(await page.getByLabel('The 6 digits').inputValue()).toBe('');
    await enterCode(page);
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test.each(['used', 'expired', 'wrong'])('that is %s says so, and how to get a new one', async (what) => {
    const secret = await setUpLink();
    const change = {
      used: 'used_at = db_now()',
      expired: "expires_at = db_now() - interval '1 second'",
      wrong: undefined,
    };
    const set = change[what as keyof typeof change];
    if (set !== undefined) await postern.database.query(testSql(`update setup_links set ${set}`, []));
    const opened = set === undefined ? `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}` : secret;
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`/console/setup#${opened}`);
    const title = { used: 'This link was already used', expired: 'This link has expired', wrong: 'This link is wrong' };
    await page.getByRole('heading', { name: title[what as keyof typeof title] }).waitFor();
    await page.getByText('postern operators invite').first().waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'To the sign-in page' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('without a secret says that the address is incomplete', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/setup');
    await page.getByText('The address is incomplete.').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a link for an existing user', () => {
  const linkFor = async (id: string) => {
    const { body } = await admin<{ url?: string; secret: string }>('POST', `/users/${id}/enrollment-links`);
    return `/console/setup#${body.secret}`;
  };

  test('enrols a second factor, which activates the role', async () => {
    const user = await createUser(postern, { role: 'support' });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(await linkFor(user.id));
    await page.getByRole('heading', { name: 'Activate your role' }).waitFor();
    await expectAccessible();
    await page.getByLabel('Mail address, username or phone').fill(user.username ?? '');
    await page.getByLabel('Password', { exact: true }).fill('not this one');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('The sign-in failed.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(validPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    await expectAccessible();
    await enterCode(page);
    await page.getByLabel('I have saved them').check();
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await admin('GET', `/users/${user.id}`)).body).toMatchObject({ role: 'support', role_active: true });
    await expectNoErrorsOrSidewaysScroll();
  });

  test('activates the role with a factor that the user has', async () => {
    const person = await operator('support');
    const userId = person.session.user_id;
    await postern.database.query(testSql('update users set role_active_since = null where id = $1', [userId]));
    const { page, expectNoErrorsOrSidewaysScroll } = await open(await linkFor(userId));
    await page.getByLabel('Mail address, username or phone').fill(person.username);
    await page.getByLabel('Password', { exact: true }).fill(validPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('6-digit code').waitFor();
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await page.getByText('Enter the next code of your app.').waitFor();
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await page.getByRole('button', { name: 'Activate the role' }).click();
    await page.getByRole('heading', { name: 'Your role is active' }).waitFor();
    expect((await admin('GET', `/users/${userId}`)).body).toMatchObject({ role: 'support', role_active: true });
    await expectNoErrorsOrSidewaysScroll();
  });
});
