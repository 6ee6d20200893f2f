import { randomInt, randomUUID } from 'node:crypto';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from './elements.js';
import { openPublicAddress } from './public-address.js';
import { startVendor, type Vendor } from './vendor.js';

/** The tag is `postern-sign-in` by default. */
type ReshowOptions = ShowOptions & { readonly tag?: string };

/**
 * Pages with `<postern-sign-in>` whose service has three providers: Google with `sign_up`, GitHub without id_tokens, and one without
 * `sign_up`.
 */
export interface ProviderPages extends ElementPages {
  readonly vendor: Vendor;
  /** Gives the vendor an account with a mail address whose mailbox Google runs. @returns the address */
  gmail(): string;
  /** Gives the vendor an account without a mail address. GitHub's has a number. */
  withoutAddress(): void;
  /** Shows the element again, as the script of a page does at each load. */
  reshow(shown: ElementPage, options?: ReshowOptions): Promise<void>;
  /** Clicks the button of a provider, and waits for the page of the vendor. */
  leave(shown: ElementPage, button: string): Promise<void>;
  /** Goes to the vendor and back. */
  through(shown: ElementPage, button: string, options?: ReshowOptions): Promise<void>;
}

/** @param texts the option `texts` of the elements in each page that has no other */
export async function startProviderPages(texts?: object): Promise<ProviderPages> {
  const vendor = await startVendor();
  const address = await openPublicAddress();
  const client = { issuer: vendor.url, client_id: 'ours' };
  const settings = (origin: string) => ({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PUBLIC_URL: address.url, REDIRECT_URIS: `${origin}/` },
    ...{ PIN_POLICY: 'off', MAIL_PROVIDER: 'console', REGISTRATION: 'on', GUESTS: 'on', CODE_LIMIT_PER_ADDRESS: '0' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', sign_up: true },
      github: {
        ...{ preset: 'github', client_id: 'ours', client_secret: 'a secret', sign_up: true },
        ...{ authorization_endpoint: `${vendor.url}/authorize`, token_endpoint: `${vendor.url}/token` },
        userinfo_endpoint: `${vendor.url}/userinfo`,
      },
      closed: { ...client, title: 'The Attic' },
    }),
  });
  const pages = await startElementPages(settings, texts);
  address.service = pages.app.url;
  const reshow: ProviderPages['reshow'] = async (shown, options = {}) => {
    await shown.until('typeof show === "function"');
    const shownAgain = { url: pages.app.url, tag: 'postern-sign-in', texts, ...options };
    await shown.page.evaluate(`show(${JSON.stringify(shownAgain)})`);
  };
  const leave: ProviderPages['leave'] = async ({ page }, button) => {
    // The button that was used last has a mark in its name.
    await page.getByRole('button', { name: new RegExp(`^${button}`) }).click();
    await page.waitForURL((url) => url.origin === vendor.url);
  };
  return {
    ...pages,
    vendor,
    gmail() {
      const email = `${randomUUID()}@gmail.com`;
      vendor.account = { sub: randomUUID(), email, email_verified: true };
      return email;
    },
    withoutAddress() {
      vendor.account = { sub: randomUUID(), id: randomInt(2 ** 40) };
    },
    reshow,
    leave,
    async through(shown, button, options) {
      await leave(shown, button);
      await shown.page.click('a');
      await shown.page.waitForURL((url) => url.origin === pages.origin);
      await reshow(shown, options);
    },
    async close() {
      await pages.close();
      address.close();
      await vendor.close();
    },
  };
}
