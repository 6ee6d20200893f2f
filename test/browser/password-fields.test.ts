import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createConsolePages } from '../support/console-pages.js';
import { type ElementPages, startElementPages } from '../support/elements.js';

/** The fields for passwords of the elements and of the console: ASVS 5.0, 6.2.6 and 6.2.7. */

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off' });
});
afterAll(() => pages?.close());
const { open } = createConsolePages(
  () => pages.app,
  () => pages.browser,
);

const phrase = 'a kettle full of stars';

/** Copies what the field contains, as a password manager or a person does. */
async function copy(page: Page, from: Locator): Promise<void> {
  await from.fill(phrase);
  await from.press('ControlOrMeta+A');
  await from.press('ControlOrMeta+C');
  await page.keyboard.press('End');
}

async function expectMaskedAndPasted(field: Locator, autocomplete: string): Promise<void> {
  expect(await field.getAttribute('type')).toBe('password');
  expect(await field.getAttribute('autocomplete')).toBe(autocomplete);
  await field.press('ControlOrMeta+V');
  expect(await field.inputValue()).toBe(phrase);
}

test('the password of <postern-sign-in> is masked, can be shown and pasted, and password managers find it', async () => {
  const { page } = await pages.show('postern-sign-in');
  const identity = page.getByRole('textbox', { name: 'Email, phone or username' });
  await copy(page, identity);
  await identity.fill('ada');
  await page.getByRole('button', { name: 'Continue' }).click();
  const field = page.getByLabel('Password', { exact: true });
  await expectMaskedAndPasted(field, 'current-password');
  expect(await page.locator('form input[autocomplete=username]').inputValue()).toBe('ada');
  await page.getByRole('button', { name: 'Show the password' }).click();
  await expect.poll(() => field.getAttribute('type')).toBe('text');
});

test('the password of the console is masked, can be shown and pasted, and password managers find it', async () => {
  const { page } = await open('/console');
  const identity = page.getByLabel('Mail address, username or phone');
  await copy(page, identity);
  expect(await identity.getAttribute('autocomplete')).toBe('username');
  const field = page.getByLabel('Password', { exact: true });
  await expectMaskedAndPasted(field, 'current-password');
  await page.getByText('Show the password').click();
  await expect.poll(() => field.getAttribute('type')).toBe('text');
});
