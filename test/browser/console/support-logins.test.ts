import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SupportLogin } from '../../../src/contract/support-login.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { verify } from '../../support/support-logins.js';
import { createUser, signIn } from '../../support/users.js';

let postern: TestApp;
let asking: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  asking = await postern.another({ SUPPORT_CONSENT: 'on' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await asking?.close();
  await postern?.close();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const panel = (page: Page) => page.getByRole('region', { name: 'Support sign-ins' });

/** Opens the form, and fills it. */
async function ask(page: Page): Promise<void> {
  await button(page, 'Sign in as this user…').click();
  await page.getByLabel('Reason').fill('Ticket 4711: the invoice is missing');
}

describe('"Sign in as this user"', () => {
  test.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)('shows a token once that works, and ends it: %i px, %s', async (width, theme) => {
    const { open, operator } = createConsolePages(
      () => postern,
      () => browser,
    );
    const user = await createUser(postern, { name: 'Ada' });
    const shown = await open(`/console/users/${user.id}`, { as: await operator(), width, theme });
    const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
    await panel(page).getByText('No operator has signed in as this user lately.').waitFor();
    await ask(page);
    await page.getByLabel('I have to change something for the user').check();
    await expectAccessible();
    await button(page, 'Sign in').click();
    const token = await page.getByRole('dialog').locator('code').innerText();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
    const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
    expect((await verify(postern, session.token)).body).toMatchObject({ user_id: user.id, act: { write: true } });
    await button(page, 'I have copied the token').click();
    await panel(page).getByText('Ticket 4711: the invoice is missing').waitFor();
    expect(await page.content()).not.toContain(token);
    await panel(page).getByRole('button', { name: 'End' }).click();
    await button(page, 'End it').click();
    await panel(page).getByText('ended').waitFor();
    expect((await verify(postern, session.token)).status).toBe(401);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('waits for the user, who allows it, and gets the token then', async () => {
    const { open, operator, admin } = createConsolePages(
      () => asking,
      () => browser,
    );
    const user = await createUser(asking, { name: 'Ada' });
    const { session } = await signIn(asking, user);
    const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, {
      as: await operator(),
    });
    await ask(page);
    await button(page, 'Sign in').click();
    await panel(page).getByText('waits for the user').waitFor();
    const { body } = await admin<SupportLogin[]>('GET', `/users/${user.id}/support-logins`);
    await asking.api('PUT', `/v1/account/support-logins/${body[0]?.id}`, { bearer: session.token });
    // The page asks again while it waits.
    await panel(page).getByText('allowed', { exact: true }).waitFor();
    await expectAccessible();
    await panel(page).getByRole('button', { name: 'Get the token' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Get the token' }).click();
    const token = await eventually('the token', async () => page.getByRole('dialog').locator('code').innerText());
    expect((await asking.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
    await button(page, 'I have copied the token').click();
    await panel(page).getByText('active').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('is not offered to support staff, nor for a user with a role', async () => {
    const { open, operator } = createConsolePages(
      () => postern,
      () => browser,
    );
    const user = await createUser(postern);
    const support = await open(`/console/users/${user.id}`, { as: await operator('support') });
    await panel(support.page).getByText('No operator has signed in').waitFor();
    expect(await button(support.page, 'Sign in as this user…').count()).toBe(0);
    const colleague = await createUser(postern, { role: 'support' });
    const other = await open(`/console/users/${colleague.id}`, { as: await operator() });
    await panel(other.page).getByText('No operator has signed in').waitFor();
    expect(await button(other.page, 'Sign in as this user…').count()).toBe(0);
  });
});
