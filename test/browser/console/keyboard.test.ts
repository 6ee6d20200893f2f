import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser, password } from '../../support/users.js';

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

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

/** The text of the element with the focus, or its label. */
const focused = (page: Page) =>
  page.evaluate<string>(`(document.activeElement.ariaLabel ?? document.activeElement.textContent ?? '').trim()`);
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
const isOn = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

test('a user without a pointer signs in, finds a page and signs out', async () => {
  const person = await operator();
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console');
  await page.keyboard.type(person.username);
  await press(page, 'Tab');
  await page.keyboard.type(password);
  await press(page, 'Enter');
  await page.getByLabel('6-digit code').waitFor();
  await person.app.rewind();
  await page.keyboard.type(await person.app.code());
  await isOn(page, 'Overview');
  await press(page, 'Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await press(page, 'Control+k');
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor();
  await page.keyboard.type('sign out');
  await press(page, 'Enter');
  await isOn(page, 'Sign in');
  await expectNoErrorsOrSidewaysScroll();
});

test('g and a letter open a page, ? lists the shortcuts, and Esc goes back', async () => {
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
    as: await operator(),
  });
  // The shortcuts of pages exist when the role of the operator is known.
  await page.getByRole('link', { name: 'Overview' }).waitFor();
  await press(page, 'g', 'o');
  await isOn(page, 'Overview');
  await press(page, '?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.waitFor();
  await expectAccessible();
  await press(page, 'Escape');
  await help.waitFor({ state: 'detached' });
  await expectNoErrorsOrSidewaysScroll();
});

test('single letters do nothing in a field, and nothing at all when they are turned off', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: await operator() });
  const overview = page.getByRole('link', { name: 'Overview' });
  await overview.waitFor();
  await press(page, '/');
  await page.keyboard.type('go?');
  expect(await page.getByRole('searchbox').inputValue()).toBe('go?');
  await isOn(page, 'Components and states');
  await press(page, 'Escape', '?');
  await page.getByLabel('Use single letters as shortcuts').click();
  await press(page, 'Escape');
  await press(page, 'g', 'o', '?');
  await isOn(page, 'Components and states');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.reload();
  await overview.waitFor();
  await press(page, 'g', 'o');
  await isOn(page, 'Components and states');
  // Ctrl K is not a single letter, so it still works.
  await press(page, 'Control+k');
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('keys move through the rows of a list, select them and open them', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: await operator() });
  await page.getByRole('table', { name: 'A list' }).waitFor();
  await press(page, 'j');
  expect(await focused(page)).toContain('ليلى');
  await press(page, 'j', 'x', 'ArrowDown', 'Shift+X');
  await page.getByRole('status').filter({ hasText: '2 selected' }).waitFor();
  await press(page, 'k', 'Enter');
  await page.getByRole('region', { name: 'Messages' }).getByText('<b>Bobby</b> Tables').waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('a dialog takes the focus, keeps it, and gives it back', async () => {
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
    as: await operator(),
  });
  const opener = page.getByRole('button', { name: 'Delete…' });
  await opener.focus();
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog', { name: 'Erase Grace Hopper?' });
  await dialog.waitFor();
  await expectAccessible();
  const erase = dialog.getByRole('button', { name: 'Erase for good' });
  await page.keyboard.type('grac');
  expect(await erase.isDisabled()).toBe(true);
  await page.keyboard.type('e');
  expect(await erase.isEnabled()).toBe(true);
  await press(page, 'Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Delete…');
  await expectNoErrorsOrSidewaysScroll();
});

test('the palette finds a user by a part of the name, and shows all that match', async () => {
  const user = await createUser(postern, { name: 'Grace <b>Hopper</b>' });
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console', { as: await operator() });
  await press(page, 'Control+k');
  await page.keyboard.type('hopper');
  await page.getByRole('option', { name: 'Grace <b>Hopper</b>' }).waitFor();
  await expectAccessible();
  await press(page, 'Enter');
  await page.waitForURL(`${postern.url}/console/users/${user.id}`);
  await press(page, 'Control+k');
  await page.keyboard.type('hopper');
  await page.getByRole('option', { name: 'Grace <b>Hopper</b>' }).waitFor();
  await press(page, 'ArrowUp', 'Enter');
  await page.waitForURL(`${postern.url}/console/users?q=hopper`);
  await expectNoErrorsOrSidewaysScroll();
});
