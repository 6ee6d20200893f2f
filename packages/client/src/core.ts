import { UsageError } from './errors.js';
import type { Unsubscribe } from './platform.js';
import type { Call, TransportOptions } from './transport.js';
import type { PasskeyAdapter, Postern } from './types.js';
import type { DeviceInput } from './wire.js';

/** What the storage contains about a login. With a backend, `token` is empty. */
export interface StoredLogin {
  readonly token: string;
  readonly user_id: string;
  readonly device_id: string;
  /** The token is bound to the key of this device. */
  readonly is_bound?: boolean | undefined;
}

/** The storage of the app, which never rejects here. */
export interface SafeStorage {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}

/** The parts of a client that its features use. */
export interface Core {
  readonly base: string;
  /** How a worker can send requests as this client does. Undefined if only this client can, by a `fetch` of the app. */
  readonly transport: Omit<TransportOptions, 'fetch'> | undefined;
  readonly passkeys: PasskeyAdapter | undefined;
  /** Sends a request without a session. */
  send<T>(call: Call): Promise<T>;
  /** Sends a request with a session. A read is repeated once if the service asks for a short pause. */
  call<T>(call: Call): Promise<T>;
  /** Like `call`, but returns the response itself. */
  raw(call: Call): Promise<Response>;
  onResume(wake: () => void): Unsubscribe;
  onClose(end: Unsubscribe): Unsubscribe;
  device(): Promise<DeviceInput>;
  /** The device of a login: with a key, if the storage can keep one. */
  loginDevice(): Promise<DeviceInput>;
  readonly storage: SafeStorage;
  signIn(login: {
    readonly token?: string | undefined;
    readonly user_id: string;
    readonly device_id: string;
    readonly is_bound?: boolean | undefined;
  }): Promise<void>;
  /** The login continues with another token. */
  replaceToken(token: string): Promise<void>;
  /** Signs out, because the account was deleted. */
  forget(): Promise<void>;
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
