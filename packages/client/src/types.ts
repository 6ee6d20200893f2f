import type { Problem } from './errors.js';
import type { Abortable, Fetch, MaybePromise, Unsubscribe } from './platform.js';
import type { PosternStorage } from './storage/storage.js';
import type { Store } from './store.js';
import type { DeviceInput, NewSession } from './wire.js';

/** A session with its token. */
export type HeldSession = NewSession;

/** The description of a device. */
export type DeviceDescription = Omit<DeviceInput, 'id' | 'jwk' | 'apn_device_token' | 'gcm_device_token'>;

/** Asks the platform for passkeys. The options and results have the JSON form of WebAuthn. */
export interface PasskeyAdapter {
  /** @param how `conditional`: open no dialog, and wait until the user picks a passkey in the autofill list of a form field */
  readonly get: (options: object, how: Abortable & { readonly conditional: boolean }) => Promise<object>;
  readonly create: (options: object, how: Abortable) => Promise<object>;
}

export interface PosternOptions {
  /** The `PUBLIC_URL` of Postern. With `storage: 'backend'`, the path of the handler of your backend, such as `/auth`. */
  readonly url: string | URL;
  /**
   * Where the authentication token is. `'backend'`: in an HttpOnly cookie of your backend, where no script can read it. There is
   * no default, because this is a decision about security.
   */
  readonly storage: 'backend' | PosternStorage;
  /** The description of this device. By default, the one that the browser gives. The client creates and stores the id of the device. */
  readonly device?: DeviceDescription | (() => MaybePromise<DeviceDescription>) | undefined;
  /** The language of messages, such as `es-MX`. By default the language of the platform. */
  readonly locale?: string | undefined;
  /** By default the global one, looked up at each call. */
  readonly fetch?: Fetch | undefined;
  /** Origins that `postern.fetch` may send the session to, besides the page's and Postern's. */
  readonly trustedOrigins?: readonly string[] | undefined;
  /** The time limit of each attempt in milliseconds. 10,000 by default. */
  readonly timeout?: number | undefined;
  readonly passkeys?: PasskeyAdapter | undefined;
  /** Calls `wake` when the app comes to the foreground. By default on `visibilitychange`, `pageshow` and `online`. */
  readonly onResume?: ((wake: () => void) => Unsubscribe) | undefined;
  /** Whether to follow logins and logouts in other tabs. By default yes, if there is a BroadcastChannel. */
  readonly tabs?: boolean | undefined;
  /** Gets errors for which no caller waits, for example of a storage. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export type AuthState =
  /** The storage is being read. */
  | { readonly status: 'starting' }
  /**
   * `ended`: Postern refused the authentication token, which has expired or was revoked. With `problem`, the key that the login
   * was bound to is gone, or Postern refused its proof.
   */
  | {
      readonly status: 'signed_out';
      readonly reason: 'never_signed_in' | 'logged_out' | 'ended';
      readonly problem?: Problem<'invalid_dpop_proof'>;
    }
  | { readonly status: 'signed_in'; readonly user_id: string; readonly device_id: string }
  /** An operator locked or deactivated the account. The token is kept, so the login continues after an unlock. */
  | {
      readonly status: 'suspended';
      readonly user_id: string;
      readonly device_id: string;
      readonly problem: Problem<'account_locked' | 'account_unusable'>;
    };
export type SettledAuthState = Exclude<AuthState, { readonly status: 'starting' }>;

/** A client of Postern, and who is signed in. */
export interface Postern extends Store<AuthState> {
  readonly url: URL;
  /** The first state after the storage was read. */
  readonly ready: () => Promise<SettledAuthState>;
  /**
   * A session that is valid for some more seconds. Any number of calls cause one request. Null means that nobody is signed in.
   * Without a network it rejects, and the user stays signed in.
   */
  readonly getSession: (options?: Abortable & { readonly fresh?: boolean | undefined }) => Promise<HeldSession | null>;
  /**
   * `fetch` with the session in `Authorization`, to trusted origins only. After a 401 it gets a new session and repeats the request
   * once, if its body can be sent again.
   */
  readonly fetch: Fetch;
  /** Signs out here at once, also without a network. `revoked: false`: the request failed, and the client repeats it at its next start. */
  readonly logOut: () => Promise<{ readonly revoked: boolean }>;
  /** Ends streams, timers and channels. Later calls reject with a UsageError. */
  readonly close: () => void;
}
