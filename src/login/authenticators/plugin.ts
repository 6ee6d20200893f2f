/**
 * A plug-in: an ES module, named in AUTHENTICATORS, whose default export is a `Plugin` or a function that returns one.
 * Authors import these types from `postern/authenticator`. This file imports nothing, so they need no other package.
 *
 * A plug-in decides whether a secret is right, and nothing more. Postern does everything else: guesses, locks, equal
 * responses for unknown users, states, the PIN, second factors, devices, tokens and audit events.
 *
 * A plug-in runs in its own thread. Arguments and results are copied as plain data. At most 100 calls of `log` and
 * `fetch` may wait at a time; further calls are refused. An error, a call that takes longer than 10 s, and a result
 * that does not match these types approve nothing and count as a wrong guess; the client gets a 503. Postern sends
 * failures at multiples of 500 ms, so the response time does not reveal whether a user exists, as long as the work
 * takes less than 500 ms.
 */
export type Plugin = SingleStepPlugin | TwoStepPlugin | SelfNamingPlugin;

/** Creates a plug-in when the service starts. An error stops the start, and the operator sees its message. */
export type PluginFactory = (context: PluginContext) => Plugin | Promise<Plugin>;

/** Decides in one step, from the secret of `POST /v1/tokens`. */
export interface SingleStepPlugin {
  /** The value that clients send as `authenticator`: `^[a-z][a-z0-9_:-]{0,63}$`, and not the name of a built-in one. */
  readonly name: string;
  readonly steps: 1;
  /**
   * @param user undefined: an unknown user, or one who may not log in. Any result is then ignored.
   * @returns exactly `true` if the secret is right
   */
  verify(user: PluginUser | undefined, secret: string, authenticationId: string): boolean | Promise<boolean>;
}

/** Begins a challenge at `POST /v1/tokens`, and decides by its answer at `POST /v1/tokens/{id}/secret`. */
export interface TwoStepPlugin {
  readonly name: string;
  readonly steps: 2;
  readonly namesUser?: false;
  begin(user: PluginUser | undefined, authenticationId: string): PluginChallenge | Promise<PluginChallenge>;
  /** @returns exactly `true` if the secret is right */
  verify(answer: PluginAnswer, user: PluginUser | undefined): boolean | Promise<boolean>;
}

/** A plug-in with two steps whose answer identifies the user. Such a login has no identity and takes no PIN. */
export interface SelfNamingPlugin {
  readonly name: string;
  readonly steps: 2;
  readonly namesUser: true;
  begin(authenticationId: string): PluginChallenge | Promise<PluginChallenge>;
  /** @returns the user; undefined for an answer that identifies nobody */
  identify(answer: PluginAnswer): NamedByPlugin | undefined | Promise<NamedByPlugin | undefined>;
}

/** The data of a user that a plug-in gets. */
export interface PluginUser {
  readonly id: string;
  readonly username: string | undefined;
  readonly email: string | undefined;
  /** E.164. */
  readonly phone: string | undefined;
  /** BCP 47. */
  readonly locale: string | undefined;
}

export interface PluginChallenge {
  /** State to keep until the answer: strings, at most 4 KiB as JSON. It is stored unencrypted, so never put the secret in it. */
  readonly kept?: Readonly<Record<string, string>>;
  /** Seconds until an answer is refused, at most 600. The default is 300. */
  readonly lifetime?: number;
  /** The member `challenge` of the response to the client: at most 16 KiB as JSON. */
  readonly shown?: Readonly<Record<string, unknown>> & { readonly type: string };
  /** A code that Postern sends to the user, through its queue and within its limits: 4 to 32 letters, digits and hyphens. */
  readonly message?: { readonly channel: 'sms' | 'email'; readonly code: string };
}

export interface PluginAnswer {
  readonly kept: Readonly<Record<string, string>>;
  readonly authenticationId: string;
  readonly secret: string;
}

export interface NamedByPlugin {
  /** The id of a user in Postern. */
  readonly userId: string;
  /** Whether the proof counts as two factors, so that no second factor is required. */
  readonly isMultiFactor?: boolean;
}

/** The functions and variables that Postern passes to a plug-in. */
export interface PluginContext {
  /** The variables with the prefix `AUTHENTICATOR_`, from the environment or the `.env` file. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes to Postern's log. Never log a secret. */
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /**
   * Sends a request with Postern's protections: https to public addresses only, no redirects, 3 s to connect, 10 s in all,
   * at most 64 KiB of response. Rejects if there is no response.
   */
  fetch(url: string, request?: PluginRequest): Promise<PluginResponse>;
}

export interface PluginRequest {
  /** The default is GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PluginResponse {
  readonly status: number;
  /** The values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
