import type { OfferedLogins } from '@postern/client';

/** The provider of an authenticator such as `oidc:google`. Undefined for other authenticators. */
export const providerOf = (authenticator: string): string | undefined =>
  /^(?:oidc|oauth):(.+)$/.exec(authenticator)?.[1];

/** The title of a provider for people, else its name. */
export const titleOf = (logins: OfferedLogins['logins'], provider: string): string =>
  logins.find(({ authenticator }) => providerOf(authenticator) === provider)?.title ?? provider;

/** Sends this page to a provider. It ends when the page leaves, or with null when the user comes back without an answer. */
export const leaveTo = (url: string, signal: AbortSignal) =>
  new Promise<null>((resolve) => {
    addEventListener('pageshow', () => resolve(null), { once: true, signal });
    location.assign(url);
  });
