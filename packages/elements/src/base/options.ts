import type { InboxOptions, OidcProvider, Postern } from '@postern/client';
import type { AccountTexts } from '../account/texts.js';
import type { InboxTexts } from '../inbox/texts.js';
import type { PreferencesTexts } from '../preferences/texts.js';
import type { EnrolmentTexts } from '../sign-in/enrolment-texts.js';
import type { SignInTexts } from '../sign-in/texts.js';
import type { StepUpTexts } from '../step-up/texts.js';
import type { FormTexts } from './form-texts.js';

/**
 * Every text of the elements: those of all elements with all texts of errors, and those of each element by the end of its tag.
 * Placeholders in braces, such as `{name}`, are replaced by values. A text with a number may have several forms, separated by `|`, in
 * the order of the plurals of the language (CLDR): zero, one, two, few, many, other.
 */
export interface Texts {
  readonly shared: Required<FormTexts>;
  readonly 'sign-in': Omit<SignInTexts & EnrolmentTexts, keyof FormTexts>;
  readonly account: Omit<AccountTexts, keyof FormTexts>;
  readonly inbox: InboxTexts;
  readonly preferences: PreferencesTexts;
  readonly 'step-up': Omit<StepUpTexts, keyof FormTexts>;
}

/** Some of the texts. */
export type SomeTexts = { readonly [Part in keyof Texts]?: Partial<Texts[Part]> };

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
   * Your own texts, and texts for further languages, or functions that load them when an element uses the language. The keys are
   * language tags, such as `es` or `es-MX`. If you give no text, the element shows its own text in this language, or the English one,
   * which it marks with its language and direction.
   */
  readonly texts?: Readonly<Record<string, SomeTexts | (() => Promise<SomeTexts>)>> | undefined;
  /** Without it, `<postern-sign-in>` does not offer OpenID providers. */
  readonly oidc?: OidcSignIn | undefined;
  /** By default the global one. */
  readonly registry?: CustomElementRegistry | undefined;
}
