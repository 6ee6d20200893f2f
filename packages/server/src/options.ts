import type { Fetch, MaybePromise } from '@postern/client';

export interface PosternServerOptions {
  /** The address of Postern, as this backend reaches it. If it is undefined, as in many builds, the first call throws. */
  readonly url: string | URL | undefined;
  /**
   * Needed to publish and administer, and to verify with `local`: then with the scope `sessions:verify`. A function is called for
   * each request, so that you can replace the key.
   */
  readonly apiKey?: string | (() => MaybePromise<string>) | undefined;
  /** For `local`: the `uri` of the audience whose access tokens this backend accepts. */
  readonly audience?: string | undefined;
  /** For `local`: PUBLIC_URL of Postern, as access tokens have it in `iss`. */
  readonly issuer?: string | undefined;
  /** By default the global `fetch`. In Node.js it keeps connections alive. */
  readonly fetch?: Fetch | undefined;
  /** The time limit of each attempt in milliseconds. By default 10,000, and 2,000 to verify. */
  readonly timeout?: number | undefined;
  /** How often a request that is safe to repeat is repeated after a lost connection or a 503. 2 by default. */
  readonly retries?: number | undefined;
}
