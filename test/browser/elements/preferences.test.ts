import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Preferences } from '../../../src/contract/preferences.js';
import type { User } from '../../../src/contract/user.js';
import { type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createUser, newEmail, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off' });
  await define('billing', { title: { en: 'Bills' }, description: { en: 'New bills' }, defaults: { sms: 'off' } });
  await define('alarm', { is_critical: true, title: { en: 'Alarms' }, defaults: { sms: 'off' } });
});
afterAll(() => pages?.close());

const define = (name: string, body: object) =>
  pages.app.api('PUT', `/admin/v1/categories/${name}`, { bearer: pages.app.adminKey, body });
const preferencesOf = (user: User, options: ShowOptions = {}) =>
  pages.show('postern-preferences', { login: { identity: user.username ?? '', password }, ...options });
const stored = async ({ id }: User) => {
  const { adminKey: bearer, api } = pages.app;
  return (await api<Preferences>('GET', `/admin/v1/users/${id}/preferences`, { bearer })).body;
};

test('a cell, a channel and the time zone are saved at once, and the page hears of each', async () => {
  const user = await createUser(pages.app);
  const { page, events, expectNoErrorsOrSidewaysScroll } = await preferencesOf(user);
  await page.getByRole('switch', { name: 'Bills Email' }).click();
  await expect.poll(async () => (await stored(user)).categories.billing?.cells.email.value).toBe('off');
  await page.getByRole('switch', { name: 'Bills SMS' }).press('Space');
  await expect.poll(async () => (await stored(user)).categories.billing?.cells.sms.value).toBe('on');
  await page.getByRole('switch', { name: 'Push', exact: true }).click();
  await expect.poll(async () => (await stored(user)).channels.push).toBe('off');
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Pacific/Auckland');
  await expect.poll(async () => (await stored(user)).time_zone).toBe('Pacific/Auckland');
  await expect
    .poll(() => events('changed'))
    .toEqual([
      { categories: { billing: { email: 'off' } } },
      { categories: { billing: { sms: 'on' } } },
      { channels: { push: 'off' } },
      { time_zone: 'Pacific/Auckland' },
    ]);
  await expectNoErrorsOrSidewaysScroll();
});

test('mails of a category with a digest come alone, as a summary or not at all', async () => {
  await define('club', { title: { en: 'Club' }, digest: { every: 'daily 09:00' } });
  const user = await createUser(pages.app);
  const { page } = await preferencesOf(user);
  const cell = page.getByRole('combobox', { name: 'Club Email' });
  await expect.poll(() => cell.locator('option').allTextContents()).toEqual(['On', 'Off', 'Summary']);
  await cell.selectOption('Summary');
  await expect.poll(async () => (await stored(user)).categories.club?.cells.email.value).toBe('digest');
  expect(await page.getByRole('switch', { name: 'Club Push' }).count()).toBe(1);
  expect(await page.getByRole('switch', { name: 'Bills Email' }).count()).toBe(1);
});

test('quiet hours are turned on and off, and their times and days saved', async () => {
  const user = await createUser(pages.app);
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await preferencesOf(user);
  const hours = async () => (await stored(user)).quiet_hours;
  const from = page.getByLabel('From');
  expect(await from.isVisible()).toBe(false);
  await page.getByRole('switch', { name: 'Quiet hours' }).press('Space');
  await expect.poll(hours).toEqual({ from: '22:00', until: '07:00' });
  await from.fill('21:30');
  await page.getByLabel('Until').fill('06:15');
  await page.getByLabel('Until').blur();
  await expect.poll(hours).toEqual({ from: '21:30', until: '06:15' });
  for (const day of ['Sat', 'Sun']) {
    await page.getByRole('checkbox', { name: day }).uncheck();
    await expect.poll(async () => (await hours())?.days?.includes(day.toLowerCase() as 'sat')).toBe(false);
  }
  expect(await hours()).toEqual({ from: '21:30', until: '06:15', days: ['mon', 'tue', 'wed', 'thu', 'fri'] });
  // Quiet hours without a length would be none.
  await from.fill('06:15');
  await from.blur();
  await page.getByText('Choose two different times.').waitFor();
  expect((await hours())?.from).toBe('21:30');
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
  await page.getByRole('switch', { name: 'Quiet hours' }).press('Space');
  await expect.poll(hours).toBeNull();
  await expect.poll(() => from.isVisible()).toBe(false);
});

test('a channel that is off disables its cells, and says that only what cannot be turned off arrives', async () => {
  const user = await createUser(pages.app);
  const { page } = await preferencesOf(user);
  const cell = page.getByRole('switch', { name: 'Bills Push' });
  const channel = page.getByRole('switch', { name: 'Push', exact: true });
  await channel.click();
  await expect.poll(() => cell.isDisabled()).toBe(true);
  await page.getByText('Only what cannot be turned off arrives here.').filter({ visible: true }).waitFor();
  await channel.click();
  await expect.poll(() => cell.isEnabled()).toBe(true);
  expect(await cell.isChecked()).toBe(true);
});

test('a category can be kept out of the inbox, also while pushes are off, and the page says what that means', async () => {
  const user = await createUser(pages.app);
  const { page } = await preferencesOf(user);
  await page.getByRole('switch', { name: 'Push', exact: true }).click();
  const cell = page.getByRole('switch', { name: 'Bills Inbox' });
  await expect.poll(async () => (await stored(user)).channels.push).toBe('off');
  expect(await cell.isEnabled()).toBe(true);
  const note = page.getByRole('listitem').filter({ hasText: 'Bills' }).getByText('Does not appear in your inbox');
  expect(await note.isVisible()).toBe(false);
  await cell.press('Space');
  await note.waitFor();
  await expect.poll(async () => (await stored(user)).categories.billing?.cells.inbox.value).toBe('off');
  await cell.press('Space');
  await expect.poll(() => note.isVisible()).toBe(false);
  await expect.poll(async () => (await stored(user)).categories.billing?.cells.inbox.value).toBe('on');
});

test('a critical category has no switches, and says what it does', async () => {
  const { page } = await preferencesOf(await createUser(pages.app));
  const row = page.getByRole('listitem').filter({ hasText: 'Alarms' });
  await row.getByText('you cannot turn it off').waitFor();
  expect(await row.getByRole('switch').count()).toBe(0);
  expect(await row.getByText(/^(Inbox|Push|Email|SMS): /).allInnerTexts()).toEqual([
    'Inbox: Always on',
    'Push: Always on',
    'Email: Always on',
    'SMS: Not sent',
  ]);
});

test('an address that gets nothing is explained, with a link to the account if the page has one', async () => {
  const { adminKey: bearer, api } = pages.app;
  const email = newEmail();
  const user = await createUser(pages.app, { email });
  await api('POST', '/admin/v1/suppressions', { bearer, body: { email } });
  const { page } = await preferencesOf(user);
  await page.getByText('Mails to you came back').waitFor();
  await page.getByText('You have no phone number yet.').waitFor();
  expect(await page.getByRole('link').count()).toBe(0);
  await page.evaluate(`element.setAttribute('account-url', 'javascript:alert(1)')`);
  await page.evaluate(`element.setAttribute('account-url', '/account')`);
  await page.getByRole('link', { name: 'Open your account' }).first().waitFor();
  expect(await page.getByRole('link').first().getAttribute('href')).toBe('/account');
});

test('a change that the service refuses is undone and explained, and the focus stays at its switch', async () => {
  const user = await createUser(pages.app);
  await define('temporary', { title: { en: 'Temporary' } });
  const { page, events } = await preferencesOf(user);
  const cell = page.getByRole('switch', { name: 'Temporary Push' });
  await cell.waitFor();
  await define('temporary', { title: { en: 'Temporary' }, is_critical: true });
  await cell.press('Space');
  await page.getByText('This can no longer be changed.').waitFor();
  // The page shows it as it is now.
  await page.getByRole('listitem').filter({ hasText: 'Temporary' }).getByText('you cannot turn it off').waitFor();
  expect(await events('error')).toMatchObject([{ kind: 'problem', code: 'validation_failed' }]);
  const bill = page.getByRole('switch', { name: 'Bills Push' });
  await bill.press('Space');
  await expect.poll(() => page.getByText('This can no longer be changed.').count()).toBe(0);
  await expect.poll(() => page.evaluate('element.shadowRoot.activeElement?.dataset.key')).toBe('billing push');
  expect(await bill.isChecked()).toBe(false);
});

test('another language of the page keeps the focus and reads nothing again', async () => {
  const user = await createUser(pages.app);
  const { page } = await preferencesOf(user);
  await page.getByRole('switch', { name: 'Bills Email' }).focus();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.evaluate(`element.lang = 'es'`);
  await page.getByText('Dónde te avisamos').waitFor();
  await expect.poll(() => page.evaluate('element.shadowRoot.activeElement?.dataset.key')).toBe('billing email');
  expect(requests.filter((url) => url.includes('/v1/preferences'))).toEqual([]);
});

test('a user who signs out leaves nothing on the page', async () => {
  const { page } = await preferencesOf(await createUser(pages.app));
  await page.getByRole('switch', { name: 'Bills Email' }).waitFor();
  await page.evaluate('postern.logOut()');
  await page.getByText('Sign in to see your settings.').waitFor();
  expect(await page.getByRole('switch').count()).toBe(0);
});

test('an open topic is joined, its pushes are turned off, and it is left again', async () => {
  const { adminKey: bearer, api } = pages.app;
  const put = (key: string, body: object) => api('PUT', `/admin/v1/topics/${key}`, { bearer, body });
  await put('club.chess', { title: 'Chess club', is_open: true });
  await put('staff', { title: 'Staff' });
  const user = await createUser(pages.app);
  await api('PUT', `/admin/v1/topics/staff/subscriptions/${user.id}`, { bearer });
  const { page, events, expectNoErrorsOrSidewaysScroll } = await preferencesOf(user);
  const pushes = page.getByRole('switch', { name: 'Chess club Push' });
  await page.getByRole('button', { name: 'Join Chess club' }).click();
  await pushes.click();
  await expect.poll(async () => (await stored(user)).topics).toEqual({ 'club.chess': { push: 'off' } });
  await pushes.click();
  await expect.poll(async () => (await stored(user)).topics).toEqual({});
  await page.getByRole('button', { name: 'Leave Chess club' }).click();
  await page.getByRole('button', { name: 'Join Chess club' }).waitFor();
  expect(await pushes.count()).toBe(0);
  // A topic that is not open cannot be joined again, and the page says so before and after.
  const staff = page.getByRole('listitem').filter({ hasText: 'Staff' });
  await staff.getByText('If you leave, you cannot join again').waitFor();
  await staff.getByRole('button', { name: 'Leave Staff' }).press('Enter');
  await staff.getByText('You have left.').waitFor();
  expect(await staff.getByRole('button').count()).toBe(0);
  expect(await events('subscription')).toEqual([
    { key: 'club.chess', is_subscribed: true },
    { key: 'club.chess', is_subscribed: false },
    { key: 'staff', is_subscribed: false },
  ]);
  await expectNoErrorsOrSidewaysScroll();
});

test('many topics are read page by page, and a failed read is explained and repeated', async () => {
  const { adminKey: bearer, api } = pages.app;
  const keys = Array.from({ length: 55 }, (_, index) => `many.${index}`);
  await Promise.all(
    keys.map((key) => api('PUT', `/admin/v1/topics/${key}`, { bearer, body: { title: key, is_open: true } })),
  );
  const { page } = await preferencesOf(await createUser(pages.app));
  const joins = page.getByRole('button', { name: 'Join many.' });
  const more = page.getByRole('button', { name: 'Show more' });
  await more.waitFor();
  const before = await joins.count();
  await page.route('**/v1/topics/page*', (route) => route.abort());
  await more.click();
  await page.getByText('The groups and topics could not be loaded.').waitFor();
  await page.unroute('**/v1/topics/page*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => joins.count()).toBe(55);
  expect(before).toBeLessThan(55);
  await Promise.all(keys.map((key) => api('DELETE', `/admin/v1/topics/${key}`, { bearer })));
});
