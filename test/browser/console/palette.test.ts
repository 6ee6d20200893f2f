import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser, password, signIn } from '../../support/users.js';

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
const effect = (user: User, isDone: (user: User) => boolean) =>
  eventually('the effect of an action', async () => {
    const { body } = await admin('GET', `/users/${user.id}`);
    return isDone(body) ? body : undefined;
  });
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Leads to the actions on a user: Ctrl K, the name, and Tab. */
async function actionsOn(page: Page, name: string): Promise<void> {
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'A page, an action, a user' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type(name);
  await page.getByRole('option', { name: new RegExp(`^${name}`), selected: true }).waitFor();
  await press(page, 'Tab');
  await page.getByRole('combobox', { name: `Actions for ${name}` }).waitFor();
}
/** Types a part of an action's name and does it. */
async function act(page: Page, part: string, name: string): Promise<void> {
  await page.keyboard.type(part);
  await page.getByRole('option', { name, exact: true, selected: true }).waitFor();
  await press(page, 'Enter');
}
const unique = () => `Ada ${randomUUID().slice(0, 8)}`;

describe('the command palette', () => {
  test('leads from the sign-in to a locked and an unlocked user, by keyboard alone', async () => {
    const [person, name] = [await operator(), unique()];
    const user = await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console');
    await page.keyboard.type(person.username);
    await press(page, 'Tab');
    await page.keyboard.type(password);
    await press(page, 'Enter');
    await page.getByLabel('6-digit code').waitFor();
    await person.app.rewind();
    await page.keyboard.type(await person.app.code());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await actionsOn(page, name);
    await expectAccessible();
    await act(page, 'lock', 'Lock…');
    // The same question as on the page of the user.
    await page.getByRole('dialog', { name: `Lock ${name}?` }).waitFor();
    await press(page, 'Tab');
    await page.getByLabel('Reason').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Reported stolen');
    await press(page, 'Enter');
    const { lock } = await effect(user, (now) => now.lock !== null);
    expect(lock?.reason).toBe('Reported stolen');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('An operator locked the user').waitFor();
    // The page of a user is open: its actions need no search.
    await press(page, 'Control+k');
    await page.getByRole('option', { name: 'Unlock', exact: true }).waitFor();
    await act(page, 'unlock', 'Unlock');
    await effect(user, (now) => now.lock === null);
    await page.getByRole('heading', { name: 'Yes, they can' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('unlocks from another page, logs out everywhere, writes to a user and exports', async () => {
    const name = unique();
    const user = await createUser(postern, { name });
    const { session } = await signIn(postern, user);
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users', { as: await operator() });
    await actionsOn(page, name);
    await act(page, 'unlock', 'Unlock');
    await effect(user, (now) => now.lock === null);
    await page.getByText('Unlocked. The user can sign in again.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/users');
    await actionsOn(page, name);
    const saved = page.waitForEvent('download');
    await act(page, 'export', 'Export all stored data');
    expect((await saved).suggestedFilename()).toBe(`user-${user.id}.json`);
    await actionsOn(page, name);
    await act(page, 'sign out', 'Sign out everywhere…');
    await page.getByRole('dialog', { name: `Log ${name} out everywhere?` }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
    await press(page, 'Tab', 'Enter');
    await page.getByText('1 sign-in ended.').waitFor();
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);
    await actionsOn(page, name);
    await act(page, 'send a', 'Send a notification');
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    await page.locator('main').getByText(name).first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('goes to a part of the page of a user', async () => {
    const name = unique();
    const user = await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator(), width: 390 });
    await actionsOn(page, name);
    await act(page, 'factors', 'Go to: Factors');
    await page.waitForURL(`${postern.url}/console/users/${user.id}#factors`);
    await eventually('the panel at the top of the view', async () => {
      const box = await page.getByRole('region', { name: 'Factors' }).boundingBox();
      return box !== null && box.y >= 0 && box.y < 800 ? true : undefined;
    });
    await expectNoErrorsOrSidewaysScroll();
  });

  test('leads back from the actions on a user to the search, and closes', async () => {
    const name = unique();
    await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator() });
    await actionsOn(page, name);
    await press(page, 'Backspace');
    await page.getByRole('combobox', { name: 'A page, an action, a user' }).waitFor();
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectNoErrorsOrSidewaysScroll();
  });

  test('offers support agents no changes of users with a role', async () => {
    const name = unique();
    await createUser(postern, { name, role: 'operator' });
    const { page } = await open('/console', { as: await operator('support') });
    await actionsOn(page, name);
    await page.getByRole('option', { name: 'Export all stored data' }).waitFor();
    for (const change of ['Lock…', 'Erase…', 'Edit…']) {
      expect(await page.getByRole('option', { name: change, exact: true }).count()).toBe(0);
    }
  });
});
