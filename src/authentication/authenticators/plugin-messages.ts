import type { MessagePort } from 'node:worker_threads';

/** The first message to the thread of a plug-in. All others go through `port`, which the plug-in does not see. */
export interface Beginning {
  readonly port: MessagePort;
  /** Of the module. */
  readonly url: string;
  /** What the plug-in is handed as `env`. */
  readonly env: Readonly<Record<string, string>>;
}

/** To the thread of a plug-in. */
export type ToThread =
  | { readonly type: 'call'; readonly id: number; readonly member: Member; readonly given: readonly unknown[] }
  | { readonly type: 'ping' }
  /** Answers a request of the plug-in. */
  | { readonly type: 'done'; readonly id: number; readonly value?: unknown; readonly error?: RequestError };

/** From the thread of a plug-in. */
export type FromThread =
  | { readonly type: 'started'; readonly described: Described | undefined }
  | { readonly type: 'not started'; readonly message: string }
  /** `json` is at most `maxAnswer` characters; for `verify` it is `true` or `false`. */
  | { readonly type: 'answer'; readonly id: number; readonly json: string }
  | { readonly type: 'failure'; readonly id: number; readonly thrown: Thrown }
  | { readonly type: 'pong' }
  /** Nobody waited for what was thrown. */
  | { readonly type: 'unhandled'; readonly id: number; readonly thrown: Thrown }
  | { readonly type: 'log'; readonly id: number; readonly level: string; readonly message: string }
  | { readonly type: 'fetch'; readonly id: number; readonly url: string; readonly request: object };

/** The functions of a plug-in. */
export type Member = 'begin' | 'verify' | 'identify';

/** What a module has made, as far as it decides whether it is an authenticator. */
export interface Described {
  readonly name: unknown;
  readonly steps: unknown;
  readonly namesUser: unknown;
  readonly functions: readonly string[];
}

/** What may be said of something that was thrown: its text may hold the secret that it is about. */
export interface Thrown {
  /** The name of its class, or the type of a value that is no error. */
  readonly kind: string;
  /** Places in files: `file:///…/badge.js:12:3`. */
  readonly frames: readonly string[];
}

/** Why a request of the plug-in failed. */
export interface RequestError {
  readonly message: string;
  readonly name?: string;
  readonly code?: string;
  readonly status?: number;
}
