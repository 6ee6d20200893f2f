import { type Abortable, isPosternError, isProblem } from '@postern/client';
import { type Call, forCaller, stopwatch, UsageError } from '@postern/client/internal';
import type { LocalSession } from '../access-tokens/local.js';
import { createLazyTransport } from '../connection.js';
import type { PosternServerOptions } from '../options.js';
import type { Session } from '../wire.js';
import { type RequestLike, sessionTokenOf } from './tokens.js';

export interface VerifyOptions extends Abortable {
  /**
   * The maximum age of the answer, in milliseconds. 0 by default: a session that has ended is refused from the next request on.
   * Otherwise this process caches valid sessions for this time.
   */
  readonly maxAge?: number | undefined;
  /**
   * Checks an access token of this audience in this process, without a request. A stream reports which tokens were revoked. It needs
   * `audience`, `issuer` and an API key with the scope `sessions:verify`.
   */
  readonly local?: boolean | undefined;
}

/**
 * @returns the session of a request; null without a valid session
 * @throws PosternError if Postern cannot check it
 */
export interface Verify {
  (request: RequestLike | string, options: VerifyOptions & { readonly local: true }): Promise<LocalSession | null>;
  (
    request: RequestLike | `pss_${string}`,
    options?: VerifyOptions & { readonly local?: false | undefined },
  ): Promise<Session | null>;
}

/** Checks the session token of a request. */
export type VerifySession = (
  request: RequestLike | string,
  options?: Pick<VerifyOptions, 'maxAge' | 'signal'>,
) => Promise<Session | null>;

/** The checks of one token. */
interface Checks {
  /** A request that is already sent. */
  running: Promise<Session | null> | undefined;
  /** A request that is not sent yet, so other checks can join it. */
  waiting: Promise<Session | null> | undefined;
}

interface CachedSession {
  readonly session: Session;
  readonly age: () => number;
}

/** The default time limit of a check in milliseconds. It is short, because a request of a user waits for the check. */
const defaultTimeoutMs = 2000;
/** The maximum number of sessions that are cached for `maxAge`. The oldest are removed first. */
const maxCached = 10_000;

/**
 * Creates the function that checks sessions. Calls in the same turn of the event loop share one request. A later call must not get
 * the answer of a request that is already sent, because the session may have ended since: later calls share the next request.
 */
export function createVerify(base: () => string, options: Omit<PosternServerOptions, 'url'>): VerifySession {
  const { fetch, timeout = defaultTimeoutMs } = options;
  const transport = createLazyTransport({ base, fetch, timeout });
  const checks = new Map<string, Checks>();
  const cache = new Map<string, CachedSession>();

  async function requestCheck(token: string): Promise<Session | null> {
    const authorization = `Bearer ${token}`;
    const call: Call = { method: 'POST', path: '/v1/sessions/verify', authorization, expects: 'user_id' };
    try {
      // Postern may have just closed a kept-alive connection. Checks are safe to repeat.
      return await transport.json<Session>(call).catch((error) => {
        if (isPosternError(error) && error.kind === 'network' && !error.timedOut) return transport.json<Session>(call);
        throw error;
      });
    } catch (error) {
      if (isProblem(error) && error.status === 401) return null;
      throw error;
    }
  }

  function check(token: string): Promise<Session | null> {
    // Without `setImmediate` this is a worker, where a request must not wait for the promise of another one.
    if (!hasTurns()) return requestCheck(token);
    const tokenChecks = checks.get(token) ?? { running: undefined, waiting: undefined };
    if (tokenChecks.waiting !== undefined) return tokenChecks.waiting;
    checks.set(token, tokenChecks);
    const send = (): Promise<Session | null> => {
      tokenChecks.running = ownCheck;
      tokenChecks.waiting = undefined;
      return requestCheck(token);
    };
    const ownCheck = (tokenChecks.running ?? endOfTurn()).then(send, send);
    tokenChecks.waiting = ownCheck;
    const end = () => {
      if (tokenChecks.running === ownCheck && tokenChecks.waiting === undefined) checks.delete(token);
    };
    ownCheck.then(end, end);
    return ownCheck;
  }

  function addToCache(token: string, session: Session): void {
    cache.delete(token);
    cache.set(token, { session, age: stopwatch() });
    const [oldest] = cache.keys();
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
  }

  return async function verify(request, { maxAge = 0, signal } = {}) {
    signal?.throwIfAborted();
    if (!(maxAge >= 0)) throw new UsageError('`maxAge` must be a number of milliseconds.');
    const token = sessionTokenOf(request);
    if (token === undefined) return null;
    const cached = maxAge > 0 ? cache.get(token) : undefined;
    if (cached !== undefined && cached.age() <= maxAge) return cached.session;
    const session = await forCaller(check(token), signal);
    if (session === null) cache.delete(token);
    else if (maxAge > 0) addToCache(token, session);
    return session;
  };
}

const hasTurns = () => typeof globalThis.setImmediate === 'function';

/** Resolves when the requests that have arrived by now were read. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => resolve()));
