import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { codeTo } from '../../support/account.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { activateRoleOf } from '../../support/operators.js';
import { createUser, newEmail, password, passwordLogin } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  const generous = { LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' };
  postern = await startTestApp({ ...generous, MAIL_PROVIDER: 'console', SECOND_FACTOR: 'required' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, admin, operator, codeFor } = createConsolePages(
  () => postern,
  () => browser,
);
const isOnOverview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
/** A picture for a person to look at, with CONSOLE_PICTURES. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.CONSOLE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
async function enterPassword(page: Page, { username }: User): Promise<void> {
  await page.getByLabel('Mail address, username or phone').fill(username ?? '');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}
async function enterCode(page: Page): Promise<void> {
  const key = (await page.locator('code', { hasText: /^(?:[A-Z2-7]{4} ?){6,}$/ }).innerText()).replaceAll(' ', '');
  await page.getByLabel('The 6 digits').fill(await codeFor(key));
}

test.each([
  [1280, 'light'],
  [390, 'dark'],
] as const)(
  'a login asks for a code and a new password, enrols a factor and shows recovery codes, at %d pixels, %s',
  async (width, theme) => {
    const email = newEmail();
    const user = await createUser(postern, { email, must_change: true, role: 'operator' });
    await activateRoleOf(postern, user.id);
    const shown = await open('/console', { width, theme });
    const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
    const check = async (name: string) => {
      await picture(page, `${name}-${width}`);
      await expectAccessible();
      await expectNoErrorsOrSidewaysScroll();
    };
    await enterPassword(page, user);
    await page.getByLabel('Code of the message').waitFor();
    await check('login-code');
    await page.getByLabel('Code of the message').fill(await codeTo(postern, email));
    await page.getByLabel('New password').waitFor();
    await check('login-new-password');
    await page.getByLabel('New password').fill('short');
    await press(page, 'Sign in');
    await page.getByText(/at least/).waitFor();
    await page.getByLabel('New password').fill('nine dull horses sleep');
    await press(page, 'Sign in');
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    // One way at a time.
    expect(await page.getByRole('button', { name: 'Create a passkey' }).count()).toBe(0);
    await check('login-enrol');
    await enterCode(page);
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    expect(await page.locator('li code').count()).toBe(10);
    await check('login-recovery-codes');
    await page.getByLabel('I have saved them').check();
    await press(page, 'Open the console');
    await isOnOverview(page);
  },
);

test('the page behind a link for a role shows the recovery codes of the login, before it asks for the factor', async () => {
  const user = await createUser(postern, { role: 'support' });
  const { body } = await admin<{ secret: string }>('POST', `/users/${user.id}/enrollment-links`);
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(`/console/setup#${body.secret}`);
  await enterPassword(page, user);
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await enterCode(page);
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  const codes = await page.locator('li code').allInnerTexts();
  expect(codes).toHaveLength(10);
  await expectAccessible();
  await page.getByLabel('I have saved them').check();
  await press(page, 'Next');
  await page.getByLabel('6-digit code').waitFor();
  const begun = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
  const answer = { body: { secret: codes[0] } };
  const used = await postern.api<{ status: string }>('POST', `/v1/tokens/${begun.body.id}/secret`, answer);
  expect(used.body.status).toBe('approved');
  await expectNoErrorsOrSidewaysScroll();
});

test('the menu signs out everywhere else', async () => {
  const person = await operator();
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: person });
  const start = async () => {
    await person.app.rewind();
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: passwordLogin(person.username) });
    const secret = { body: { secret: await person.app.code() } };
    return (await postern.api<{ token: string }>('POST', `/v1/tokens/${body.id}/secret`, secret)).body.token;
  };
  const other = await start();
  await press(page, 'Your account');
  await picture(page, 'menu');
  await page.getByRole('menuitem', { name: /everywhere/i }).click();
  const confirm = page.getByRole('dialog').getByRole('button', { name: /sign out|everywhere/i });
  if (await page.getByRole('dialog').isVisible()) await confirm.click();
  await expect.poll(async () => (await postern.api('POST', '/v1/sessions', { basic: other })).status).toBe(401);
  await page.reload();
  await isOnOverview(page);
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});
