// Users in <postern-account> who have only an account at a provider. The provider is real, on another site than the service.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAuthenticator } from '../../support/browser.js';
import { type ElementPage, type ElementPages, startElementPages } from '../../support/elements.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';
import { openPublicAddress, type PublicAddress } from '../../support/public-address.js';

let pages: ElementPages;
let house: OpenIdProvider;
let address: PublicAddress;
beforeAll(async () => {
  address = await openPublicAddress();
  const redirectUris = [`${address.url}/callback/house`];
  house = await startOpenIdProvider(['ours'], { host: 'localhost', redirectUris });
  pages = await startElementPages((origin) => ({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PUBLIC_URL: address.url, REDIRECT_URIS: `${origin}/` },
    ...{ PIN_POLICY: 'off', MAIL_PROVIDER: 'console', CODE_LIMIT_PER_ADDRESS: '0' },
    OIDC_PROVIDERS: JSON.stringify({
      // Without scopes for it, the provider tells no mail address.
      house: {
        issuer: house.url,
        client_id: 'ours',
        client_secret: 'a secret',
        title: 'The House',
        sign_up: true,
        scopes: 'openid',
      },
    }),
  }));
  address.service = pages.app.url;
});
afterAll(async () => {
  await pages?.close();
  address?.close();
  await house?.close();
});

const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const show = async ({ page, until }: ElementPage, tag: string) => {
  await until('typeof show === "function"');
  await page.evaluate(`show(${JSON.stringify({ url: pages.app.url, tag })})`);
};
/** Logs in at the provider, and waits for the page. */
async function logInAtHouse({ page }: ElementPage, login: string): Promise<void> {
  await page.waitForURL((url) => url.origin === house.url);
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForURL((url) => url.origin === pages.origin || url.pathname.startsWith('/interaction/'));
  const consent = page.locator('input[name=prompt][value=consent]');
  if (new URL(page.url()).origin === house.url && (await consent.count()) > 0) await page.click('button[type=submit]');
  await page.waitForURL((url) => url.origin === pages.origin);
}
/** A person who has signed up with the provider, in the account. */
async function newcomer(): Promise<{ readonly shown: ElementPage; readonly login: string }> {
  const login = `person-${randomUUID()}`;
  const shown = await pages.show('postern-sign-in');
  await press(shown, 'Continue with The House');
  await logInAtHouse(shown, login);
  await show(shown, 'postern-sign-in');
  await press(shown, 'Later');
  await shown.until('postern.current.status === "signed_in"');
  await shown.page.reload();
  await show(shown, 'postern-account');
  return { shown, login };
}
const field = ({ page }: ElementPage, name: string) => page.locator(`dialog input[name=${name}]`);

test('the person confirms a change at the provider, and comes back to the form with what was typed', async () => {
  const { shown, login } = await newcomer();
  const { page } = shown;
  await page.getByText('An account of The House was linked.').waitFor();
  // One line says that there is an account now.
  expect(await page.getByText(/^(You created your account|Your account was created)\.$/).allInnerTexts()).toEqual([
    'You created your account.',
  ]);
  await press(shown, 'Change: Username');
  const name = `grace-${randomUUID().slice(0, 8)}`;
  await field(shown, 'username').fill(name);
  await press(shown, 'Save');
  await page.getByText('You sign in there again').waitFor();
  await shown.expectAccessible();
  await press(shown, 'Continue with The House');
  await logInAtHouse(shown, login);
  await show(shown, 'postern-account');
  await page.getByText('You have confirmed that it is you.').waitFor();
  expect(page.url()).toBe(`${pages.origin}/`);
  expect(await field(shown, 'username').inputValue()).toBe(name);
  await shown.expectAccessible();
  await press(shown, 'Save');
  await page.getByText(name, { exact: true }).waitFor();
  expect(await shown.events('changed')).toEqual([{ operation: 'set_username' }]);
  await shown.expectNoErrorsOrSidewaysScroll();
});

test('a passkey and a password are added, and no secret is kept while the page is away', async () => {
  const { shown, login } = await newcomer();
  const { page } = shown;
  await addAuthenticator(page, { verifiesUser: true });
  await press(shown, 'Set: Password');
  await field(shown, 'password').fill('the moon and back again');
  await press(shown, 'Save');
  await page.getByText('You sign in there again').waitFor();
  await press(shown, 'Continue with The House');
  await page.waitForURL((url) => url.origin === house.url);
  await logInAtHouse(shown, login);
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('the moon');
  await show(shown, 'postern-account');
  await page.getByText('You have confirmed that it is you.').waitFor();
  expect(await field(shown, 'password').inputValue()).toBe('');
  await field(shown, 'password').fill('the moon and back again');
  await press(shown, 'Save');
  await page.getByRole('button', { name: 'Change: Password' }).waitFor();
  expect(await shown.events('changed')).toEqual([{ operation: 'set_password' }]);
  // Now there are two ways to confirm a change.
  await press(shown, 'Add: Passkeys');
  await press(shown, 'Continue');
  await page.getByRole('button', { name: 'Continue with The House' }).waitFor();
  await field(shown, 'password').fill('the moon and back again');
  await press(shown, 'Continue');
  await page.getByText('This device', { exact: true }).first().waitFor();
});

test('who cancels at the provider reads so, and can go there again', async () => {
  const { shown, login } = await newcomer();
  const { page } = shown;
  const begin = async () => {
    await press(shown, 'Change: Username');
    await field(shown, 'username').fill(`ada-${randomUUID().slice(0, 8)}`);
    await press(shown, 'Save');
    await press(shown, 'Continue with The House');
    await page.waitForURL((url) => url.origin === house.url);
  };
  await begin();
  await page.getByText('Cancel').click();
  await page.waitForURL((url) => url.origin === pages.origin);
  await show(shown, 'postern-account');
  await page.getByRole('alert').filter({ hasText: 'You have cancelled. Try again.' }).waitFor();
  await begin();
  await logInAtHouse(shown, login);
  await show(shown, 'postern-account');
  await press(shown, 'Save');
  await page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor({ state: 'attached' });
});

test('another person at the provider confirms nothing', async () => {
  const { shown } = await newcomer();
  const { page } = shown;
  await press(shown, 'Change: Username');
  await field(shown, 'username').fill(`eve-${randomUUID().slice(0, 8)}`);
  await press(shown, 'Save');
  await press(shown, 'Continue with The House');
  await logInAtHouse(shown, `person-${randomUUID()}`);
  await show(shown, 'postern-account');
  await press(shown, 'Save');
  await page.getByRole('alert').filter({ hasText: 'That is wrong or has expired. Try again.' }).waitFor();
  await page.getByRole('button', { name: 'Continue with The House' }).waitFor();
  expect(await shown.events('changed')).toEqual([]);
});
