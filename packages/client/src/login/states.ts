import type { Countdown, PosternError } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { CustomAuthenticator, OidcProvider } from '../registered.js';
import type { FieldError } from '../wire.js';
import type { Identity, IdentityInput } from './identity.js';
import type { RedirectOptions } from './redirects.js';

/** Why the last input did not lead to the next step. You can show `message` to the user. */
export type LoginIssue = { readonly message: string } & LoginIssueKind;

type LoginIssueKind =
  /** The identity, the secret or the PIN is wrong. Postern does not say which. */
  | { readonly kind: 'wrong' }
  /** The login has ended, for example because it expired. The step is `start` again. */
  | { readonly kind: 'lapsed' }
  /** The user cancelled the dialog of the platform. */
  | { readonly kind: 'cancelled' }
  /** The platform lacks a feature that this authenticator needs. */
  | { readonly kind: 'unsupported' }
  /** Postern refuses some fields. */
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  /** Too many requests, or this authenticator is unavailable for now. */
  | ({ readonly kind: 'wait' } & Countdown)
  /** No answer. Send the same input again: Postern does not count it twice. */
  | { readonly kind: 'offline' }
  /** Any other error, such as an answer that is not from Postern. */
  | { readonly kind: 'failed'; readonly error: PosternError };

interface LoginStep<S extends string> {
  readonly step: S;
  /**
   * Whether the client waits for an answer. Until it arrives, a call with the same input returns the same promise. A call
   * with another input fails with a UsageError.
   */
  readonly busy: boolean;
  readonly issue: LoginIssue | null;
}

interface OpenStep<S extends string> extends LoginStep<S> {
  /** When the login expires, by the clock of the device. */
  readonly expiresAt: Date;
  /** Gives up and returns to `start`. */
  readonly cancel: () => LoginStart;
}

export interface PinInput {
  /** An empty text counts as none, so you can pass the value of a field. */
  readonly pin?: string | undefined;
}

export interface CodeInput extends PinInput {
  readonly identity: IdentityInput;
  /** If nobody has the address, the right code makes an account (`REGISTRATION=on`). */
  readonly signUp?: boolean | undefined;
}

export interface MailLinkInput {
  /**
   * The page that the link in the mail opens (`LOGIN_LINK=on`). `REDIRECT_URIS` of the service lists it as the same text. By default a
   * page of Postern, which shows the code.
   */
  readonly linkTo?: string | undefined;
}

export interface PasskeyInput extends Abortable {
  /** Opens no dialog. Waits until the user picks a passkey in the autofill list of a form field. */
  readonly conditional?: boolean | undefined;
}

type Next = Promise<LoginState>;

/** `oidc:` or `oauth:` with the name of a provider in `OIDC_PROVIDERS`. `page`: the sign-in page of Postern (`PAGES=on`). */
export type RedirectAuthenticator = `oidc:${OidcProvider}` | `oauth:${OidcProvider}` | 'page';

export interface RedirectInput extends RedirectOptions {
  /** The address of the account at the provider, if you know it. */
  readonly loginHint?: string | undefined;
  /** With `page`: the user signs in again, although the browser has a login there. */
  readonly prompt?: 'login' | undefined;
  /** With `page`: the user signs in again if the login there is older than this number of seconds. */
  readonly maxAge?: number | undefined;
}

/** No login is in progress. Choose a way to log in. */
export interface LoginStart extends LoginStep<'start'> {
  readonly password: (input: PinInput & { readonly identity: IdentityInput; readonly password: string }) => Next;
  /** Sends a code by SMS. */
  readonly sms: (input: CodeInput) => Next;
  /** Sends a code by mail. */
  readonly email: (input: CodeInput & MailLinkInput) => Next;
  /** Asks the platform for a passkey. */
  readonly passkey: (input?: PasskeyInput) => Next;
  /** @param provider the name of an OpenID provider in `OIDC_PROVIDERS` */
  readonly oidc: (provider: OidcProvider) => Next;
  /**
   * Sends the browser to a provider, such as `oidc:google`, and back. When the page loads again, call `resumeRedirect` of the login.
   *
   * @param authenticator the name of the login, as `offeredLogins` lists it
   */
  readonly redirect: (authenticator: RedirectAuthenticator, input?: RedirectInput) => Next;
  /**
   * Makes a guest, a user without credentials (`GUESTS=on`). The first mail address, passkey or account at a provider makes the guest a
   * user with the same id. After a login to another account, `mergeGuest` moves there what the guest has.
   */
  readonly guest: () => Next;
  /** An authenticator of your installation, such as `custom:badge`: with `secret` in one step, without it in two. */
  readonly custom: (
    authenticator: CustomAuthenticator,
    input: PinInput & { readonly identity?: IdentityInput | undefined; readonly secret?: string | undefined },
  ) => Next;
}

/** A code was sent, if somebody has this identity. */
export interface LoginCode extends OpenStep<'code'> {
  /** The id of the login, which the link in its mail has too: see `readLoginLink`. */
  readonly id: string;
  /** Whether the code makes an account if nobody has the address. */
  readonly signUp: boolean;
  readonly channel: 'sms' | 'email';
  readonly identity: Identity;
  /** Where the code was sent, in part, such as `+15…67`. Null if the identity is not an address. */
  readonly destination: string | null;
  /** When another code may be requested, by the clock of the device. */
  readonly resendAt: Date;
  /** Whether the PIN of the user can be sent with the code. */
  readonly takesPin: boolean;
  readonly submit: (input: PinInput & { readonly code: string }) => Next;
  readonly resend: () => Next;
}

/** The code of the authenticator app is needed. `passkey` and `recoveryCode` are null if the user has none. */
export interface LoginTotp extends OpenStep<'totp'> {
  readonly submit: (input: { readonly code: string }) => Next;
  readonly passkey: (() => Next) | null;
  readonly recoveryCode: ((code: string) => Next) | null;
}

/** A passkey is needed. Call `submit` from a click: browsers demand it. */
export interface LoginPasskey extends OpenStep<'passkey'> {
  readonly submit: (input?: Abortable) => Next;
  readonly recoveryCode: ((code: string) => Next) | null;
}

/** The password was set by an operator for one use. Another one is needed, and the login continues with it. */
export interface LoginNewPassword extends OpenStep<'new_password'> {
  readonly submit: (input: { readonly password: string }) => Next;
}

/** The service requires a second factor, and the user has none: an authenticator app or a passkey must be added. */
export interface LoginEnrol extends OpenStep<'enrol'> {
  /** The key for an authenticator app, and the URI for a QR code. */
  readonly totp: { readonly secret: string; readonly uri: string };
  /** Adds the app, with its first code. */
  readonly submit: (input: { readonly code: string }) => Next;
  /** Adds a passkey. Call it from a click: browsers demand it. */
  readonly passkey: (input?: Abortable) => Next;
}

/** An id_token with this nonce is needed. */
export interface LoginOidc extends OpenStep<'oidc'> {
  readonly provider: string;
  readonly issuer: string;
  readonly client_ids: readonly string[];
  readonly nonce: string;
  readonly submit: (input: { readonly idToken: string }) => Next;
}

/** The second step of an authenticator of your installation, or of a challenge that this version does not know. */
export interface LoginSecret extends OpenStep<'secret'> {
  readonly authenticator: string;
  readonly challenge: Readonly<Record<string, unknown>>;
  readonly submit: (input: PinInput & { readonly secret: string }) => Next;
}

/** Locked for a time. Until then Postern refuses every secret, even the right one. */
export interface LoginLocked extends LoginStep<'locked'>, Countdown {
  readonly permanent: false;
  /** Returns to the step that was refused, or to `start` if the login has expired. */
  readonly back: () => LoginState;
}

/** Locked until an operator or a recovery ends it. */
export interface LoginBlocked extends LoginStep<'locked'> {
  readonly permanent: true;
  readonly reason: 'account_locked' | 'account_unusable';
  readonly restart: () => LoginStart;
}

/** Signed in. The client has stored the token of the login and uses it from now on. */
export interface LoginDone extends LoginStep<'done'> {
  readonly user_id: string;
  readonly device_id: string;
  /** The recovery codes of a user who has added a second factor in this login. Show them: nobody can see them again. */
  readonly recovery_codes?: readonly string[] | undefined;
}

/** Narrow it by `step`. A state has only the methods that can be called next. */
export type LoginState =
  | LoginStart
  | LoginCode
  | LoginTotp
  | LoginPasskey
  | LoginNewPassword
  | LoginEnrol
  | LoginOidc
  | LoginSecret
  | LoginRedirect
  | LoginLink
  | LoginRefused
  | LoginLocked
  | LoginBlocked
  | LoginDone;

/** The browser goes to the provider, or it has come back and the login is being completed. */
export interface LoginRedirect extends OpenStep<'redirect'> {
  /** Such as `oidc:google`. */
  readonly authenticator: string;
  /** Where the browser goes, for a link of the page. Null when it has come back. */
  readonly url: string | null;
  /** Sends the answer of the provider again, if there was no answer from Postern. Null until the browser has come back. */
  readonly retry: (() => Next) | null;
}

/**
 * A user has the mail address of the account at the provider. The person proves to be this user, and the account is linked. After
 * five wrong proofs, the login ends.
 */
export interface LoginLink extends OpenStep<'link'> {
  /** Such as `oidc:google`. */
  readonly authenticator: string;
  /** The authenticators that prove it, best first: `password`, `passkey`, `email`, `sms`. */
  readonly authenticators: readonly string[];
  /** Nobody has proven this address for the account. A recovery with it may help its owner. */
  readonly recovery: boolean;
  /** The authenticator that has sent a code, and where to, in part. Null before `send`. */
  readonly sent: { readonly authenticator: string; readonly destination: string | null } | null;
  /** Sends a code by `email` or `sms`. */
  readonly send: (authenticator: string) => Next;
  readonly submit: (input: { readonly authenticator: string; readonly secret: string }) => Next;
  /** Asks the platform for a passkey. Call it from a click: browsers demand it. Null if the user has none. */
  readonly passkey: ((input?: Abortable) => Next) | null;
}

/** The login at the provider found no user. */
export interface LoginRefused extends LoginStep<'refused'> {
  /** Such as `oidc:google`. */
  readonly authenticator: string;
  /**
   * `not_linked`: no user is linked to the account, and it cannot sign up. The user can sign in in another way and link it there.
   * `no_cookies`: this browser refuses cookies, so it was not sent to the provider: it could not come back. `provider_unavailable`: the
   * provider did not answer. `failed`: its answer was wrong, and the log of Postern says why.
   */
  readonly reason: 'not_linked' | 'no_cookies' | 'provider_unavailable' | 'failed';
  readonly message: string;
  /** Sends the browser to the provider again. */
  readonly retry: () => Next;
  readonly restart: () => LoginStart;
}
