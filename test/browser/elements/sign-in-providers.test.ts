// Accounts at providers, guests and the human check in <postern-sign-in>.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../support/account.js';
import { launchWithoutCookies } from '../../support/browser.js';
import type { ElementPage, ShowOptions } from '../../support/elements.js';
import { type ProviderPages, startProviderPages } from '../../support/provider-pages.js';
import { testSql } from '../../support/sql.js';
import { createUser, newEmail, password, wrongCode } from '../../support/users.js';

let pages: ProviderPages;
beforeAll(async () => {
  pages = await startProviderPages();
});
afterAll(() => pages?.close());
afterEach(() => pages.vendor.reset());

const signIn = (options: ShowOptions = {}) => pages.show('postern-sign-in', options);
const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const heading = ({ page }: ElementPage, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
const isSignedIn = ({ until }: ElementPage) => until('postern.current.status === "signed_in"');
const account = ({ page }: ElementPage) =>
  page.evaluate<{ id: string; email: string | null; is_guest: boolean }>('client.createAccount(postern).get()');
const gmail = () => pages.gmail();
const through = (shown: ElementPage, button: string) => pages.through(shown, button);

test('a person signs up with an account at a provider, and the next time signs in with the way that is marked', async () => {
  const email = gmail();
  const shown = await signIn();
  await through(shown, 'Continue with Google');
  await isSignedIn(shown);
  const { id, ...created } = await account(shown);
  expect(created).toMatchObject({ email, is_guest: false });
  await heading(shown, 'You are signed in.');
  expect(await shown.events('signed-in')).toMatchObject([{ user_id: id }]);
  expect(shown.page.url()).toBe(`${pages.origin}/`);
  await press(shown, 'Sign out');
  await shown.page.getByRole('button', { name: 'Continue with Google' }).getByText('Last used').waitFor();
  await through(shown, 'Continue with Google');
  await isSignedIn(shown);
  expect((await account(shown)).id).toBe(id);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('an account with the address is linked after its password, by keyboard alone', async () => {
  const email = gmail();
  const user = await createUser(pages.app, { email });
  const shown = await signIn();
  await through(shown, 'Continue with Google');
  await heading(shown, 'Is this your account?');
  await shown.page.getByLabel('Password', { exact: true }).focus();
  await shown.page.keyboard.type('wrong');
  await shown.page.keyboard.press('Enter');
  await shown.page.getByRole('alert').filter({ hasText: 'That is wrong.' }).waitFor();
  await shown.expectAccessible();
  await shown.page.getByLabel('Password', { exact: true }).fill(password);
  await shown.page.keyboard.press('Enter');
  await isSignedIn(shown);
  expect((await account(shown)).id).toBe(user.id);
  await press(shown, 'Sign out');
  await through(shown, 'Continue with Google');
  await isSignedIn(shown);
  expect((await account(shown)).id).toBe(user.id);
});

test('an account with the address is linked after a code to it, and the field keeps a wrong one', async () => {
  const email = gmail();
  const user = await createUser(pages.app, { email });
  const shown = await signIn();
  await through(shown, 'Continue with Google');
  await press(shown, 'Email me a code');
  await shown.page.getByText(/We sent a code to/).waitFor();
  expect(await shown.page.evaluate('element.shadowRoot.activeElement?.name')).toBe('code');
  const code = await codeTo(pages.app, email);
  await shown.page.getByLabel('Code', { exact: true }).fill(wrongCode(code));
  await shown.page.getByRole('alert').filter({ hasText: 'wrong or has expired' }).waitFor();
  await shown.page.getByLabel('Code', { exact: true }).fill(code);
  await isSignedIn(shown);
  expect((await account(shown)).id).toBe(user.id);
});

test('an account that is not linked is explained, with ways on', async () => {
  const shown = await signIn();
  await through(shown, 'Continue with The Attic');
  await shown.page.getByText('No account here is linked to this account at The Attic.').waitFor();
  await shown.expectAccessible();
  await press(shown, 'Create an account');
  await shown.page.getByLabel('Email or phone number').waitFor();
  await press(shown, 'Back');
  await through(shown, 'Continue with The Attic');
  await press(shown, 'Sign in another way');
  await shown.page.getByLabel('Email, phone or username').waitFor();
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('who cancels at the provider is at the first step, which does not speak of passkeys', async () => {
  pages.vendor.denial = { error: 'access_denied' };
  const shown = await signIn();
  await through(shown, 'Continue with Google');
  await shown.page.getByRole('alert').filter({ hasText: 'You have cancelled.' }).waitFor();
});

test('a provider that does not answer can be tried again', async () => {
  pages.vendor.denial = { error: 'server_error' };
  const shown = await signIn();
  await through(shown, 'Continue with Google');
  await shown.page.getByText('Google does not answer.').waitFor();
  pages.vendor.denial = undefined;
  gmail();
  await through(shown, 'Try Google again');
  await isSignedIn(shown);
});

test('the back button leads to a page that can begin again', async () => {
  gmail();
  const shown = await signIn();
  await pages.leave(shown, 'Continue with Google');
  await shown.page.goBack();
  await pages.reshow(shown);
  await through(shown, 'Continue with Google');
  await isSignedIn(shown);
});

test('a browser that blocks cookies stays on the page, which says what to do', async () => {
  const blocking = await launchWithoutCookies();
  try {
    const shown = await signIn({ context: blocking.context });
    await press(shown, 'Continue with Google');
    await shown.page.getByText('This browser blocks cookies, so it could not come back from Google.').waitFor();
    await shown.expectAccessible();
    await press(shown, 'Sign in another way');
    await shown.page.getByLabel('Email, phone or username').waitFor();
    expect(shown.page.url()).toContain(pages.origin);
  } finally {
    await blocking.close();
  }
});

test('a code makes an account for an address that nobody has, and signs in the one that somebody has', async () => {
  const known = newEmail();
  const user = await createUser(pages.app, { email: known });
  for (const email of [newEmail(), known]) {
    const shown = await signIn({ attributes: { ways: 'email password' } });
    await shown.page.getByLabel('Email', { exact: true }).fill(email);
    await press(shown, 'Continue');
    await shown.page.getByText('if you are new here, it creates your account').waitFor();
    await shown.page.getByLabel('Code', { exact: true }).fill(await codeTo(pages.app, email));
    await isSignedIn(shown);
    const signedIn = await account(shown);
    expect(signedIn.email).toBe(email);
    if (email === known) expect(signedIn.id).toBe(user.id);
    await shown.page.close();
  }
});

test('without a registration, codes make no accounts', async () => {
  const email = newEmail();
  const shown = await signIn({ attributes: { ways: 'email', registration: 'off' } });
  await shown.page.getByLabel('Email', { exact: true }).fill(email);
  const started = shown.page.waitForRequest(/\/v1\/tokens$/);
  await press(shown, 'Continue');
  expect((await started).postDataJSON()).not.toHaveProperty('sign_up');
  await shown.page.getByText('If there is an account with').waitFor();
});

/** Who a guest becomes: what to do from the first step on. */
const waysOn: Record<string, (shown: ElementPage) => Promise<{ readonly email?: string; readonly id?: string }>> = {
  async 'signs in'(shown) {
    const user = await createUser(pages.app);
    await shown.page.getByLabel('Email, phone or username').fill(user.username ?? '');
    await press(shown, 'Continue');
    await shown.page.getByLabel('Password', { exact: true }).fill(password);
    await press(shown, 'Sign in');
    return { id: user.id };
  },
  async 'creates an account'(shown) {
    const email = newEmail();
    await press(shown, 'Create an account');
    await shown.page.getByLabel('Email or phone number').fill(email);
    await press(shown, 'Continue');
    await shown.page.getByLabel('Code', { exact: true }).fill(await codeTo(pages.app, email));
    await shown.page.getByLabel('Password', { exact: true }).fill('the moon and back again');
    await press(shown, 'Create an account');
    return { email };
  },
  async 'signs up at a provider'(shown) {
    const email = gmail();
    await through(shown, 'Continue with Google');
    return { email };
  },
};
test.each(Object.keys(waysOn))('a guest who %s keeps the notifications', async (name) => {
  const shown = await signIn();
  await press(shown, 'Continue as a guest');
  await heading(shown, 'You are a guest');
  const guest = await account(shown);
  expect(guest.is_guest).toBe(true);
  expect(await shown.events('signed-in')).toMatchObject([{ user_id: guest.id }]);
  const { adminKey: bearer, api } = pages.app;
  const body = { user_id: guest.id, notification_type: 'payment', description: 'For the guest' };
  await api('POST', '/admin/v1/notifications', { bearer, body });
  // The guest comes back later.
  await shown.page.reload();
  await pages.reshow(shown);
  await press(shown, 'Sign in or create an account');
  expect(await shown.page.getByText('Continue as a guest').count()).toBe(0);
  const expected = await waysOn[name]?.(shown);
  await heading(shown, 'You are signed in.');
  await shown.until(`postern.current.user_id !== ${JSON.stringify(guest.id)}`);
  expect(await account(shown)).toMatchObject({ is_guest: false, ...expected });
  await expect.poll(async () => (await api('GET', `/admin/v1/users/${guest.id}`, { bearer })).status).toBe(404);
  const listed = await shown.page.evaluate(
    `client.createInbox(postern).list().page().then(({ data }) => data.map(({ description }) => description))`,
  );
  expect(listed).toEqual(['For the guest']);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('guests are offered only where the service allows them and `ways` has them', async () => {
  const shown = await signIn({ attributes: { ways: 'password passkey' } });
  await shown.page.getByLabel('Email, phone or username').waitFor();
  expect(await shown.page.getByText('Continue as a guest').count()).toBe(0);
});

test('a human check is announced, and leaving its step ends the work', async () => {
  const shown = await signIn();
  const { page } = shown;
  const challenge = { algorithm: 'SHA-256', challenge: '0'.repeat(64), maxnumber: 1e9, salt: 'x', signature: 'y' };
  await page.route('**/v1/recoveries', (route) =>
    route.fulfill({
      ...{ status: 422, contentType: 'application/problem+json', headers: { 'access-control-allow-origin': '*' } },
      body: JSON.stringify({
        ...{ type: 'urn:postern:problem:human_check_required', title: 'x', errors: [] },
        human_check: { type: 'altcha', challenge },
      }),
    }),
  );
  await page.getByLabel('Email, phone or username').fill(newEmail());
  await press(shown, 'Continue');
  await press(shown, 'Forgot your password?');
  await press(shown, 'Continue');
  const status = page.getByRole('status').filter({ hasText: 'Checking that you are not a robot.' });
  await status.waitFor();
  await shown.expectAccessible();
  await press(shown, 'Back');
  await shown.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await expect.poll(() => status.count()).toBe(0);
});

const addressField = ({ page }: ElementPage) => page.getByLabel('Email or phone number');
const codeField = ({ page }: ElementPage) => page.getByLabel('Code', { exact: true });
/** A person who has signed up with an account that has no address. */
async function withoutAddress(provider = 'GitHub'): Promise<ElementPage> {
  pages.withoutAddress();
  const shown = await signIn();
  await through(shown, `Continue with ${provider}`);
  await heading(shown, 'Add an address');
  return shown;
}

test.each(['GitHub', 'Google'])(
  'a new account at %s without an address is asked for one, by keyboard alone',
  async (provider) => {
    const shown = await withoutAddress(provider);
    const { page } = shown;
    const { id } = await account(shown);
    // The app does not go on before the user has answered.
    expect(await shown.events('signed-in')).toEqual([]);
    await page.getByText(`even without ${provider}`).waitFor();
    await shown.expectAccessible();
    await addressField(shown).focus();
    await page.keyboard.type('ada');
    await page.keyboard.press('Enter');
    await page.getByText('Enter a mail address').waitFor();
    const email = newEmail();
    await addressField(shown).fill(email);
    await page.keyboard.press('Enter');
    await page.getByText(/We sent a code to/).waitFor();
    await expect.poll(() => page.evaluate('element.shadowRoot.activeElement?.name')).toBe('code');
    await shown.expectAccessible();
    const code = await codeTo(pages.app, email);
    await page.keyboard.type(wrongCode(code));
    await page.getByRole('alert').filter({ hasText: 'wrong or has expired' }).waitFor();
    expect(await codeField(shown).inputValue()).toBe(wrongCode(code));
    expect(await page.evaluate('element.shadowRoot.activeElement?.name')).toBe('code');
    await codeField(shown).fill(code);
    await heading(shown, 'You are signed in.');
    expect(await shown.events('signed-in')).toMatchObject([{ user_id: id }]);
    expect(await account(shown)).toMatchObject({ id, email });
    // The next login asks nothing.
    await press(shown, 'Sign out');
    await through(shown, `Continue with ${provider}`);
    await heading(shown, 'You are signed in.');
    await shown.expectNoErrorsOrSidewaysScroll();
  },
);

test('an app that hides the element as soon as the user is signed in asks for the address first', async () => {
  const shown = await withoutAddress();
  const { page, until } = shown;
  // The account is there, and the app does not know yet.
  const { id } = await account(shown);
  expect(await page.evaluate('postern.current.status')).toBe('signed_out');
  await page.evaluate(`globalThis.heard = [];
  postern.subscribe(({ status, user_id }) => {
    heard.push([status, user_id]);
    element.hidden = status === 'signed_in';
  })`);
  await press(shown, 'Later');
  await until('element.hidden');
  expect(await page.evaluate('heard.at(-1)')).toEqual(['signed_in', id]);
  expect(await page.evaluate('heard.length')).toBe(2);
  await until('events.some(([type]) => type === "signed-in")');
});

test('a page that is loaded again during the question is signed in', async () => {
  const shown = await withoutAddress();
  const { id } = await account(shown);
  await shown.page.reload();
  await pages.reshow(shown);
  await isSignedIn(shown);
  expect((await account(shown)).id).toBe(id);
});

test('an address can be added later, and this browser does not ask again', async () => {
  const shown = await withoutAddress();
  await press(shown, 'Later');
  await heading(shown, 'You are signed in.');
  expect(await shown.events('signed-in')).toHaveLength(1);
  await press(shown, 'Sign out');
  await through(shown, 'Continue with GitHub');
  await heading(shown, 'You are signed in.');
  expect(await account(shown)).toMatchObject({ email: null });
});

test('an address of somebody else is refused after its code, and another one is taken', async () => {
  const shown = await withoutAddress();
  const { email: taken } = await createUser(pages.app, { email: newEmail() });
  await addressField(shown).fill(taken ?? '');
  await press(shown, 'Continue');
  await shown.page.getByRole('button', { name: /^New code in/ }).waitFor();
  await codeField(shown).fill(await codeTo(pages.app, taken ?? ''));
  await shown.page.getByRole('alert').filter({ hasText: 'Another account already uses this.' }).waitFor();
  await press(shown, 'Back');
  expect(await addressField(shown).inputValue()).toBe(taken);
  const own = newEmail();
  await addressField(shown).fill(own);
  await press(shown, 'Continue');
  // A user gets one code to a new address in a minute.
  await shown.page.getByRole('alert').filter({ hasText: 'Too many attempts. Try again in' }).waitFor();
  await pages.app.database.query(testSql('delete from message_limits'));
  await press(shown, 'Continue');
  await shown.page.getByText(/We sent a code to/).waitFor();
  // A change of the language keeps the step.
  await shown.page.evaluate('element.setAttribute("lang", "es")');
  await shown.page.getByRole('heading', { name: 'Escribe el código' }).waitFor();
  await shown.page.getByLabel('Código', { exact: true }).fill(await codeTo(pages.app, own));
  await shown.page.getByRole('heading', { name: 'Has iniciado sesión.' }).waitFor();
  expect(await account(shown)).toMatchObject({ email: own });
});

test('ten minutes after the login, an address needs another login, and the app goes on', async () => {
  const shown = await withoutAddress();
  const earlier = "update authentications set approved_at = approved_at - interval '11 minutes' where user_id = $1";
  await pages.app.database.query(testSql(earlier, [(await account(shown)).id]));
  await addressField(shown).fill(newEmail());
  await press(shown, 'Continue');
  await shown.page.getByRole('alert').filter({ hasText: 'To add an address, sign in again.' }).waitFor();
  await press(shown, 'Later');
  await heading(shown, 'You are signed in.');
  expect(await shown.events('signed-in')).toHaveLength(1);
  // It was no answer to the question, so the next login asks again.
  await press(shown, 'Sign out');
  await through(shown, 'Continue with GitHub');
  await heading(shown, 'Add an address');
});

test('a service that cannot be asked about the address holds up nobody', async () => {
  pages.withoutAddress();
  const shown = await signIn();
  await shown.page.route('**/v1/account', (route) => route.abort());
  await through(shown, 'Continue with GitHub');
  await heading(shown, 'You are signed in.');
  expect(await shown.events('signed-in')).toHaveLength(1);
});

test('a page that removes the element once the user is signed in gets the event, without a question', async () => {
  const shown = await withoutAddress();
  await shown.page.evaluate(`globalThis.heard = [];
  element.addEventListener('postern-signed-in', ({ detail }) => heard.push(detail.user_id));
  element.remove()`);
  await shown.until('heard.length === 1');
  expect(await shown.page.evaluate('heard')).toEqual([(await account(shown)).id]);
});

test('a logout takes the question away, and no event follows', async () => {
  const shown = await withoutAddress();
  await shown.page.evaluate('postern.logOut()');
  await shown.page.getByLabel('Email, phone or username').waitFor();
  await shown.page.evaluate(`globalThis.heard = [];
  element.addEventListener('postern-signed-in', () => heard.push('signed-in'));
  element.remove()`);
  await shown.until('!element.isConnected');
  // The element ends after the task that has removed it.
  expect(await shown.page.evaluate('new Promise((resolve) => setTimeout(() => resolve(heard)))')).toEqual([]);
});
