import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserDevice } from '../../../src/contract/administration.js';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { ageLogin } from '../../support/operators.js';
import { testSql } from '../../support/sql.js';
import { createUser, newPhone, passwordLogin, signIn } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '3', GUESS_LOCK: '1h' });
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
const pageOf = ({ id }: User, query = '') => `/console/users/${id}${query}`;
const read = async ({ id }: User) => (await admin('GET', `/users/${id}`)).body;
/** The user, once the API shows an effect. */
const effect = (user: User, isDone: (user: User) => boolean) =>
  eventually('the effect of an action', async () => {
    const now = await read(user);
    return isDone(now) ? now : undefined;
  });
const guess = async ({ username }: User) => {
  for (let times = 0; times < 3; times += 1) {
    await postern.api('POST', '/v1/tokens', { body: passwordLogin(username, 'wrong') });
  }
};
const iPhone = { make: 'Apple', model: 'iPhone 15 Pro', os_name: 'iOS', os_version: '18.1' };
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });

describe('"Can they log in?"', () => {
  test('says no from a new device and yes from a known one, and an unlock changes it', async () => {
    const user = await createUser(postern, { name: 'Grace Hopper' });
    await signIn(postern, user, iPhone);
    await guess(user);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await heading(page, /^No, until /).waitFor();
    await page.getByText('Wrong secrets locked all new devices until').waitFor();
    await page.getByRole('radio', { name: /iPhone 15 Pro/ }).check();
    await heading(page, 'Yes, they can').waitFor();
    expect(new URL(page.url()).searchParams.get('device')).not.toBeNull();
    await page.getByRole('radio', { name: /New device/ }).check();
    await heading(page, /^No, until /).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'All ways to sign in' })
      .getByRole('button', { name: 'Unlock' })
      .click();
    await heading(page, 'Yes, they can').waitFor();
    expect((await read(user)).guess_locks).toEqual([]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('the key u unlocks the user', async () => {
    const user = await createUser(postern);
    await admin('POST', `/users/${user.id}/lock`, { permanent: true, reason: 'Reported stolen' });
    const { page } = await open(pageOf(user), { as: await operator() });
    await page.getByText('An operator locked the user: Reported stolen.').waitFor();
    await page.keyboard.press('u');
    await heading(page, 'Yes, they can').waitFor();
    expect((await read(user)).lock).toBeNull();
  });
});

describe('an action on a user', () => {
  test('locks until a time, and its undo unlocks', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Lock…').click();
    await page.getByLabel('Reason').fill('Reported stolen');
    await button(page, 'Lock').click();
    const locked = await effect(user, ({ lock }) => lock !== null);
    expect(locked.lock).toMatchObject({ permanent: false, reason: 'Reported stolen' });
    await heading(page, /^No, until /).waitFor();
    await button(page, 'Undo').click();
    await effect(user, ({ lock }) => lock === null);
    await heading(page, 'Yes, they can').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('logs out one device', async () => {
    const user = await createUser(postern);
    await signIn(postern, user, iPhone);
    const { session } = await signIn(postern, user, { model: 'ThinkPad X1', os_name: 'Windows' });
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Sign out… Apple iPhone 15 Pro').click();
    await button(page, 'Sign out').click();
    await button(page, 'Sign out… Apple iPhone 15 Pro').waitFor({ state: 'detached' });
    const { body } = await admin<UserDevice[]>('GET', `/users/${user.id}/devices`);
    expect(body.map(({ model }) => model)).toEqual(['ThinkPad X1']);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  });

  test('logs the user out everywhere', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Sign out…').click();
    await button(page, 'Sign out').click();
    await page.getByText('1 sign-in ended.').waitFor();
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);
  });

  test('deactivates, and reactivates from the diagnosis', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Deactivate…' }).click();
    await page.getByLabel(`Type ${user.username} to confirm`).fill(user.username ?? '');
    await button(page, 'Deactivate').click();
    await effect(user, ({ status }) => status === 'deactivated');
    await page.getByText('The user is deactivated.').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'All ways to sign in' })
      .getByRole('button', { name: 'Reactivate' })
      .click();
    await effect(user, ({ status }) => status === 'active');
    await heading(page, 'Yes, they can').waitFor();
  });

  test('erases only after the username was typed', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Erase…' }).click();
    expect(await button(page, 'Erase for good').isDisabled()).toBe(true);
    await page.getByLabel(`Type ${user.username} to confirm`).fill(user.username ?? '');
    await button(page, 'Erase for good').click();
    await page.getByText('Ada is erased.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    expect((await admin('GET', `/users/${user.id}`)).status).toBe(404);
  });

  test('exports what is stored', async () => {
    const user = await createUser(postern);
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'More').click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export all stored data' }).click();
    expect((await saved).suggestedFilename()).toBe(`user-${user.id}.json`);
  });

  test('that needs a recent proof asks for it after an old login, and then goes on', async () => {
    const user = await createUser(postern);
    const person = await operator();
    await ageLogin(postern, person.session.user_id, 16);
    await person.app.rewind();
    const { page } = await open(pageOf(user), { as: person });
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Erase…' }).click();
    await page.getByLabel(`Type ${user.username} to confirm`).fill(user.username ?? '');
    await button(page, 'Erase for good').click();
    await page.getByLabel('Code', { exact: false }).fill(await person.app.code());
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    expect((await admin('GET', `/users/${user.id}`)).status).toBe(404);
  });
});

describe('the inbox and the activity', () => {
  test('show the delivery of a notification, and the events of a kind', async () => {
    const user = await createUser(postern);
    const body = { user_ids: [user.id], notification_type: 'payment', description: 'Ada paid you 12.50' };
    await postern.api('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body });
    await guess(user);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await page.getByRole('button', { name: /Ada paid you 12.50/ }).click();
    await page.getByText('In the inbox').waitFor();
    expect(new URL(page.url()).searchParams.get('notification')).not.toBeNull();
    await page.getByText(/^3 times/).waitFor();
    await page.getByRole('radio', { name: 'Changes' }).check();
    await page.getByText('No event matches this selection.').waitFor();
    expect(new URL(page.url()).searchParams.get('kind')).toBe('changes');
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('the activity goes back as far as it was recorded', async () => {
  const user = await createUser(postern);
  const types = `(array['device.changed', 'user.logged_out'])[1 + n % 2]`;
  const values = `$1, gen_random_uuid(), ${types}, 'user', db_now() - n * interval '1 hour', jsonb_build_object('reason', 'event ' || n)`;
  const insert = `insert into events (user_id, id, type, actor, created_at, data) select ${values} from generate_series(1, 160) n`;
  await postern.database.query(testSql(insert, [user.id]));
  const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
  const activity = page.getByRole('region', { name: 'Activity' });
  const older = button(page, 'Older');
  for (let pages = 0; pages < 3; pages += 1) {
    await older.click();
    await expect.poll(async () => (await older.count()) === 0 || (await older.isEnabled())).toBe(true);
  }
  await older.waitFor({ state: 'detached' });
  await activity
    .getByText(/81 times in|80 times in/)
    .first()
    .waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

describe('two operators', () => {
  test('see the same user after an action of one of them', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const one = await open(pageOf(user), { as: await operator() });
    const other = await open(pageOf(user), { as: await operator() });
    await heading(other.page, 'Yes, they can').waitFor();
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    await button(other.page, 'Check again').click();
    await heading(other.page, 'No').waitFor();
    await button(one.page, 'Check again').click();
    await one.page.getByRole('listitem').filter({ hasText: 'All ways to sign in' }).getByRole('button').click();
    await heading(one.page, 'Yes, they can').waitFor();
    // The other operator unlocks what is unlocked already.
    await other.page.getByRole('listitem').filter({ hasText: 'All ways to sign in' }).getByRole('button').click();
    await heading(other.page, 'Yes, they can').waitFor();
  });
});

describe('a support agent', () => {
  test('unlocks users, but cannot change users with a role', async () => {
    const as = await operator('support');
    const user = await createUser(postern);
    await guess(user);
    const { page } = await open(pageOf(user), { as });
    await page
      .getByRole('listitem')
      .filter({ hasText: 'All ways to sign in' })
      .getByRole('button', { name: 'Unlock' })
      .click();
    await heading(page, 'Yes, they can').waitFor();
    const boss = await createUser(postern, { role: 'operator' });
    const other = await open(pageOf(boss), { as });
    await other.page.getByText('Only operators can change users with a role.').waitFor();
    expect(await button(other.page, 'Lock…').count()).toBe(0);
  });
});

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in the %s theme at %i px', (theme, width) => {
  test('the page has no finding of axe-core, also with hostile values', async () => {
    const name = `<b>${'W'.repeat(120)}</b> ليلى \u2067x`;
    const user = await createUser(postern, { name, phone: newPhone(), metadata: { crm: 'x'.repeat(300) } });
    await signIn(postern, user, { id: randomUUID(), model: '<img src=x onerror=alert(1)>', os_name: 'iOS' });
    await guess(user);
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(pageOf(user), {
      as: await operator(),
      theme,
      width,
    });
    await heading(page, /^No, until /).waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('an id that no user has says so', async () => {
  const { page } = await open(`/console/users/${randomUUID()}`, { as: await operator() });
  await page.getByText('The user could not be read.').waitFor();
});
