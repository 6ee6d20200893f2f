import type { InboxOptions, OidcProvider, Postern } from '@postern/client';
import type { AccountTexts } from '../account/texts.js';
import type { InboxTexts } from '../inbox/texts.js';
import type { SignInTexts } from '../sign-in/texts.js';

/** Every text of the elements. `{name}` is replaced. */
export interface Texts extends InboxTexts, SignInTexts, AccountTexts {}

/** Runs the library of an OpenID provider. Returns the id_token with the nonce, or null if the user closed the window. */
export type OidcSignIn = (challenge: {
  readonly provider: OidcProvider;
  readonly issuer: string;
  readonly client_ids: readonly string[];
  readonly nonce: string;
}) => Promise<string | null>;

/** The options of all elements of a page. */
export interface DefineOptions {
  /** The client of all elements. The `postern` property of an element replaces it. */
  readonly postern: Postern;
  /** By default each tab has its own stream, because policies with Trusted Types refuse shared workers. */
  readonly inbox?: InboxOptions | undefined;
  /** Your own texts and languages, by language, such as `es` or `es-MX`. A missing text is English. */
  readonly texts?: Readonly<Record<string, Partial<Texts>>> | undefined;
  /** Without it, `<postern-sign-in>` does not offer OpenID providers. */
  readonly oidc?: OidcSignIn | undefined;
  /** By default the global one. */
  readonly registry?: CustomElementRegistry | undefined;
}
