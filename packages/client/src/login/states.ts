import type { Countdown, PosternError } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { CustomAuthenticator, OidcProvider } from '../registered.js';
import type { FieldError } from '../wire.js';
import type { Identity, IdentityInput } from './identity.js';

/** Why the last input did not lead to the next step. You can show `message` to the user. */
export type LoginIssue = { readonly message: string } & LoginIssueKind;

type LoginIssueKind =
  /** The identity, the secret or the PIN is wrong. Postern does not say which. */
  | { readonly kind: 'wrong' }
  /** The login has ended, for example because it expired. The step is `start` again. */
  | { readonly kind: 'lapsed' }
  /** The user cancelled the dialog of the platform. */
  | { readonly kind: 'cancelled' }
  /** The platform lacks a feature that this way to log in needs. */
  | { readonly kind: 'unsupported' }
  /** Postern refuses some fields. */
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  /** Too many requests, or this way to log in is unavailable for now. */
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

export interface PasskeyInput extends Abortable {
  /** Opens no dialog. Waits until the user picks a passkey in the autofill list of a form field. */
  readonly conditional?: boolean | undefined;
}

type Next = Promise<LoginState>;

/** No login is in progress. Choose a way to log in. */
export interface LoginStart extends LoginStep<'start'> {
  readonly password: (input: PinInput & { readonly identity: IdentityInput; readonly password: string }) => Next;
  /** Sends a code by SMS. */
  readonly sms: (input: PinInput & { readonly identity: IdentityInput }) => Next;
  /** Sends a code by mail. */
  readonly email: (input: PinInput & { readonly identity: IdentityInput }) => Next;
  /** Asks the platform for a passkey. */
  readonly passkey: (input?: PasskeyInput) => Next;
  /** @param provider the name of an OpenID provider in `OIDC_PROVIDERS` */
  readonly oidc: (provider: OidcProvider) => Next;
  /** An authenticator of your installation, such as `custom:badge`: with `secret` in one step, without it in two. */
  readonly custom: (
    authenticator: CustomAuthenticator,
    input: PinInput & { readonly identity?: IdentityInput | undefined; readonly secret?: string | undefined },
  ) => Next;
}

/** A code was sent, if somebody has this identity. */
export interface LoginCode extends OpenStep<'code'> {
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
  | LoginLocked
  | LoginBlocked
  | LoginDone;
