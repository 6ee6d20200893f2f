import { afterAll, beforeAll, test } from 'vitest';
import { codeTo } from '../../support/account.js';
import { addAuthenticator } from '../../support/browser.js';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createFactors } from '../../support/factors.js';
import { type Answers, contextOf, look, problem } from '../../support/gallery.js';
import { pseudoTexts } from '../../support/pseudo-locale.js';
import { createUser, newEmail, newPhone, password, signIn } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages(
    {
      ...{ PIN_POLICY: 'optional', MAIL_PROVIDER: 'console', APP_NAME: 'Splitter' },
      ...{ CODE_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_PREFIX: '0', SMS_LIMIT_TOTAL: '0' },
    },
    pseudoTexts,
  );
});
afterAll(() => pages?.close());
const { appOf } = createFactors(() => pages.app);

const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const fill = ({ page }: ElementPage, name: string, value: string) =>
  page.getByRole('dialog').getByLabel(name, { exact: true }).fill(value);

async function accountPage(answers: Answers = {}, options: ShowOptions = {}): Promise<ElementPage> {
  const user = await createUser(pages.app, { name: 'Ada Lovelace', email: newEmail(), phone: newPhone() });
  await signIn(pages.app, user, { make: 'Apple', model: 'iPhone 16', os_name: 'iOS', os_version: '18.1' });
  const context = await contextOf(pages.browser, answers);
  return pages.show('postern-account', { login: { identity: user.username ?? '', password }, context, ...options });
}
async function loadedPage(answers: Answers = {}, options: ShowOptions = {}): Promise<ElementPage> {
  const shown = await accountPage(answers, options);
  await shown.page.getByRole('heading', { level: 2 }).first().waitFor();
  return shown;
}
async function appDialog() {
  const shown = await loadedPage();
  await press(shown, 'Set up: Authenticator app');
  await press(shown, 'Continue');
  await fill(shown, 'Password', password);
  await press(shown, 'Continue');
  await shown.page.getByRole('img', { name: /QR/ }).waitFor();
  return shown;
}

const states: readonly (readonly [name: string, reach: () => Promise<ElementPage>])[] = [
  ['account', () => loadedPage()],
  ['account-spanish', () => loadedPage({}, { lang: 'es' })],
  [
    'account-with-passkey',
    async () => {
      const shown = await loadedPage();
      await addAuthenticator(shown.page, { verifiesUser: true });
      await press(shown, 'Add: Passkeys');
      await press(shown, 'Continue');
      await fill(shown, 'Password', password);
      await press(shown, 'Continue');
      await shown.page.getByRole('checkbox', { name: 'Sign out everywhere else' }).waitFor();
      await press(shown, 'Continue');
      await shown.page.getByText('not used yet').waitFor();
      return shown;
    },
  ],
  ['account-loading', async () => accountPage({ '**/v1/account': () => undefined })],
  ['account-signed-out', () => pages.show('postern-account')],
  [
    'account-failed',
    async () => {
      const shown = await accountPage({ '**/v1/account': problem(500, 'internal_error') });
      await shown.page.getByRole('button', { name: 'Try again' }).waitFor();
      return shown;
    },
  ],
  ['account-section-failed', async () => loadedPage({ '**/v1/account/activity*': problem(500, 'internal_error') })],
  [
    'account-proof',
    async () => {
      const shown = await loadedPage();
      await press(shown, 'Set up: Authenticator app');
      await press(shown, 'Continue');
      await fill(shown, 'Password', 'wrong');
      await press(shown, 'Continue');
      await shown.page.getByText('That is wrong or has expired.').waitFor();
      return shown;
    },
  ],
  ['account-app', appDialog],
  [
    'account-recovery-codes',
    async () => {
      const shown = await appDialog();
      const key = (await shown.page.locator('.secret').innerText()).replaceAll(' ', '');
      const id = await shown.page.evaluate<string>('postern.current.user_id');
      await fill(shown, 'Code of your authenticator app', await appOf(id, key).code());
      await press(shown, 'Continue');
      await shown.page.locator('.codes li').first().waitFor();
      return shown;
    },
  ],
  [
    'account-address-code',
    async () => {
      const shown = await loadedPage();
      const email = newEmail();
      await press(shown, 'Change: Email');
      await fill(shown, 'Email', email);
      await press(shown, 'Continue');
      await fill(shown, 'Password', password);
      await press(shown, 'Continue');
      await codeTo(pages.app, email);
      await shown.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
      return shown;
    },
  ],
  [
    'account-delete',
    async () => {
      const shown = await loadedPage();
      await press(shown, 'Delete: Delete the account');
      return shown;
    },
  ],
];

test.each(states)('%s is accessible in every variant', async (name, reach) => {
  const shown = await reach();
  await look(name, shown);
  await shown.page.close();
});
