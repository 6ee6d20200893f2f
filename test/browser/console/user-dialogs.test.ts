import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExternalIdentity } from '../../../src/contract/external-identity.js';
import type { User } from '../../../src/contract/user.js';
import { codeTo } from '../../support/account.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createFactors } from '../../support/factors.js';
import { createRecoverySteps } from '../../support/recovery.js';
import { createUser, newEmail, newPhone, passwordLogin, signIn } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', MAIL_PROVIDER: 'console', PIN_POLICY: 'required' },
    OIDC_PROVIDERS: JSON.stringify({ google: { issuer: 'https://accounts.google.com', client_ids: ['an-app'] } }),
  });
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
const accountsOf = async ({ id }: User) =>
  (await admin<ExternalIdentity[]>('GET', `/users/${id}/external-identities`)).body;
const loginStatus = async ({ username }: User, secret: string) =>
  (await postern.api<{ status: string }>('POST', '/v1/tokens', { body: passwordLogin(username, secret) })).body.status;
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const inDialog = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true });
const typeName = (page: Page, { username }: User) =>
  page.getByLabel(`Type ${username} to confirm`).fill(username ?? '');
const closed = (page: Page) => dialog(page).waitFor({ state: 'detached' });
/** The row of a way to log in, in "Can they log in?". */
const way = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Can they sign in?' }).getByRole('listitem').filter({ hasText: name });

describe('the profile', () => {
  test('is edited with errors at their fields, a draft that survives a reload, and an undo', async () => {
    const user = await createUser(postern, { name: 'Ada', metadata: { crm: 1 } });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(pageOf(user), {
      as: await operator(),
    });
    await button(page, 'Edit…').click();
    await expectAccessible();
    await page.getByLabel('Name').fill('Ada King');
    await page.getByLabel('Language').fill('not a language');
    await page.getByLabel('Metadata').fill('{');
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada King');
    await inDialog(page, 'Save').click();
    await page.getByText('This must be a JSON object.').waitFor();
    await page.getByLabel('Metadata').fill('{ "crm": 2 }');
    await inDialog(page, 'Save').click();
    await page.locator('[aria-invalid]').waitFor();
    expect(await page.getByLabel('Language').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Language').fill('es-MX');
    await inDialog(page, 'Save').click();
    await closed(page);
    expect(await read(user)).toMatchObject({ name: 'Ada King', locale: 'es-MX', metadata: { crm: 2 } });
    await page.getByRole('heading', { level: 1, name: 'Ada King' }).waitFor();
    await button(page, 'Undo').click();
    await effect(user, ({ name, locale }) => name === 'Ada' && locale === null);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('has the roles of the app and the claims, with errors at their fields', async () => {
    const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'pro' } });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(pageOf(user), {
      ...{ as: await operator(), width: 390 },
    });
    await page.getByText('editor', { exact: true }).waitFor();
    await button(page, 'Edit…').click();
    const [roles, claims] = [page.getByLabel('App roles'), page.getByLabel('Claims')];
    expect(await roles.inputValue()).toBe('editor');
    await roles.fill('editor, Billing Admin');
    await claims.fill('["pro"]');
    await inDialog(page, 'Save').click();
    await page.getByText('This must be a JSON object.').waitFor();
    expect(await claims.getAttribute('aria-invalid')).toBe('true');
    await claims.fill('{ "plan": "team", "seats": 5 }');
    await inDialog(page, 'Save').click();
    await expect.poll(() => roles.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible();
    await roles.fill('editor, billing:admin editor');
    await inDialog(page, 'Save').click();
    await closed(page);
    expect(await read(user)).toMatchObject({
      roles: ['billing:admin', 'editor'],
      claims: { plan: 'team', seats: 5 },
    });
    await page.getByText('billing:admin, editor').waitFor();
    await button(page, 'Undo').click();
    await effect(user, (now) => now.roles.join() === 'editor' && now.claims.plan === 'pro');
    await expectNoErrorsOrSidewaysScroll();
  });

  test('keeps the changes of two operators, and reports when both change the same field', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const one = await open(pageOf(user, '?act=profile'), { as: await operator() });
    const other = await open(pageOf(user, '?act=profile'), { as: await operator() });
    await one.page.getByLabel('Language').fill('es');
    await other.page.getByLabel('Name').fill('Ada King');
    await inDialog(one.page, 'Save').click();
    await closed(one.page);
    await inDialog(other.page, 'Save').click();
    await closed(other.page);
    expect(await read(user)).toMatchObject({ name: 'Ada King', locale: 'es' });

    await button(one.page, 'Edit…').click();
    await one.page.getByLabel('Name').fill('Ada Lovelace');
    await admin('PATCH', `/users/${user.id}`, { name: 'Countess' });
    await inDialog(one.page, 'Save').click();
    await one.page.getByText('Somebody changed this to “Countess” in the meantime.').waitFor();
    expect((await read(user)).name).toBe('Countess');
    // The message appears before the page has read the user again. Until then, the button ignores clicks.
    await dialog(one.page).locator('[aria-busy]').waitFor({ state: 'detached' });
    await inDialog(one.page, 'Save').click();
    await closed(one.page);
    expect((await read(user)).name).toBe('Ada Lovelace');
  });
});

describe('the addresses', () => {
  test('are added and changed, an address of somebody else is refused at its field, and undo restores them', async () => {
    const [email, phone] = [newEmail(), newPhone()];
    const owner = await createUser(postern, { email: newEmail() });
    const user = await createUser(postern);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Addresses…').click();
    await dialog(page)
      .getByLabel('Mail')
      .fill(owner.email ?? '');
    await dialog(page).getByLabel('Phone').fill('12');
    await inDialog(page, 'Save').click();
    await page.locator('[aria-invalid]').first().waitFor();
    expect(await dialog(page).getByLabel('Phone').getAttribute('aria-invalid')).toBe('true');
    await dialog(page).getByLabel('Phone').fill(phone);
    await inDialog(page, 'Save').click();
    await page.getByText('Another user has this value.').waitFor();
    expect(await dialog(page).getByLabel('Mail').getAttribute('aria-invalid')).toBe('true');
    await dialog(page).getByLabel('Mail').fill(email);
    await inDialog(page, 'Save').click();
    await closed(page);
    expect(await read(user)).toMatchObject({ email, phone, username: user.username });
    await button(page, 'Undo').click();
    await effect(user, (now) => now.email === null && now.phone === null);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('are removed only after the name was typed, and the last one stays', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { page } = await open(pageOf(user, '?act=addresses'), { as: await operator() });
    await dialog(page).getByLabel('Phone').fill('');
    expect(await inDialog(page, 'Save').isDisabled()).toBe(true);
    await typeName(page, user);
    await inDialog(page, 'Save').click();
    await closed(page);
    expect((await read(user)).phone).toBeNull();
    await button(page, 'Addresses…').click();
    await page.getByLabel('Username', { exact: true }).fill('');
    await typeName(page, user);
    await inDialog(page, 'Save').click();
    await dialog(page).getByRole('alert').waitFor();
    expect((await read(user)).username).toBe(user.username);
  });
});

describe('the secrets', () => {
  test('a password for one login is shown, and removed', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Change… Password').click();
    await inDialog(page, 'Create a code').click();
    const password = await dialog(page).locator('code').innerText();
    expect(password).toMatch(/^(?:[a-z2-9]{5}-){3}[a-z2-9]{5}$/);
    await inDialog(page, 'Done').click();
    await closed(page);
    expect(await loginStatus(user, password)).toBe('pending');
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);

    await button(page, 'Remove… Password').click();
    await typeName(page, user);
    await inDialog(page, 'Remove').click();
    await closed(page);
    expect((await read(user)).has_password).toBe(false);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('a missing password is set from "Can they log in?"', async () => {
    const user = await createUser(postern);
    await admin('PATCH', `/users/${user.id}`, { password: null });
    const { page, expectAccessible } = await open(pageOf(user), { as: await operator() });
    await way(page, 'The user has no password.').getByRole('button', { name: 'Set a password…' }).click();
    // A user without an address: the operator tells the password, which works for one login.
    await inDialog(page, 'Create a code').click();
    const shown = await dialog(page).locator('code').innerText();
    await expectAccessible();
    await inDialog(page, 'Done').click();
    await closed(page);
    await effect(user, ({ has_password }) => has_password);
    expect(await loginStatus(user, shown)).toBe('pending');
  });

  test('the PIN is the choice of the user, and is removed after the name was typed', async () => {
    const user = await createUser(postern);
    const { page } = await open(pageOf(user), { as: await operator() });
    await way(page, 'The user has no PIN.').getByText('Only the user can do this, in the app.').waitFor();
    expect(await button(page, 'Set… PIN').count()).toBe(0);
    await postern.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body: { pin: '4821' } });
    await page.reload();
    await button(page, 'Remove… PIN').click();
    await typeName(page, user);
    await inDialog(page, 'Remove').click();
    await effect(user, ({ has_pin }) => !has_pin);
  });

  test('a code to set a password goes to the address, and the operator does not see it', async () => {
    const email = newEmail();
    const user = await createUser(postern, { email });
    const { page, expectAccessible } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Change… Password').click();
    await expectAccessible();
    await inDialog(page, 'Send the code').click();
    await page.getByText('The code is on its way to').waitFor();
    await closed(page);
    expect(await loginStatus(user, await codeTo(postern, email))).toBe('pending');
  });

  test('a phone and a mail address that are missing are added from "Can they log in?"', async () => {
    const [user, phone, email] = [await createUser(postern), newPhone(), newEmail()];
    const { page } = await open(pageOf(user), { as: await operator() });
    await way(page, 'The user has no phone number.').getByRole('button', { name: 'Add a phone…' }).click();
    await dialog(page).getByLabel('Phone').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(phone);
    await page.keyboard.press('Enter');
    await effect(user, (now) => now.phone === phone);
    await way(page, 'The user has no mail address.').getByRole('button', { name: 'Add a mail address…' }).click();
    await dialog(page).getByLabel('Mail').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await effect(user, (now) => now.email === email);
    await way(page, 'The user has no mail address.').waitFor({ state: 'detached' });
  });

  test('a pending new PIN is cancelled', async () => {
    const user = await createUser(postern, { phone: newPhone(), pin: '4821' });
    await createRecoverySteps(() => postern).recoverPin(user, '1357');
    await effect(user, ({ pin_recovery }) => pin_recovery !== null);
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Cancel… PIN').click();
    await inDialog(page, 'Cancel the new PIN').click();
    await effect(user, ({ pin_recovery }) => pin_recovery === null);
  });

  test('second factors are removed after the name was typed, and their policy is set', async () => {
    const factors = createFactors(() => postern);
    const who = await factors.person();
    const { user } = who;
    await factors.enrolTotp(who);
    const { page } = await open(pageOf(user), { as: await operator() });
    await button(page, 'Change… Second factor').click();
    await page.getByLabel('Sign-ins ask for a second factor').selectOption('Never');
    await inDialog(page, 'Save').click();
    await effect(user, ({ second_factor }) => second_factor === 'off');
    await button(page, 'Undo').click();
    await effect(user, ({ second_factor }) => second_factor === null);
    await button(page, 'Remove all… Second factor').click();
    expect(await inDialog(page, 'Remove').isDisabled()).toBe(true);
    await typeName(page, user);
    await inDialog(page, 'Remove').click();
    await effect(user, ({ second_factors }) => second_factors.length === 0);
  });
});

describe('accounts at OpenID providers', () => {
  test('are linked from "Can they log in?", refused at the field when taken, and unlinked with an undo', async () => {
    const [owner, user] = [await createUser(postern), await createUser(postern)];
    const [taken, subject] = [randomUUID(), randomUUID()];
    await admin('PUT', `/users/${owner.id}/external-identities`, { provider: 'google', subject: taken });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(pageOf(user), {
      as: await operator(),
    });
    await way(page, 'No account of this provider').getByRole('button', { name: 'Link an account…' }).click();
    await page.getByLabel('Id of the account').fill(taken);
    await expectAccessible();
    await inDialog(page, 'Link').click();
    await page.getByText("The provider's account is linked to another user.").waitFor();
    expect(await page.getByLabel('Id of the account').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Id of the account').fill(subject);
    await inDialog(page, 'Link').click();
    await closed(page);
    expect(await accountsOf(user)).toMatchObject([{ provider: 'google', subject }]);
    await button(page, `Unlink… google ${subject}`).click();
    await typeName(page, user);
    await inDialog(page, 'Unlink').click();
    await page.getByText('No account is linked.').waitFor();
    expect(await accountsOf(user)).toEqual([]);
    await page.getByText('The account at google is unlinked.').waitFor();
    await button(page, 'Undo').last().click();
    await button(page, `Unlink… google ${subject}`).waitFor();
    expect(await accountsOf(user)).toMatchObject([{ provider: 'google', subject }]);
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a role', () => {
  test('is given after the name was typed, and takes effect with a link that is shown once', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user), { as: await operator() });
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Change the role…' }).click();
    await page.getByLabel('Role', { exact: true }).selectOption('Support');
    expect(await inDialog(page, 'Save').isDisabled()).toBe(true);
    await typeName(page, user);
    await inDialog(page, 'Save').click();
    await inDialog(page, 'Create the link').click();
    const link = await dialog(page).locator('code').innerText();
    expect(link).toMatch(/\/console\/setup#psl_/);
    await inDialog(page, 'I have copied the link').click();
    expect(await read(user)).toMatchObject({ role: 'support', role_active: false });
    await page.getByText("The user's role is not active yet.").waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('cannot be given by support agents, who cannot change users with a role either', async () => {
    const as = await operator('support');
    const user = await createUser(postern);
    const { page } = await open(pageOf(user, '?act=role'), { as });
    await button(page, 'Edit…').waitFor();
    expect(await dialog(page).count()).toBe(0);
    await button(page, 'More').click();
    expect(await page.getByRole('menuitem', { name: 'Change the role…' }).count()).toBe(0);
    const boss = await createUser(postern, { role: 'operator' });
    const other = await open(pageOf(boss, '?act=erase'), { as });
    await other.page.getByText('Only operators can change users with a role.').waitFor();
    expect(await dialog(other.page).count()).toBe(0);
    for (const name of ['Edit…', 'Addresses…', 'Change… Password', 'Link…']) {
      expect(await button(other.page, name).count()).toBe(0);
    }
  });
});

describe('a lock', () => {
  test('lasts until a time that the operator enters, with the error of a past one at its field', async () => {
    const user = await createUser(postern);
    const { page } = await open(pageOf(user, '?act=lock'), { as: await operator() });
    await page.getByLabel('How long').selectOption('Until a time…');
    await page.getByLabel('Until', { exact: true }).fill('2020-01-01T10:00');
    await page.getByLabel('Reason').fill('Travels');
    await page.reload();
    expect(await page.getByLabel('Reason').inputValue()).toBe('Travels');
    await inDialog(page, 'Lock').click();
    await page.locator('[aria-invalid]').waitFor();
    await page.getByLabel('Until', { exact: true }).fill('2040-01-01T10:00');
    await inDialog(page, 'Lock').click();
    const { lock } = await effect(user, (now) => now.lock !== null);
    expect(lock).toMatchObject({ permanent: false, reason: 'Travels' });
    expect(lock?.until).toMatch(/^(?:2040-01-01|2039-12-31|2040-01-02)/);
  });
});

describe('a user who was erased', () => {
  test('is not in the list that opens, and an action of another operator reports it', async () => {
    const user = await createUser(postern, { name: 'Ada' });
    const other = await open(pageOf(user, '?act=profile'), { as: await operator() });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(pageOf(user, '?act=erase'), { as: await operator() });
    await typeName(page, user);
    await inDialog(page, 'Erase for good').click();
    await page.getByText('Ada is erased.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/users');
    expect((await admin('GET', `/users/${user.id}`)).status).toBe(404);
    await expectNoErrorsOrSidewaysScroll();
    await other.page.getByLabel('Name').fill('Ada King');
    await inDialog(other.page, 'Save').click();
    await dialog(other.page).getByRole('alert').waitFor();
  });
});
