import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../support/account.js';
import { addAuthenticator } from '../../support/browser.js';
import { type ElementPage, type ElementPages, startElementPages } from '../../support/elements.js';
import { createFactors } from '../../support/factors.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';
import { createRecoverySteps } from '../../support/recovery.js';
import { createUser, newEmail, newPhone, password, wrongCode } from '../../support/users.js';

let pages: ElementPages;
let provider: OpenIdProvider;
beforeAll(async () => {
  provider = await startOpenIdProvider(['shop']);
  const generous = { CODE_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_PREFIX: '0', SMS_LIMIT_TOTAL: '0' };
  pages = await startElementPages({
    PIN_POLICY: 'optional',
    REGISTRATION: 'on',
    MAIL_PROVIDER: 'console',
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    OIDC_PROVIDERS: JSON.stringify({ attic: { issuer: provider.url, client_ids: ['shop'] } }),
    ...generous,
  });
});
afterAll(async () => {
  await pages?.close();
  await provider?.close();
});
const { appOf, enrolTotp, person } = createFactors(() => pages.app);

const signIn = (options: Parameters<ElementPages['show']>[1] = {}) => pages.show('postern-sign-in', options);
const field = ({ page }: ElementPage, name: string | RegExp) => page.getByRole('textbox', { name });
/** Password fields have no role. */
const secret = ({ page }: ElementPage, name: string) => page.getByLabel(name, { exact: true });
const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const isLoggedIn = ({ until }: ElementPage) => until('postern.current.status === "signed_in"');

async function byPassword(shown: ElementPage, username: string | null): Promise<void> {
  await identify(shown, username);
  await secret(shown, 'Password').fill(password);
  await press(shown, 'Sign in');
}

/** Fills the first page. */
async function identify(shown: ElementPage, identity: string | null): Promise<void> {
  await field(shown, 'Email, phone or username').fill(identity ?? '');
  await press(shown, 'Continue');
}

test('a user signs in with a password after a wrong one, by keyboard alone and without losing the focus', async () => {
  const user = await createUser(pages.app);
  const shown = await signIn();
  const { page, events, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  const identity = field(shown, 'Email, phone or username');
  await identity.waitFor();
  // The element does not take the focus of a page that has just loaded.
  expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  await expectAccessible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByText('Fill in this field.').count()).toBe(1);
  await expectAccessible();
  await page.keyboard.type(user.username ?? '');
  await page.keyboard.press('Enter');
  await secret(shown, 'Password').waitFor();
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('Username or password is wrong.').waitFor();
  await expectAccessible();
  expect(await secret(shown, 'Password').inputValue()).toBe('');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText('You are signed in.').waitFor();
  expect(await events('signed-in')).toMatchObject([{ user_id: user.id }]);
  expect(await events('step')).toEqual([{ step: 'done' }]);
  await expectAccessible();
  await press(shown, 'Sign out');
  await identity.waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('a user signs in with a code by SMS and a PIN after a wrong code, and another code can be requested later', async () => {
  const phone = newPhone();
  await createUser(pages.app, { phone, pin: '2468' });
  const shown = await signIn({ attributes: { ways: 'sms password' } });
  await field(shown, 'Phone number').fill(phone);
  await press(shown, 'Continue');
  await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  expect(await shown.page.getByText(new RegExp(`We sent a code to .*${phone.slice(-2)}\\.`)).count()).toBe(1);
  expect(await shown.page.getByRole('button', { name: /^New code in/ }).isDisabled()).toBe(true);
  await shown.expectAccessible();
  const code = await codeTo(pages.app, phone);
  await press(shown, 'I have a PIN');
  await secret(shown, 'PIN (optional)').fill('2468');
  await field(shown, 'Code').fill(wrongCode(code));
  await shown.page.getByRole('alert').filter({ hasText: 'wrong or has expired' }).waitFor();
  // The field keeps the wrong code, and the cursor.
  expect(await field(shown, 'Code').inputValue()).toBe(wrongCode(code));
  expect(await shown.page.evaluate('element.shadowRoot.activeElement?.name')).toBe('code');
  await field(shown, 'Code').fill(` ${code.slice(0, 3)} ${code.slice(3)}`);
  await isLoggedIn(shown);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test.each([
  ['Arabic', '٠'],
  ['Devanagari', '०'],
  ['full-width', '０'],
  ['mathematical', '𝟶'],
])('the field for a code takes %s digits', async (_name, zero) => {
  const phone = newPhone();
  await createUser(pages.app, { phone });
  const shown = await signIn({ attributes: { ways: 'sms' } });
  await field(shown, 'Phone number').fill(phone);
  await press(shown, 'Continue');
  await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  const digits = (code: string) =>
    code.replaceAll(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));
  await field(shown, 'Code').fill(digits(await codeTo(pages.app, phone)));
  await isLoggedIn(shown);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a user who requested a code by mail can return to the start', async () => {
  const email = newEmail();
  await createUser(pages.app, { email });
  const shown = await signIn();
  await press(shown, 'Other ways to sign in');
  await press(shown, 'Email me a code');
  await field(shown, 'Email').fill('ada');
  await press(shown, 'Continue');
  // Text that cannot be an address leads to no code.
  await shown.page.getByText('Enter a mail address').waitFor();
  await field(shown, 'Email').fill(email);
  await press(shown, 'Continue');
  await press(shown, 'Start again');
  expect(await field(shown, 'Email').inputValue()).toBe(email);
  await press(shown, 'Other ways to sign in');
  await press(shown, 'Use a password');
  await field(shown, 'Email, phone or username').waitFor();
  await shown.expectNoErrorsOrSidewaysScroll();
});

test.each([
  ['the button', { ways: 'passkey' }],
  ['the list that the browser shows at the first field', {}],
])('a user signs in with a passkey by %s', async (_name, attributes) => {
  const user = await createUser(pages.app);
  const shown = await signIn({ attributes, login: { identity: user.username ?? '', password } });
  await addAuthenticator(shown.page, { verifiesUser: true });
  await shown.page.evaluate(
    `client.createAccount(postern).addPasskey('Key', { proof: client.passwordProof(${JSON.stringify(password)}) })`,
  );
  await press(shown, 'Sign out');
  if ('ways' in attributes) await press(shown, 'Use a passkey');
  // The authenticator of the test picks the only passkey in the list as soon as the form is there.
  await isLoggedIn(shown);
  expect(await shown.events('signed-in')).toMatchObject([{ user_id: user.id }]);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a cancelled passkey is explained', async () => {
  const shown = await signIn({ attributes: { ways: 'passkey' } });
  // Nobody answers the question of the browser.
  await shown.page.evaluate(
    `navigator.credentials.get = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
  );
  await press(shown, 'Use a passkey');
  await shown.page.getByText('The passkey did not work.').waitFor();
  await shown.expectAccessible();
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a user signs in with an authenticator app or a recovery code after the password', async () => {
  const who = await person();
  const { app, recoveryCodes } = await enrolTotp(who);
  const shown = await signIn();
  await byPassword(shown, who.user.username);
  await shown.page.getByRole('heading', { name: 'One more step' }).waitFor();
  await shown.expectAccessible();
  await field(shown, 'Code of your authenticator app').fill('000000');
  await shown.page.getByRole('alert').filter({ hasText: 'wrong or has expired' }).waitFor();
  await field(shown, 'Code of your authenticator app').fill(await app.code());
  await isLoggedIn(shown);
  await press(shown, 'Sign out');
  await byPassword(shown, who.user.username);
  await press(shown, 'Use a recovery code');
  await field(shown, 'Recovery code').fill(recoveryCodes[0] ?? '');
  await press(shown, 'Sign in');
  await isLoggedIn(shown);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a lock counts down, explains what to do, and offers a recovery', async () => {
  const email = newEmail();
  const user = await createUser(pages.app, { email });
  const shown = await signIn({ slots: 'locked=Call 555.' });
  const { page } = shown;
  const lock = page.getByRole('heading', { name: 'Too many attempts' });
  await identify(shown, user.username);
  for (let guess = 0; guess < 10 && !(await lock.isVisible()); guess += 1) {
    await secret(shown, 'Password').fill('wrong');
    await press(shown, 'Sign in');
    await lock.or(page.getByText('Username or password is wrong.')).first().waitFor();
  }
  await page.getByText(/Try again in \d+:\d\d/).waitFor();
  await page.getByText('Call 555.').waitFor();
  expect(await shown.events('step')).toContainEqual({ step: 'locked' });
  await shown.expectAccessible();
  await press(shown, 'Forgot your password?');
  await field(shown, 'Email or phone number').fill(email);
  await press(shown, 'Continue');
  const code = await codeTo(pages.app, email);
  await field(shown, 'Code').fill(wrongCode(code));
  await page.getByRole('alert').filter({ hasText: 'wrong or has expired' }).waitFor();
  // The field keeps the wrong code, and the cursor.
  expect(await field(shown, 'Code').inputValue()).toBe(wrongCode(code));
  expect(await page.evaluate('element.shadowRoot.activeElement?.name')).toBe('code');
  expect(await page.getByRole('button', { name: /^New code in/ }).isDisabled()).toBe(true);
  await shown.expectAccessible();
  await field(shown, 'Code').fill(code);
  await secret(shown, 'New password').waitFor();
  // The address stands beside the new password, also for password managers.
  expect(await page.locator('form input[autocomplete=username]').inputValue()).toBe(email);
  await page.keyboard.type('password');
  await shown.expectAccessible();
  await press(shown, 'Save');
  // The error is at its field.
  await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBeGreaterThan(0);
  await secret(shown, 'New password').fill('the moon and back again');
  await press(shown, 'Save');
  await page.getByText('Saved. Sign in with it now.').waitFor();
  await secret(shown, 'Password').fill('the moon and back again');
  await press(shown, 'Sign in');
  await isLoggedIn(shown);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test.each(['fil', 'pt-BR'])('a registration in a page in %s keeps this language', async (lang) => {
  const email = newEmail();
  const shown = await signIn({ lang });
  await press(shown, 'Create an account');
  const started = shown.page.waitForRequest(/\/v1\/registrations$/);
  await field(shown, 'Email or phone number').fill(email);
  await press(shown, 'Continue');
  expect((await started).postDataJSON()).toMatchObject({ locale: lang });
});

test('a registration asks for the code alone, survives a reload, and signs the user in', async () => {
  const email = newEmail();
  const shown = await signIn();
  const { page } = shown;
  await press(shown, 'Create an account');
  await shown.expectAccessible();
  await field(shown, 'Email or phone number').fill(email);
  await press(shown, 'Continue');
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  expect(await page.getByRole('textbox').count()).toBe(1);
  await page.reload();
  await shown.until('typeof show === "function"');
  await page.evaluate(`show(${JSON.stringify({ url: pages.app.url, tag: 'postern-sign-in' })})`);
  await page.getByText(`We sent a message to \u2068${email}\u2069.`).waitFor();
  const submitted = page.waitForRequest(/\/v1\/registrations\/[^/]+$/);
  await field(shown, 'Code').fill(await codeTo(pages.app, email));
  expect((await submitted).postDataJSON()).toMatchObject({ check: true });
  await field(shown, /^Name/).fill('Ada Lovelace');
  expect(await page.locator('form input[autocomplete=username]').inputValue()).toBe(email);
  await secret(shown, 'Password').fill('the moon and back again');
  await shown.expectAccessible();
  await press(shown, 'Create an account');
  await isLoggedIn(shown);
  expect(await shown.events('signed-in')).toHaveLength(1);
  expect(await page.evaluate('client.createAccount(postern).get()')).toMatchObject({ email, name: 'Ada Lovelace' });
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a registration with a passkey needs no password', async () => {
  const email = newEmail();
  const shown = await signIn();
  await addAuthenticator(shown.page, { verifiesUser: true });
  await press(shown, 'Create an account');
  await field(shown, 'Email or phone number').fill(email);
  await press(shown, 'Continue');
  await field(shown, 'Code').fill(await codeTo(pages.app, email));
  await press(shown, 'Use a passkey instead');
  await isLoggedIn(shown);
  expect(await shown.page.evaluate('client.createAccount(postern).get()')).toMatchObject({ has_password: false });
});

test('a registration goes back to the address, and its code can be sent again', async () => {
  const email = newEmail();
  const shown = await signIn();
  await shown.page.clock.install();
  await press(shown, 'Create an account');
  await field(shown, 'Email or phone number').fill('ada@example');
  await press(shown, 'Continue');
  await expect.poll(() => shown.page.locator('[aria-invalid=true]').count()).toBe(1);
  await field(shown, 'Email or phone number').fill(email);
  await press(shown, 'Continue');
  await shown.page.getByRole('button', { name: /^New code in/ }).waitFor();
  await shown.page.clock.runFor(61_000);
  const resent = shown.page.waitForRequest(/\/v1\/registrations$/);
  await press(shown, 'Send a new code');
  expect((await resent).postDataJSON()).toMatchObject({ identity: { value: email } });
  await press(shown, 'Back');
  expect(await field(shown, 'Email or phone number').inputValue()).toBe(email);
  await press(shown, 'Back');
  await shown.page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a lost network is reported, and the same input works later', async () => {
  const user = await createUser(pages.app);
  const shown = await signIn();
  await field(shown, 'Email, phone or username').waitFor();
  await identify(shown, user.username);
  await secret(shown, 'Password').fill(password);
  await shown.page.context().setOffline(true);
  await press(shown, 'Sign in');
  await shown.page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
  await shown.page.context().setOffline(false);
  await secret(shown, 'Password').fill(password);
  await press(shown, 'Sign in');
  await isLoggedIn(shown);
});

test('Spanish and custom texts from right to left are shown, and paths of other origins are refused', async () => {
  const user = await createUser(pages.app);
  const spanish = await signIn({ lang: 'es', width: 390 });
  await spanish.page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
  await spanish.expectAccessible();
  await spanish.expectNoErrorsOrSidewaysScroll();
  const attributes = { 'return-to': '//evil.example/', registration: 'off', recovery: 'off', ways: 'password nothing' };
  const texts = { ar: { 'sign-in': { sign_in: 'تسجيل الدخول', identity: 'الاسم', password: 'كلمة السر' } } };
  const arabic = await signIn({ lang: 'ar', dir: 'rtl', theme: 'dark', attributes, texts });
  await arabic.page.getByRole('textbox', { name: 'الاسم' }).fill(user.username ?? '');
  // No registration, and no other ways.
  expect(await arabic.page.getByRole('button').allInnerTexts()).toEqual(['Continue']);
  await arabic.expectAccessible();
  await arabic.page.getByRole('button', { name: 'Continue' }).click();
  await arabic.page.getByLabel('كلمة السر').fill(password);
  await arabic.page.getByRole('button', { name: 'تسجيل الدخول' }).click();
  await isLoggedIn(arabic);
  expect(arabic.page.url()).toContain(pages.origin);
  await arabic.expectNoErrorsOrSidewaysScroll();
});

test('a path of this origin is opened after the login, unless the page prevents it', async () => {
  const user = await createUser(pages.app);
  const shown = await signIn({ attributes: { 'return-to': '/bills?all' } });
  await byPassword(shown, user.username);
  await shown.page.waitForURL(`${pages.origin}/bills?all`);
});

test('the events of a login come before the page removes the element', async () => {
  const user = await createUser(pages.app);
  const shown = await signIn({ attributes: { 'return-to': '/bills' } });
  await shown.page.evaluate(`postern.subscribe(({ status }) => {
    if (status === 'signed_in') document.querySelector('postern-sign-in').remove();
  });
  document.addEventListener('postern-signed-in', ({ detail }) => sessionStorage.setItem('heard', detail.user_id))`);
  await byPassword(shown, user.username);
  await shown.page.waitForURL(`${pages.origin}/bills`);
  expect(await shown.page.evaluate(`sessionStorage.getItem('heard')`)).toBe(user.id);
});

test('a clock that is set back does not lock the button for a new code', async () => {
  const phone = newPhone();
  await createUser(pages.app, { phone });
  const shown = await signIn({ attributes: { ways: 'sms' } });
  await shown.page.clock.install();
  await field(shown, 'Phone number').fill(`\u202a${phone}\u202c`);
  await press(shown, 'Continue');
  const waiting = shown.page.getByRole('button', { name: /^New code in/ });
  await waiting.waitFor();
  await shown.page.clock.setSystemTime(Date.now() - 86_400_000);
  await shown.page.clock.runFor(310_000);
  await shown.page.getByRole('button', { name: 'Send a new code', exact: true }).waitFor();
  expect(await waiting.count()).toBe(0);
});

test('properties also take the text of their attributes, as React sets it', async () => {
  const { page } = await signIn();
  const shown = await page.evaluate(`(() => {
    const element = document.querySelector('postern-sign-in');
    Object.assign(element, { ways: 'sms password', registration: 'off', recovery: true });
    return [element.ways, element.registration, element.recovery];
  })()`);
  expect(shown).toEqual([['sms', 'password'], false, true]);
});

/** Pages whose app signs in at the provider as this subject. */
async function contextOf(answer: (challenge: { readonly nonce: string }) => Promise<string | null>, locale = 'en-US') {
  const context = await pages.browser.newContext({ viewport: { width: 1280, height: 800 }, locale });
  await context.exposeFunction('idTokenFor', answer);
  return context;
}

test('an account at a provider signs in; without a linked account, the element says so with the title of the provider', async () => {
  const user = await createUser(pages.app);
  const context = await contextOf(({ nonce }) => provider.login('ada', nonce));
  const shown = await signIn({ context });
  await press(shown, 'Continue with Attic');
  const text = 'No account here is linked to this account at Attic. Sign in another way, and link it in your account.';
  await shown.page.getByRole('alert').filter({ hasText: text }).waitFor();
  expect(await shown.page.getByText('That is wrong').count()).toBe(0);
  await shown.expectAccessible();

  const { adminKey: bearer, api } = pages.app;
  const body = { provider: 'attic', subject: 'ada' };
  expect((await api('PUT', `/admin/v1/users/${user.id}/external-identities`, { bearer, body })).status).toBe(200);
  await press(shown, 'Start again');
  await press(shown, 'Continue with Attic');
  await isLoggedIn(shown);
  await expect.poll(() => shown.events('signed-in')).toMatchObject([{ user_id: user.id }]);
  await shown.expectNoErrorsOrSidewaysScroll();
  await context.close();
});

test('an unlinked account at a provider is explained in Spanish, too', async () => {
  const context = await contextOf(({ nonce }) => provider.login('grace', nonce));
  const shown = await signIn({ context, lang: 'es' });
  await press(shown, 'Continuar con Attic');
  await shown.page.getByRole('alert').filter({ hasText: 'Ninguna cuenta de aquí está vinculada' }).waitFor();
  await context.close();
});

test('a window of a provider that is closed leads back, and a failure of it does not blame the input', async () => {
  const answers: (string | null | Error)[] = [null, new Error('The window was blocked.')];
  const context = await contextOf(async () => {
    const answer = answers.shift() ?? null;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const shown = await signIn({ context });
  await press(shown, 'Continue with Attic');
  await shown.until('events.filter(([type]) => type === "step").length === 2');
  await press(shown, 'Continue with Attic');
  await shown.page.getByRole('alert').filter({ hasText: 'The sign-in at Attic failed.' }).waitFor();
  expect(await shown.page.getByText('That is wrong').count()).toBe(0);
  await context.close();
});

test('a required factor is enrolled within the login, after another password, and its recovery codes are shown', async () => {
  const user = await createUser(pages.app, { must_change: true });
  await pages.app.api('PATCH', `/admin/v1/users/${user.id}`, {
    bearer: pages.app.adminKey,
    body: { second_factor: 'required' },
  });
  const shown = await signIn({ width: 390, theme: 'dark' });
  await byPassword(shown, user.username);
  await secret(shown, 'New password').fill('nine dull horses sleep');
  await shown.expectAccessible();
  await shown.page.locator('form button[type=submit]').click();
  await shown.page.getByRole('img', { name: /QR code/ }).waitFor();
  await shown.expectAccessible();
  const app = appOf(user.id, await shown.page.locator('.secret').innerText());
  await shown.page.locator('input[autocomplete=one-time-code]').fill(await app.code());
  await press(shown, 'Continue');
  await shown.page.locator('.codes li').first().waitFor();
  expect(await shown.page.locator('.codes li').count()).toBe(10);
  await shown.expectAccessible();
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a user cancels a PIN that somebody else has recovered, with the code of the message about it', async () => {
  const user = await createUser(pages.app, { email: newEmail(), phone: newPhone(), pin: '2468' });
  const steps = createRecoverySteps(() => pages.app);
  await steps.recoverPin(user, '1357');
  const code = await steps.cancelCode(user.email);
  const shown = await signIn();
  await field(shown, 'Email, phone or username').fill(user.email ?? '');
  await press(shown, 'Continue');
  await press(shown, 'I have a PIN');
  await press(shown, 'Forgot your PIN?');
  await press(shown, 'Cancel a new PIN');
  await field(shown, 'Email, phone or username').fill(user.email ?? '');
  await field(shown, 'Code').fill('wrong');
  await press(shown, 'Cancel a new PIN');
  await shown.page.getByText('That code is wrong or has expired.').waitFor();
  await field(shown, 'Code').fill(code);
  await press(shown, 'Cancel a new PIN');
  await shown.page.getByText('The new PIN is cancelled. Your PIN stays as it is.').waitFor();
  const { adminKey: bearer, api } = pages.app;
  const { body } = await api<{ pin_recovery: unknown }>('GET', `/admin/v1/users/${user.id}`, { bearer });
  expect(body.pin_recovery).toBeNull();
});
