import type { InboxOptions, OidcProvider, Postern } from '@postern/client';
import type { AccountTexts } from '../account/texts.js';
import type { InboxTexts } from '../inbox/texts.js';
import type { SignInTexts } from '../sign-in/texts.js';

/** Every text of the elements. Placeholders in braces, such as `{name}`, are replaced by values. */
export interface Texts extends InboxTexts, SignInTexts, AccountTexts {}

/** Runs the library of an OpenID provider. Returns an id_token that contains the nonce, or null if the user closed the window. */
export type OidcSignIn = (challenge: {
  readonly provider: OidcProvider;
  readonly issuer: string;
  readonly client_ids: readonly string[];
  readonly nonce: string;
}) => Promise<string | null>;

/** The options of all elements of a page. */
export interface DefineOptions {
  /** The client of all elements. An element with its own `postern` property uses that client instead. */
  readonly postern: Postern;
  /**
   * How the inbox gets new notifications. By default each tab has its own stream, because policies with Trusted Types
   * refuse shared workers.
   */
  readonly inbox?: InboxOptions | undefined;
  /**
   * Your own texts, and texts for further languages. The keys are language tags, such as `es` or `es-MX`. If you give no text,
   * the element shows its own text in this language, or the English one.
   */
  readonly texts?: Readonly<Record<string, Partial<Texts>>> | undefined;
  /** Without it, `<postern-sign-in>` does not offer OpenID providers. */
  readonly oidc?: OidcSignIn | undefined;
  /** By default the global one. */
  readonly registry?: CustomElementRegistry | undefined;
}
