import type { Route } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { codeTo } from '../../support/account.js';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { type Answers, contextOf, look, problem } from '../../support/gallery.js';
import { pseudoTexts } from '../../support/pseudo-locale.js';
import { createUser, newEmail, newPhone, password, wrongCode } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages(
    {
      ...{ PIN_POLICY: 'optional', REGISTRATION: 'on', MAIL_PROVIDER: 'console', APP_NAME: 'Splitter' },
      ...{ CODE_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_PREFIX: '0', SMS_LIMIT_TOTAL: '0' },
    },
    pseudoTexts,
  );
});
afterAll(() => pages?.close());

const press = ({ page }: ElementPage, name: string | RegExp) =>
  page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }).click();
const fill = ({ page }: ElementPage, name: string, value: string) => page.getByLabel(name, { exact: true }).fill(value);
const contextWith = (answers?: Answers) => contextOf(pages.browser, answers);
/** The service offers these providers and all other ways. */
const withProviders =
  (...names: readonly string[]) =>
  async (route: Route) => {
    const response = await route.fetch();
    const offered = await response.json();
    const providers = names.map((name) => ({
      authenticator: `oidc:${name}`,
      steps: 2,
      identity_types: [],
      takes_pin: false,
    }));
    await route.fulfill({ response, json: { ...offered, logins: [...offered.logins, ...providers] } });
  };

const signIn = (options: ShowOptions = {}) => pages.show('postern-sign-in', options);
async function passwordPage(options: ShowOptions = {}, identity = 'ada@example.com') {
  const shown = await signIn(options);
  await fill(shown, 'Email, phone or username', identity);
  await press(shown, 'Continue');
  await shown.page.getByLabel('Password', { exact: true }).waitFor();
  return shown;
}

/** Opens the registration or the recovery, up to the step of the code. */
async function flowCode(link: 'Create an account' | 'Forgot your password?', options: ShowOptions = {}) {
  const email = newEmail();
  if (link !== 'Create an account') await createUser(pages.app, { email });
  const shown = link === 'Create an account' ? await signIn(options) : await passwordPage(options, email);
  await press(shown, link);
  await fill(shown, 'Email or phone number', email);
  await press(shown, 'Continue');
  await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  return { shown, email, code: await codeTo(pages.app, email) };
}
async function flowSecret(link: Parameters<typeof flowCode>[0]) {
  const { shown, code } = await flowCode(link);
  await fill(shown, 'Code', code);
  await shown.page.locator('form input[autocomplete=new-password]').first().waitFor();
  return shown;
}

const states: readonly (readonly [name: string, reach: () => Promise<ElementPage>])[] = [
  ['sign-in', () => signIn()],
  [
    'sign-in-providers',
    async () => {
      const context = await contextWith({
        '**/v1/login-options': withProviders('google', 'apple', 'github', 'azure-ad'),
      });
      const shown = await signIn({ context, slots: 'logo=◆ Splitter' });
      await shown.page.getByRole('button', { name: /Google/ }).waitFor();
      return shown;
    },
  ],
  [
    'sign-in-two-providers',
    async () => {
      const context = await contextWith({ '**/v1/login-options': withProviders('google', 'okta') });
      const shown = await signIn({ context });
      await shown.page.getByRole('button', { name: /Google/ }).waitFor();
      return shown;
    },
  ],
  [
    'sign-in-other-ways',
    async () => {
      const shown = await signIn();
      await press(shown, 'Other ways to sign in');
      return shown;
    },
  ],
  [
    'sign-in-missing',
    async () => {
      const shown = await signIn();
      await press(shown, 'Continue');
      return shown;
    },
  ],
  ['sign-in-password', () => passwordPage()],
  [
    'sign-in-password-busy',
    async () => {
      const shown = await passwordPage({ context: await contextWith({ '**/v1/tokens': () => undefined }) });
      await fill(shown, 'Password', 'long enough');
      await press(shown, 'Sign in');
      return shown;
    },
  ],
  [
    'sign-in-password-wrong',
    async () => {
      const shown = await passwordPage();
      await press(shown, 'I have a PIN');
      await fill(shown, 'Password', 'wrong');
      await press(shown, 'Sign in');
      await shown.page.getByText('Email or password is wrong.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-failed',
    async () => {
      const shown = await passwordPage({
        context: await contextWith({ '**/v1/tokens': problem(500, 'internal_error') }),
      });
      await fill(shown, 'Password', 'long enough');
      await press(shown, 'Sign in');
      await shown.page.getByText('Something went wrong on our side.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-start-failed',
    async () => {
      const shown = await signIn({
        context: await contextWith({ '**/v1/login-options': problem(500, 'internal_error') }),
      });
      await shown.page.getByText('Something went wrong on our side.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-offline',
    async () => {
      const shown = await signIn({ context: await contextWith({ '**/v1/login-options': (route) => route.abort() }) });
      await shown.page.getByText('No connection.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-not-an-address',
    async () => {
      const shown = await signIn();
      await press(shown, 'Other ways to sign in');
      await press(shown, 'Email me a code');
      await fill(shown, 'Email', 'ada');
      await press(shown, 'Continue');
      await shown.page.getByText('Enter a mail address').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-code',
    async () => {
      const phone = newPhone();
      await createUser(pages.app, { phone });
      const shown = await signIn({ attributes: { ways: 'sms password' } });
      await fill(shown, 'Phone number', phone);
      await press(shown, 'Continue');
      await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
      return shown;
    },
  ],
  [
    'sign-in-code-wrong',
    async () => {
      const email = newEmail();
      await createUser(pages.app, { email });
      const shown = await signIn({ attributes: { ways: 'email' } });
      await fill(shown, 'Email', email);
      await press(shown, 'Continue');
      await fill(shown, 'Code', wrongCode(await codeTo(pages.app, email)));
      await shown.page.getByText('That code is wrong or has expired.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-locked',
    async () => {
      const answer = problem(423, 'account_temporarily_locked', { 'retry-after': '900' });
      const shown = await passwordPage({ context: await contextWith({ '**/v1/tokens': answer }) });
      await fill(shown, 'Password', 'wrong');
      await press(shown, 'Sign in');
      await shown.page.getByRole('heading', { name: 'Too many attempts' }).waitFor();
      return shown;
    },
  ],
  [
    'sign-in-locked-for-good',
    async () => {
      const shown = await passwordPage({
        context: await contextWith({ '**/v1/tokens': problem(403, 'account_locked') }),
      });
      await fill(shown, 'Password', 'wrong');
      await press(shown, 'Sign in');
      await shown.page.getByText('This account is locked.').waitFor();
      return shown;
    },
  ],
  [
    'registration-address',
    async () => {
      const shown = await signIn();
      await press(shown, 'Create an account');
      await shown.page.getByLabel('Email or phone number').waitFor();
      return shown;
    },
  ],
  ['registration-code', async () => (await flowCode('Create an account')).shown],
  [
    'registration-code-wrong',
    async () => {
      const { shown, code } = await flowCode('Create an account');
      await fill(shown, 'Code', wrongCode(code));
      await shown.page.getByText('That code is wrong or has expired.').waitFor();
      return shown;
    },
  ],
  ['registration-details', () => flowSecret('Create an account')],
  [
    'registration-details-refused',
    async () => {
      const shown = await flowSecret('Create an account');
      await press(shown, 'Add a PIN');
      await fill(shown, 'Password', 'password');
      await press(shown, 'Create an account');
      await shown.page.locator('[aria-invalid=true]').waitFor();
      return shown;
    },
  ],
  [
    'recovery-address',
    async () => {
      const shown = await passwordPage();
      await press(shown, 'Forgot your password?');
      await shown.page.getByLabel('Email or phone number').waitFor();
      return shown;
    },
  ],
  [
    'recovery-cancel-pin',
    async () => {
      const shown = await passwordPage();
      await press(shown, 'I have a PIN');
      await press(shown, 'Forgot your PIN?');
      await press(shown, 'Cancel a new PIN');
      await shown.page.getByText('Enter the code of the message').waitFor();
      return shown;
    },
  ],
  ['recovery-code', async () => (await flowCode('Forgot your password?')).shown],
  ['recovery-new-password', () => flowSecret('Forgot your password?')],
  [
    'recovery-done',
    async () => {
      const shown = await flowSecret('Forgot your password?');
      await fill(shown, 'New password', 'the moon and back again');
      await press(shown, 'Save');
      await shown.page.getByText('Saved. Sign in with it now.').waitFor();
      return shown;
    },
  ],
  [
    'sign-in-done',
    async () => {
      const user = await createUser(pages.app);
      return signIn({ login: { identity: user.username ?? '', password } });
    },
  ],
];

test.each(states)('%s is accessible in every variant', async (name, reach) => {
  const shown = await reach();
  await shown.page.getByText('Loading…').first().waitFor({ state: 'detached' });
  await look(name, shown);
  await shown.page.close();
});
