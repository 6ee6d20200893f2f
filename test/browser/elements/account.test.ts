import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../../src/contract/authentication.js';
import type { User } from '../../../src/contract/user.js';
import { codeTo } from '../../support/account.js';
import { addAuthenticator } from '../../support/browser.js';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createFactors } from '../../support/factors.js';
import { createUser, newEmail, newPhone, password, passwordLogin, signIn, wrongCode } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  const generous = { CODE_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_PREFIX: '0', SMS_LIMIT_TOTAL: '0' };
  const vendor = {
    title: 'Vendor',
    issuer: 'https://provider.example.com',
    client_id: 'ours',
    client_secret: 'a secret',
  };
  pages = await startElementPages({
    ...{ PIN_POLICY: 'optional', MAIL_PROVIDER: 'console', ...generous },
    ...{
      PUBLIC_URL: 'http://127.0.0.1:9',
      REDIRECT_URIS: 'http://127.0.0.1/',
      OIDC_PROVIDERS: JSON.stringify({ vendor }),
    },
  });
});
afterAll(() => pages?.close());
const { appOf } = createFactors(() => pages.app);

const accountOf = (user: User, options: ShowOptions = {}) =>
  pages.show('postern-account', { login: { identity: user.username ?? '', password }, ...options });
const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const fill = ({ page }: ElementPage, label: string, value: string) =>
  page.getByRole('dialog').getByLabel(label, { exact: true }).fill(value);
const isSaved = (shown: ElementPage) =>
  shown.page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor({ state: 'attached' });
async function proveByPassword(shown: ElementPage, secret = password): Promise<void> {
  await shown.page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await fill(shown, 'Password', secret);
  await press(shown, 'Continue');
}
/** Answers the offer to sign out everywhere else, which follows a change of a credential. */
async function answerOffer(shown: ElementPage, isOn = true): Promise<void> {
  const choice = shown.page.getByRole('checkbox', { name: 'Sign out everywhere else' });
  expect(await choice.isChecked()).toBe(true);
  if (!isOn) await choice.uncheck();
  await press(shown, 'Continue');
}
const changes = (shown: ElementPage) => shown.events('changed');

test('names change with a proof, by keyboard, and the focus returns', async () => {
  const user = await createUser(pages.app, { name: 'Ada <b>Lovelace</b>' });
  const shown = await accountOf(user);
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  await page.getByText('Ada <b>Lovelace</b>').waitFor();
  await expectAccessible();
  await press(shown, 'Change: Name');
  await fill(shown, 'Name (optional)', 'Grace');
  await page.keyboard.press('Enter');
  await page.getByText('Grace').waitFor();
  await isSaved(shown);
  await page.getByRole('button', { name: 'Change: Username' }).press('Enter');
  const name = `${user.username}x`;
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await expectAccessible();
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That is wrong or has expired.').waitFor();
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText(name, { exact: true }).waitFor();
  await isSaved(shown);
  expect(await page.evaluate('element.shadowRoot.activeElement.dataset.key')).toBe('username');
  expect(await changes(shown)).toEqual([{ operation: 'update' }, { operation: 'set_username' }]);
  await press(shown, 'Change: Name');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expectNoErrorsOrSidewaysScroll();
});

test('a change is shown that the user begins as the dialog of the former one closes', async () => {
  const user = await createUser(pages.app);
  const shown = await accountOf(user, { attributes: { sections: 'profile' } });
  await press(shown, 'Change: Username');
  await shown.page.getByRole('dialog').waitFor();
  // A browser reports that a dialog has closed in a later task, and runs a click first.
  await shown.page.evaluate(`{
    const { shadowRoot } = element;
    shadowRoot.querySelector('dialog > button').click();
    shadowRoot.querySelector('[data-key=name]').click();
  }`);
  await fill(shown, 'Name (optional)', 'Grace');
  await press(shown, 'Save');
  await shown.page.getByText('Grace').waitFor();
  await isSaved(shown);
  expect(await changes(shown)).toEqual([{ operation: 'update' }]);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a password and a PIN are set, and another device is signed out', async () => {
  const user = await createUser(pages.app);
  const shown = await accountOf(user);
  const { page, expectNoErrorsOrSidewaysScroll } = shown;
  await signIn(pages.app, user, { make: 'Nokia', model: '3310' });
  const signInWith = (pin?: string, model = '8210') =>
    pages.app.api<Authentication>('POST', '/v1/tokens', {
      body: {
        ...passwordLogin(user.username, 'the moon and back again', { make: 'Nokia', model }),
        ...(pin && { pin }),
      },
    });
  const isUsable = async ({ token }: Authentication) =>
    (await pages.app.api('POST', '/v1/sessions', { basic: token ?? '' })).status === 201;
  await press(shown, 'Change: Password');
  await fill(shown, 'Current password', 'not the password');
  await fill(shown, 'New password', 'short');
  await press(shown, 'Save');
  const invalid = page.locator('[aria-invalid=true]');
  await expect.poll(() => invalid.getAttribute('name')).toBe('password');
  await fill(shown, 'New password', 'the moon and back again');
  await press(shown, 'Save');
  await page.getByText('That is not your current password.').waitFor();
  expect(await invalid.getAttribute('name')).toBe('current_password');
  await shown.expectAccessible();
  await fill(shown, 'Current password', password);
  await press(shown, 'Save');
  await isSaved(shown);
  await press(shown, 'Set: PIN');
  await fill(shown, 'New PIN', '2468');
  await press(shown, 'Save');
  const other = (await signInWith()).body;
  await proveByPassword(shown, 'the moon and back again');
  await page.getByRole('heading', { name: 'Sign out everywhere else' }).waitFor();
  await shown.expectAccessible();
  await answerOffer(shown);
  await page.getByRole('button', { name: 'Remove: PIN' }).waitFor();
  expect(await isUsable(other)).toBe(false);
  const kept = (await signInWith('2468')).body;
  await press(shown, 'Remove: PIN');
  await press(shown, 'Remove');
  await proveByPassword(shown, 'the moon and back again');
  await answerOffer(shown, false);
  await page.getByRole('button', { name: 'Set: PIN' }).waitFor();
  expect(await changes(shown)).toEqual([
    { operation: 'set_password' },
    { operation: 'set_pin' },
    { operation: 'remove_pin' },
  ]);
  expect(await isUsable(kept)).toBe(true);
  expect((await signInWith(undefined, '6310')).status).toBe(201);
  await page.evaluate('element.texts = { profile: "You" }');
  await press(shown, 'Sign out: Nokia 6310');
  await press(shown, 'Sign out');
  await page.getByRole('button', { name: 'Sign out: Nokia 6310' }).waitFor({ state: 'detached' });
  const last = (await signInWith()).body;
  await page.evaluate('element.texts = {}');
  await press(shown, 'Sign out everywhere else: Devices');
  await answerOffer(shown);
  await isSaved(shown);
  expect(await isUsable(last)).toBe(false);
  await expectNoErrorsOrSidewaysScroll();
});

test('a mail address is changed with a proof by a code to the phone', async () => {
  const phone = newPhone();
  const user = await createUser(pages.app, { phone });
  const shown = await accountOf(user, { attributes: { sections: 'addresses' } });
  const email = newEmail();
  await press(shown, 'Add: Email');
  await fill(shown, 'Email', email);
  await press(shown, 'Continue');
  await shown.page.getByRole('button', { name: /^Send a code to/ }).click();
  const proof = await codeTo(pages.app, phone);
  await fill(shown, 'Code', wrongCode(proof));
  await press(shown, 'Continue');
  await shown.page.getByText('That is wrong or has expired.').waitFor();
  await proveByPassword(shown);
  await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  await fill(shown, 'Code', await codeTo(pages.app, email));
  await press(shown, 'Continue');
  await shown.page.getByText(email).waitFor();
  await press(shown, 'Remove: Phone number');
  await press(shown, 'Remove');
  await proveByPassword(shown);
  await shown.page.getByRole('button', { name: 'Add: Phone number' }).waitFor();
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('an authenticator app is enrolled with a QR code and recovery codes, and then only its codes are accepted as a proof', async () => {
  const user = await createUser(pages.app);
  const shown = await accountOf(user, { attributes: { sections: 'security' } });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  await press(shown, 'Set up: Authenticator app');
  await press(shown, 'Continue');
  await proveByPassword(shown);
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  const shownKey = await page.locator('.secret').innerText();
  expect(shownKey).toMatch(/^(\w{4} )+\w{1,4}$/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await press(shown, 'Copy the key');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shownKey.replaceAll(' ', ''));
  const link = await page.getByRole('link', { name: 'Open in an app on this device' }).getAttribute('href');
  expect(new URL(link ?? '').searchParams.get('secret')).toBe(shownKey.replaceAll(' ', ''));
  await expectAccessible();
  const app = appOf(user.id, shownKey.replaceAll(' ', ''));
  await fill(shown, 'Code of your authenticator app', await app.code());
  await press(shown, 'Continue');
  const codes = page.locator('.codes li');
  await codes.first().waitFor();
  const first = await codes.first().innerText();
  const [file] = await Promise.all([page.waitForEvent('download'), press(shown, 'Download')]);
  expect(file.suggestedFilename()).toBe('recovery-codes.txt');
  const saved = (await readFile(await file.path(), 'utf8')).trim().split('\n');
  expect(saved).toEqual([expect.stringContaining('localhost'), '', ...(await codes.allInnerTexts())]);
  await expectAccessible();
  await press(shown, 'I have saved them');
  await answerOffer(shown);
  await app.rewind();
  await press(shown, 'New codes: Recovery codes');
  await press(shown, 'Continue');
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  expect(await page.getByRole('dialog').getByLabel('Password').count()).toBe(0);
  await fill(shown, 'Code of your authenticator app', await app.code());
  await press(shown, 'Continue');
  await codes.first().waitFor();
  expect(await codes.allInnerTexts()).not.toContain(first);
  await press(shown, 'I have saved them');
  await answerOffer(shown);
  await expectNoErrorsOrSidewaysScroll();
});

test('with a second factor, a new password takes the current one and a code, and a mistyped one uses no code up', async () => {
  const user = await createUser(pages.app);
  const { enrolTotp, signInAgain } = createFactors(() => pages.app);
  const shown = await accountOf(user, { attributes: { sections: 'password' } });
  const { app } = await enrolTotp(await signInAgain(user));
  await press(shown, 'Change: Password');
  await fill(shown, 'Current password', 'not the password');
  await fill(shown, 'New password', 'the moon and back again');
  await press(shown, 'Save');
  const code = await app.code();
  const prove = async () => {
    await fill(shown, 'Code of your authenticator app', code);
    await press(shown, 'Continue');
  };
  await prove();
  await shown.page.getByText('That is not your current password.').waitFor();
  await fill(shown, 'Current password', password);
  await press(shown, 'Save');
  await prove();
  await isSaved(shown);
  expect(await changes(shown)).toEqual([{ operation: 'set_password' }]);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('passkeys are added, renamed and removed', async () => {
  const user = await createUser(pages.app);
  const shown = await accountOf(user, { attributes: { sections: 'security' } });
  await addAuthenticator(shown.page, { verifiesUser: true });
  await press(shown, 'Add: Passkeys');
  await fill(shown, 'Name of the passkey', 'Laptop');
  await press(shown, 'Continue');
  await proveByPassword(shown);
  await answerOffer(shown);
  await press(shown, 'Rename: Laptop');
  await fill(shown, 'Name of the passkey', 'Desk');
  await press(shown, 'Save');
  await press(shown, 'Remove: Desk');
  await press(shown, 'Remove');
  // The account has a second factor now, so a passkey proves.
  await shown.page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await press(shown, 'Use a passkey');
  await answerOffer(shown);
  await shown.page.getByRole('button', { name: 'Remove: Desk' }).waitFor({ state: 'detached' });
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('the activity is shown, all data is exported, and the account is deleted', async () => {
  const user = await createUser(pages.app);
  for (let login = 0; login < 11; login += 1) await signIn(pages.app, user);
  const shown = await accountOf(user, { attributes: { sections: 'activity data' } });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  const entries = page.locator('[part~=entry]');
  await expect.poll(() => entries.count()).toBe(10);
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await expect.poll(() => entries.count()).toBeGreaterThan(10);
  await expectAccessible();
  const [download] = await Promise.all([page.waitForEvent('download'), press(shown, 'Download: Everything about you')]);
  expect(download.suggestedFilename()).toBe('my-data.json');
  expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toMatchObject({ account: { id: user.id } });
  await press(shown, 'Delete: Delete the account');
  const confirm = page.getByRole('dialog').getByRole('textbox');
  await confirm.fill('something else');
  await press(shown, 'Delete the account');
  await page.getByText('Nothing was deleted.').waitFor();
  await confirm.fill(user.username ?? '');
  await press(shown, 'Delete the account');
  await proveByPassword(shown);
  await page.getByText('Sign in to see your account.').waitFor();
  expect(await shown.events('signed-out')).toHaveLength(1);
  await expectNoErrorsOrSidewaysScroll();
});

test('a device is shown with its browser, system, network address and time, also in Spanish', async () => {
  const user = await createUser(pages.app);
  const options = { attributes: { sections: 'devices' } };
  const { page } = await accountOf(user, options);
  const line = page.locator('[part~=row]').filter({ hasText: 'This device' });
  expect(await line.innerText()).toMatch(/^Chrome on Linux This device\nLast sign-in now from (127\.0\.0\.1|::1)/);
  expect(await line.locator('time').getAttribute('title')).toMatch(/\d{4}/);
  const spanish = await accountOf(user, { ...options, lang: 'es' });
  await spanish.page.getByText('Chrome en Linux').first().waitFor();
  await spanish.page.getByText('Último inicio de sesión: ahora desde').first().waitFor();
});

test('the activity is told in the language of the page, whatever the language of the browser is', async () => {
  const user = await createUser(pages.app);
  await pages.app.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: pages.app.adminKey, body: { name: 'Grace' } });
  const { page } = await accountOf(user, { lang: 'es', attributes: { sections: 'activity' } });
  await page.getByText('Has iniciado sesión.').waitFor();
  await page.getByText('Cambios: Nombre').waitFor();
  await page.getByText('Se creó tu cuenta.').waitFor();
});

test('the element works on a phone, in the dark theme, in Spanish, and from right to left', async () => {
  const user = await createUser(pages.app, { email: newEmail() });
  const spanish = await accountOf(user, { lang: 'es', width: 390, theme: 'dark' });
  await spanish.page.getByRole('heading', { name: 'Perfil' }).waitFor();
  await spanish.expectAccessible();
  await spanish.expectNoErrorsOrSidewaysScroll();
  const arabic = await accountOf(user, {
    lang: 'ar',
    dir: 'rtl',
    texts: { ar: { account: { profile: 'الملف الشخصي' } } },
  });
  await arabic.page.getByRole('heading', { name: 'الملف الشخصي' }).waitFor();
  await arabic.expectAccessible();
  await arabic.expectNoErrorsOrSidewaysScroll();
});

test('accounts at providers have their titles, and a link goes to the provider and back', async () => {
  const user = await createUser(pages.app);
  const shown = await accountOf(user, { attributes: { sections: 'identities' }, width: 390 });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  await page.getByText('Not linked').waitFor();
  await expectAccessible();
  const [provider, id] = ['https://provider.example.com', randomUUID()];
  const path = `${pages.app.url}/v1/account/external-identities/vendor`;
  // The round trip through Postern is tested without elements. Here, only its beginning and its end are needed.
  const challenge = { type: 'redirect', url: `${provider}/redirects/${id}` };
  await page.route(path, (route) => route.fulfill({ status: 201, json: { id, challenge } }));
  await page.route(`${provider}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>P</title>' }));
  await press(shown, 'Link: Vendor');
  await press(shown, 'Continue');
  await proveByPassword(shown);
  await page.waitForURL(challenge.url);
  const linked = { id, provider: 'vendor', issuer: provider, subject: '1', created_at: new Date().toISOString() };
  let secret: unknown;
  await page.route(`${path}/${id}`, (route) => {
    secret = route.request().postDataJSON();
    return route.fulfill({ json: linked });
  });
  await page.goto(`${pages.origin}/?authentication_id=${id}&code=abc&iss=${encodeURIComponent(provider)}`);
  await shown.until('typeof show === "function"');
  await page.evaluate(`show(${JSON.stringify({ url: pages.app.url, tag: 'postern-account' })})`);
  await isSaved(shown);
  expect(secret).toEqual({ secret: expect.stringMatching(/^{"code":"abc","code_verifier":"[\w-]{43}"}$/) });
  expect(page.url()).toBe(`${pages.origin}/`);
  expect(await changes(shown)).toEqual([{ operation: 'link_identity' }]);
  await expectNoErrorsOrSidewaysScroll();
});

test.each([
  ['light', 1280, 'en', 'Unlink', 'Not linked'],
  ['dark', 390, 'es', 'Desvincular', 'Sin vincular'],
] as const)('a linked account can be unlinked (%s, %d, %s)', async (theme, width, lang, unlink, notLinked) => {
  const user = await createUser(pages.app);
  await pages.app.api('PUT', `/admin/v1/users/${user.id}/external-identities`, {
    ...{ bearer: pages.app.adminKey, body: { provider: 'vendor', subject: '110169484474386276334' } },
  });
  const shown = await accountOf(user, { attributes: { sections: 'identities' }, theme, width, lang });
  await shown.page.getByText('110169484474386276334').waitFor();
  await shown.expectAccessible();
  await press(shown, `${unlink}: Vendor`);
  await press(shown, unlink);
  await shown.page.getByRole('dialog').locator('input[type=password]').fill(password);
  await shown.page.keyboard.press('Enter');
  // The offer to sign out everywhere else follows.
  await shown.page.getByRole('checkbox').uncheck();
  await shown.page.getByRole('dialog').locator('button[type=submit]').click();
  await shown.page.getByText(notLinked).waitFor();
  await shown.expectNoErrorsOrSidewaysScroll();
});
