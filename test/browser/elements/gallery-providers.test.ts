import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, test } from 'vitest';
import { launchWithoutCookies } from '../../support/browser.js';
import type { ElementPage, ShowOptions } from '../../support/elements.js';
import { contextOf, look, problem } from '../../support/gallery.js';
import { type ProviderPages, startProviderPages } from '../../support/provider-pages.js';
import { pseudoTexts } from '../../support/pseudo-locale.js';
import { createUser, newEmail } from '../../support/users.js';

let pages: ProviderPages;
let blocking: Awaited<ReturnType<typeof launchWithoutCookies>>;
beforeAll(async () => {
  [pages, blocking] = await Promise.all([startProviderPages(pseudoTexts), launchWithoutCookies()]);
});
afterAll(async () => {
  await blocking?.close();
  await pages?.close();
});
afterEach(() => pages.vendor.reset());

const signIn = (options: ShowOptions = {}) => pages.show('postern-sign-in', options);
const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const text = async (shown: ElementPage, shownText: string) => {
  await shown.page.getByText(shownText).first().waitFor();
  return shown;
};
/** A login with the account of a user, who must show that it is theirs. */
async function linking(options: ShowOptions = {}) {
  await createUser(pages.app, { email: pages.gmail() });
  const shown = await signIn(options);
  await pages.through(shown, 'Continue with Google', options);
  return text(shown, 'Is this your account?');
}
/** A login that has come back with an error. */
async function refused(error: string) {
  pages.vendor.denial = { error };
  const shown = await signIn();
  await pages.through(shown, 'Continue with Google');
  return shown;
}
/** A new account at GitHub, which has no address. */
async function withoutAddress() {
  pages.withoutAddress();
  const shown = await signIn();
  await pages.through(shown, 'Continue with GitHub');
  return text(shown, 'Add an address');
}
/** A person who has only an account at Google, in the account. The proof for a change is another login there. */
async function proving() {
  pages.withoutAddress();
  const shown = await signIn();
  await pages.through(shown, 'Continue with Google');
  await text(shown, 'Add an address');
  await press(shown, 'Later');
  await text(shown, 'You are signed in.');
  await shown.page.reload();
  await pages.reshow(shown, { tag: 'postern-account' });
  await press(shown, 'Change: Username');
  await shown.page.locator('dialog input[name=username]').fill(`ada-${randomUUID().slice(0, 8)}`);
  await press(shown, 'Save');
  return text(shown, 'You sign in there again');
}
async function proven() {
  const shown = await proving();
  pages.vendor.account = { ...pages.vendor.account, auth_time: Math.floor(Date.now() / 1000) };
  await pages.through(shown, 'Continue with Google', { tag: 'postern-account' });
  return shown;
}
async function withCode() {
  const shown = await withoutAddress();
  await shown.page.getByLabel('Email or phone number').fill(newEmail());
  await press(shown, 'Continue');
  return text(shown, 'We sent a code to');
}
/** A challenge of the human check that nobody can solve. */
const endlessCheck = {
  type: 'altcha',
  challenge: { algorithm: 'SHA-256', challenge: '0'.repeat(64), maxnumber: 1e9, salt: 'x', signature: 'y' },
};

const states: Readonly<Record<string, () => Promise<ElementPage>>> = {
  async 'sign-in-guest-offered'() {
    return text(await signIn(), 'Continue as a guest');
  },
  async 'sign-in-provider-leaving'() {
    const shown = await signIn();
    // After an answer without a page, the browser stays.
    await shown.page.route('**/redirects/*', (route) => route.fulfill({ status: 204 }));
    await press(shown, 'Continue with Google');
    return text(shown, 'Going to Google…');
  },
  async 'sign-in-provider-returning'() {
    const shown = await signIn();
    await shown.page.route('**/v1/tokens/*/secret', () => undefined);
    await pages.through(shown, 'Continue with Google');
    return text(shown, 'Signing in with Google…');
  },
  async 'sign-in-provider-offline'() {
    const shown = await signIn();
    await shown.page.route('**/v1/tokens/*/secret', (route) => route.abort());
    await pages.through(shown, 'Continue with Google');
    return text(shown, 'No connection.');
  },
  'sign-in-link': () => linking(),
  'sign-in-link-spanish': async () => {
    await createUser(pages.app, { email: pages.gmail() });
    const shown = await signIn({ lang: 'es' });
    await pages.leave(shown, 'Continuar con Google');
    await shown.page.click('a');
    await shown.page.waitForURL((url) => url.origin === pages.origin);
    await shown.page.goto(`${shown.page.url()}${new URL(shown.page.url()).search ? '&' : '?'}lang=es`);
    await pages.reshow(shown);
    return text(shown, '¿Es esta tu cuenta?');
  },
  async 'sign-in-link-wrong'() {
    const shown = await linking();
    await shown.page.getByLabel('Password', { exact: true }).fill('wrong');
    await press(shown, 'Link and sign in');
    return text(shown, 'That is wrong.');
  },
  async 'sign-in-link-code'() {
    const shown = await linking();
    await press(shown, 'Email me a code');
    return text(shown, 'We sent a code to');
  },
  async 'sign-in-link-unproven'() {
    await createUser(pages.app, { email: pages.gmail(), email_verified: false });
    const shown = await signIn();
    await pages.through(shown, 'Continue with Google');
    return text(shown, 'Nobody has confirmed the address of that account yet.');
  },
  async 'sign-in-provider-code'() {
    pages.vendor.account = { sub: newEmail(), email: newEmail(), email_verified: true };
    const shown = await signIn();
    await pages.through(shown, 'Continue with Google');
    return text(shown, 'We sent a code to');
  },
  'account-provider-proof': () => proving(),
  async 'account-provider-proven'() {
    return text(await proven(), 'You have confirmed that it is you.');
  },
  async 'account-provider-cancelled'() {
    const shown = await proving();
    pages.vendor.denial = { error: 'access_denied' };
    await pages.through(shown, 'Continue with Google', { tag: 'postern-account' });
    return text(shown, 'You have cancelled. Try again.');
  },
  'sign-in-address': () => withoutAddress(),
  async 'sign-in-address-late'() {
    const shown = await withoutAddress();
    await shown.page.route('**/v1/account/email', (route) =>
      route.fulfill({
        ...{ status: 422, contentType: 'application/problem+json', headers: { 'access-control-allow-origin': '*' } },
        body: JSON.stringify({
          ...{ type: 'urn:postern:problem:validation_failed', title: 'x' },
          errors: [{ field: 'proof', code: 'required', message: 'x', params: {} }],
        }),
      }),
    );
    await shown.page.getByLabel('Email or phone number').fill(newEmail());
    await press(shown, 'Continue');
    return text(shown, 'To add an address, sign in again.');
  },
  'sign-in-address-code': () => withCode(),
  async 'sign-in-address-wrong'() {
    const shown = await withCode();
    await shown.page.getByLabel('Code', { exact: true }).fill('000000');
    return text(shown, 'That code is wrong');
  },
  async 'sign-in-not-linked'() {
    const shown = await signIn();
    await pages.through(shown, 'Continue with The Attic');
    return text(shown, 'No account here is linked to this account at The Attic.');
  },
  async 'sign-in-provider-unavailable'() {
    return text(await refused('server_error'), 'Google does not answer.');
  },
  async 'sign-in-provider-failed'() {
    pages.vendor.account = { sub: 'x', nonce: 'another' };
    const shown = await signIn();
    await pages.through(shown, 'Continue with Google');
    return text(shown, 'The sign-in at Google failed.');
  },
  async 'sign-in-provider-cancelled'() {
    return text(await refused('access_denied'), 'You have cancelled.');
  },
  async 'sign-in-no-cookies'() {
    const shown = await signIn({ context: blocking.context });
    await press(shown, 'Continue with Google');
    return text(shown, 'This browser blocks cookies');
  },
  async 'sign-in-sign-up-code'() {
    const shown = await signIn({ attributes: { ways: 'email' } });
    await shown.page.getByLabel('Email', { exact: true }).fill(newEmail());
    await press(shown, 'Continue');
    return text(shown, 'it creates your account');
  },
  async 'sign-in-as-guest'() {
    const shown = await signIn();
    await press(shown, 'Continue as a guest');
    return text(shown, 'You are a guest');
  },
  async 'sign-in-guest-limited'() {
    const answer = problem(429, 'too_many_requests', { 'retry-after': '900' });
    const shown = await signIn({ context: await contextOf(pages.browser, { '**/v1/tokens': answer }) });
    await press(shown, 'Continue as a guest');
    return text(shown, 'Too many attempts. Try again in');
  },
  async 'sign-in-human-check'() {
    const shown = await signIn({ attributes: { ways: 'email' } });
    await shown.page.route('**/v1/tokens', (route) =>
      route.fulfill({
        ...{ status: 422, contentType: 'application/problem+json', headers: { 'access-control-allow-origin': '*' } },
        body: JSON.stringify({
          ...{ type: 'urn:postern:problem:human_check_required', title: 'x', errors: [], human_check: endlessCheck },
        }),
      }),
    );
    await shown.page.getByLabel('Email', { exact: true }).fill(newEmail());
    await press(shown, 'Continue');
    return text(shown, 'Checking that you are not a robot.');
  },
};

test.each(Object.keys(states))('%s is accessible in every variant', async (name) => {
  const shown = await states[name]?.();
  if (shown === undefined) throw new Error('There is no such state.');
  await shown.page.getByText('Loading…').first().waitFor({ state: 'detached' });
  await look(name, shown);
  await shown.page.close();
});
