import type { MessagePort } from 'node:worker_threads';

/** The first message to the thread of a plug-in. All others use `port`, which the plug-in cannot see. */
export interface WorkerStart {
  readonly port: MessagePort;
  /** The URL of the module. */
  readonly url: string;
  /** The `env` of the plug-in. */
  readonly env: Readonly<Record<string, string>>;
}

/** To the thread of a plug-in. */
export type ToThread =
  | { readonly type: 'call'; readonly id: number; readonly member: PluginFunction; readonly args: readonly unknown[] }
  | { readonly type: 'ping' }
  /** The result of a request of the plug-in. */
  | { readonly type: 'done'; readonly id: number; readonly value?: unknown; readonly error?: RequestError };

/** From the thread of a plug-in. */
export type FromThread =
  | { readonly type: 'started'; readonly description: PluginDescription | undefined }
  | { readonly type: 'not started'; readonly message: string }
  /** `json` has at most 65,536 characters; for `verify` it is `true` or `false`. */
  | { readonly type: 'answer'; readonly id: number; readonly json: string }
  | { readonly type: 'failure'; readonly id: number; readonly thrown: Thrown }
  | { readonly type: 'pong' }
  /** An unhandled error. */
  | { readonly type: 'unhandled'; readonly id: number; readonly thrown: Thrown }
  | { readonly type: 'log'; readonly id: number; readonly level: string; readonly message: string }
  /** `call` is the id of the call in which the plug-in makes the request. Undefined outside of calls. */
  | {
      readonly type: 'fetch';
      readonly id: number;
      readonly call: number | undefined;
      readonly url: string;
      readonly request: object;
    };

/** The name of a function of a plug-in. */
export type PluginFunction = 'begin' | 'verify' | 'identify';

/** What the thread says about the object of the module. From this, the service decides whether it is an authenticator. */
export interface PluginDescription {
  readonly name: unknown;
  readonly steps: unknown;
  readonly namesUser: unknown;
  readonly functions: readonly string[];
}

/** The parts of a thrown value that may be logged: its message may contain the secret. */
export interface Thrown {
  /** The name of its class; for a value that is not an Error, its type. */
  readonly kind: string;
  /** Places in the code: `file:///…/badge.js:12:3`. */
  readonly frames: readonly string[];
}

/** Why a request of the plug-in failed. */
export interface RequestError {
  readonly message: string;
  readonly name?: string;
  readonly code?: string;
  readonly status?: number;
}
