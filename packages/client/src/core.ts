import { UsageError } from './errors.js';
import type { Fetch, Unsubscribe } from './platform.js';
import type { HeldLogin } from './postern/held-login.js';
import type { SafeStorage } from './postern/login-storage.js';
import type { TabEvent } from './postern/tabs.js';
import type { TokenRequests } from './postern/token-requests.js';
import type { PosternStorage } from './storage/storage.js';
import type { Call, Owner, TransportOptions } from './transport.js';
import type { PasskeyAdapter, Postern, PosternOptions } from './types.js';

export type { SafeStorage, StoredLogin } from './postern/login-storage.js';

/** Sends a request of the app. @param isMissing whether an answer says that the session needs a fresh proof */
export type SendWithProof = (isMissing?: (answer: Response) => Promise<boolean>) => Promise<Response>;

/** Added to `postern.fetch` by `enableStepUp`: sends the request, and repeats it after a proof if the API asks for one. */
export type StepUp = (send: SendWithProof, owner: Owner, ...request: Parameters<Fetch>) => Promise<Response>;

/** The parts of a client that its features use. */
export interface Core {
  readonly base: string;
  /**
   * What a worker needs to send the same requests. Undefined if the app has its own `fetch`, because a worker cannot
   * call it.
   */
  readonly transport: Omit<TransportOptions, 'fetch'> | undefined;
  readonly passkeys: PasskeyAdapter | undefined;
  /** Sends a request without a session. */
  send<T>(call: Call): Promise<T>;
  /** Called when the client begins and ends to work on a human check, which takes a second or more. */
  humanCheckListeners?: Set<(isWorking: boolean) => void> | undefined;
  /** Sends a request with a session. A read is repeated once if the service asks for a short pause. */
  call<T>(call: Call): Promise<T>;
  /** Like `call`, but returns the response itself. */
  raw(call: Call): Promise<Response>;
  onResume(wake: () => void): Unsubscribe;
  onClose(end: Unsubscribe): Unsubscribe;
  readonly device: PosternOptions['device'];
  /** The storage of the app, which may reject. */
  readonly appStorage: PosternStorage;
  readonly storage: SafeStorage;
  /** Like `call`, but sends with another function. */
  callWith<T>(call: Call, send: (call: Call) => Promise<T>): Promise<T>;
  /** Values without secrets that other tabs and the next start see. */
  readonly marks: SafeStorage;
  /** The time limit of each attempt in milliseconds. */
  readonly timeout: number;
  readonly tabs: { readonly isOn: boolean; open(): void; notify(event: TabEvent): void };
  /** The login of this tab, and its session. */
  readonly held: HeldLogin;
  /** Whether a backend keeps the login in a cookie, so that the client has no token. */
  readonly usesBackend: boolean;
  readonly tokens: TokenRequests;
  /** What `enableStepUp` has set. */
  stepUp?: StepUp | undefined;
  isClosed(): boolean;
  /** @throws UsageError */
  requireOpen(): void;
  onError(error: unknown): void;
}

// The same in each copy of this package, so that `@postern/react` may bring its own copy.
export const coreKey = Symbol.for('@postern/client.core');

/** The core of a client. @throws UsageError */
export function coreOf(postern: Postern): Core {
  const core = (postern as { readonly [coreKey]?: Core } | undefined)?.[coreKey];
  if (core === undefined) throw new UsageError('Pass a client that createPostern made.');
  core.requireOpen();
  return core;
}
