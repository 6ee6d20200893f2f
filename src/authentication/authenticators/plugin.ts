/**
 * What a plug-in is: an ES module, named in AUTHENTICATORS, whose default export is a `Plugin` or a function that makes
 * one. Authors import these types from `postern/authenticator`; this file imports nothing, so that they need nothing else.
 *
 * A plug-in decides whether a secret is right, and nothing more. Postern does everything else before and after: guesses,
 * locks, equal answers for users that there are not, states, the PIN, second factors, devices, tokens and the audit trail.
 * A plug-in runs in a thread of its own. What it is given and what it answers crosses as plain data, and at most 100 calls of
 * `log` and `fetch` wait at a time; more are refused. What a plug-in throws, what takes longer than 10 s and what is not as described here approves nothing and counts as a
 * wrong guess; the client is told 503. Failures are answered at multiples of 500 ms: work that takes less than that for a
 * user and none for nobody tells nothing.
 */
export type Plugin = SingleStepPlugin | TwoStepPlugin | SelfNamingPlugin;

/** Makes a plug-in when the service starts. What it throws is a fault of the configuration, and its message is shown. */
export type PluginFactory = (context: PluginContext) => Plugin | Promise<Plugin>;

/** Decides at once, from the secret of `POST /v1/tokens`. */
export interface SingleStepPlugin {
  /** What clients send as `authenticator`: `^[a-z][a-z0-9_:-]{0,63}$`, none of the built-in ones. */
  readonly name: string;
  readonly steps: 1;
  /**
   * @param user undefined: nobody, or somebody who may not log in. Nothing that is returned then lets anybody in.
   * @returns exactly true: the secret is right
   */
  verify(user: PluginUser | undefined, secret: string, authenticationId: string): boolean | Promise<boolean>;
}

/** Begins a challenge at `POST /v1/tokens`, and decides on its answer at `POST /v1/tokens/{id}/secret`. */
export interface TwoStepPlugin {
  readonly name: string;
  readonly steps: 2;
  readonly namesUser?: false;
  begin(user: PluginUser | undefined, authenticationId: string): PluginChallenge | Promise<PluginChallenge>;
  /** @returns exactly true: the secret is right */
  verify(answer: PluginAnswer, user: PluginUser | undefined): boolean | Promise<boolean>;
}

/** A two-step one whose answer says who it is. Such a login names no identity and takes no PIN. */
export interface SelfNamingPlugin {
  readonly name: string;
  readonly steps: 2;
  readonly namesUser: true;
  begin(authenticationId: string): PluginChallenge | Promise<PluginChallenge>;
  /** @returns who it is; undefined for an answer that proves nobody. */
  identify(answer: PluginAnswer): NamedByPlugin | undefined | Promise<NamedByPlugin | undefined>;
}

/** What a plug-in may know of a user. */
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
  /** What to remember until the answer: texts, 4 KiB as JSON. Stored as it is, so never the secret itself. */
  readonly kept?: Readonly<Record<string, string>>;
  /** Seconds until an answer is no longer accepted, at most 600; 300. */
  readonly lifetime?: number;
  /** What the client is shown as `challenge`: 16 KiB as JSON. */
  readonly shown?: Readonly<Record<string, unknown>> & { readonly type: string };
  /** A code of 4 to 32 letters, digits and hyphens that Postern sends to the user, through its queue and within its limits. */
  readonly message?: { readonly channel: 'sms' | 'email'; readonly code: string };
}

export interface PluginAnswer {
  readonly kept: Readonly<Record<string, string>>;
  readonly authenticationId: string;
  readonly secret: string;
}

export interface NamedByPlugin {
  /** The id of a user of Postern's. */
  readonly userId: string;
  /** Whether two factors in one were proven, so that no second is asked for. */
  readonly isMultiFactor?: boolean;
}

/** What Postern hands to a plug-in. */
export interface PluginContext {
  /** The variables whose names begin with `AUTHENTICATOR_`, from the environment or the `.env` file. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes to Postern's log. Never hand it a secret. */
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /**
   * Calls a URL through Postern's guard: https to public addresses only, no redirects, 3 s to connect, 10 s in all, 64 KiB
   * of answer. Rejects when there is no answer.
   */
  fetch(url: string, request?: PluginRequest): Promise<PluginResponse>;
}

export interface PluginRequest {
  /** GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PluginResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
