import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Preferences } from '../../../src/contract/preferences.js';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser, newEmail } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', NOTIFICATION_TYPES: 'payment' });
  browser = await launchBrowser();
  await admin('PUT', '/categories/billing', {
    title: { en: 'Bills' },
    defaults: { sms: 'off' },
    digest: { every: '1d' },
  });
  await admin('PUT', '/categories/alarm', { title: { en: 'Alarms' }, is_critical: true });
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const preferencesOf = async ({ id }: User) => (await admin<Preferences>('GET', `/users/${id}/preferences`)).body;
const cell = (page: Page, category: string, channel: string) =>
  page.getByRole('group', { name: category }).getByLabel(channel, { exact: true });

test('an operator sees and changes what a user has chosen', async () => {
  const email = newEmail();
  const user = await createUser(postern, { email });
  await admin('POST', '/suppressions', { email });
  await admin('PATCH', `/users/${user.id}/preferences`, { categories: { billing: { push: 'off' } } });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, {
    as: await operator(),
  });
  await expect.poll(() => cell(page, 'Bills', 'Push').inputValue()).toBe('off');
  expect(await cell(page, 'Bills', 'SMS').locator('option:checked').textContent()).toBe('Off (default)');
  await page.getByText('the address is suppressed').waitFor();
  expect(await cell(page, 'Alarms', 'Push').isDisabled()).toBe(true);
  await cell(page, 'Bills', 'SMS').selectOption('On');
  await expect.poll(async () => (await preferencesOf(user)).categories.billing?.cells.sms.value).toBe('on');
  // When it was chosen.
  await page
    .getByText(/^chosen /)
    .first()
    .waitFor();
  await cell(page, 'Bills', 'Push').selectOption('On (default)');
  await expect.poll(async () => (await preferencesOf(user)).categories.billing?.cells.push.is_chosen).toBe(false);
  await cell(page, 'Bills', 'Inbox').selectOption('Off');
  await page.getByText('not in the inbox, not counted').waitFor();
  expect((await preferencesOf(user)).categories.billing?.cells.inbox).toMatchObject({ value: 'off', is_chosen: true });
  await cell(page, 'Everything', 'Push').selectOption('Off');
  await page.getByText('off as a whole').first().waitFor();
  expect((await preferencesOf(user)).channels.push).toBe('off');
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});

test('an operator sees and changes quiet hours, their time zone, and whether mails come as a digest', async () => {
  const user = await createUser(postern);
  const night = { from: '23:00', until: '06:30', days: ['fri', 'sat'] };
  await admin('PATCH', `/users/${user.id}/preferences`, { quiet_hours: night, time_zone: 'Europe/Madrid' });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, {
    ...{ as: await operator(), width: 390 },
  });
  const quiet = page.getByRole('group', { name: 'Quiet hours and time zone' });
  await expect.poll(() => quiet.getByLabel('From').inputValue()).toBe('23:00');
  expect(await quiet.getByLabel('Time zone').inputValue()).toBe('Europe/Madrid');
  await quiet.getByLabel('Sat').click();
  await expect.poll(async () => (await preferencesOf(user)).quiet_hours?.days).toEqual(['fri']);
  // Quiet hours without a day would be none.
  await expect.poll(() => quiet.getByLabel('Fri').isDisabled()).toBe(true);
  await quiet.getByLabel('From').fill('21:15');
  await quiet.getByLabel('Until').fill('08:00');
  await quiet.getByLabel('Until').press('Shift+Tab');
  await expect
    .poll(async () => (await preferencesOf(user)).quiet_hours)
    .toEqual({ from: '21:15', until: '08:00', days: ['fri'] });
  await quiet.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await expect.poll(async () => (await preferencesOf(user)).time_zone).toBe('Asia/Tokyo');
  await cell(page, 'Bills', 'Mail').selectOption('Digest');
  await expect.poll(async () => (await preferencesOf(user)).categories.billing?.cells.email.value).toBe('digest');
  expect(await cell(page, 'Alarms', 'Mail').locator('option').allTextContents()).not.toContain('Digest');
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
  await quiet.getByLabel('Quiet hours').click();
  await expect.poll(async () => (await preferencesOf(user)).quiet_hours).toBeNull();
});

test('a support agent cannot change those of an operator', async () => {
  const other = await operator();
  const { page } = await open(`/console/users/${other.session.user_id}`, { as: await operator('support') });
  await expect.poll(() => cell(page, 'Bills', 'Push').isDisabled()).toBe(true);
});
