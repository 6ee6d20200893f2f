import { ForeignAnswerError, isProblem, NetworkError, SignedOutError, UsageError } from '../errors.js';
import { type Abortable, partsOf, platform, throwIfAborted, wait } from '../platform.js';
import type { Call } from '../transport.js';
import type { HeldSession, PosternOptions } from '../types.js';

/** The longest pause before an automatic repeat, in milliseconds. */
const maxPauseMs = 10_000;

/** Repeats an attempt once if the service asks for a short pause, or if the network was lost for a moment. */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  isClosed: () => boolean,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const pause = pauseAfter(error);
    if (pause === undefined || isClosed()) throw error;
    await wait(pause, signal);
    throwIfAborted(signal);
    return attempt();
  }
}

/** The time in milliseconds to wait before an automatic repeat; undefined if the caller must decide. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof NetworkError || error instanceof ForeignAnswerError) return 500 + Math.random() * 1000;
  const until = isProblem(error) && (error.status === 429 || error.status === 503) ? error.retry?.until : undefined;
  const pause = until === undefined ? undefined : Math.max(0, until.getTime() - Date.now()) + Math.random() * 500;
  return pause !== undefined && pause <= maxPauseMs ? pause : undefined;
}

/**
 * Creates the functions that send requests with a session.
 *
 * @param discard called with a session that the service has refused
 * @returns `call`, which sends to Postern with `json` or `raw` of the transport, and `fetchWithSession`, which the app calls as
 *   `postern.fetch`: it sends to trusted origins only
 */
export function createRequests(
  base: string,
  { fetch, trustedOrigins = [] }: Pick<PosternOptions, 'fetch' | 'trustedOrigins'>,
  getSession: (options: Abortable) => Promise<HeldSession | null>,
  discard: (session: HeldSession) => void,
  isClosed: () => boolean,
) {
  /** Sends with a session, and once more with a new one after a 401. */
  async function withSession<T>(
    signal: AbortSignal | undefined,
    send: (bearer: string) => Promise<T>,
    mustRepeat: (result: T) => boolean,
  ): Promise<T> {
    const session = await getSession({ signal });
    if (session === null) throw new SignedOutError();
    const repeat = async () => {
      discard(session);
      const next = await getSession({ signal });
      if (next === null) throw new SignedOutError();
      return send(`Bearer ${next.token}`);
    };
    try {
      const result = await send(`Bearer ${session.token}`);
      return mustRepeat(result) ? await repeat() : result;
    } catch (error) {
      if (isProblem(error) && error.status === 401) return repeat();
      throw error;
    }
  }

  function call<T>(request: Call, sendCall: (call: Call) => Promise<T>): Promise<T> {
    const attempt = () =>
      // `sendCall` throws at a 401, so no result means that the request must be repeated.
      withSession(
        request.signal,
        (authorization) => sendCall({ ...request, authorization }),
        () => false,
      );
    // A change may have taken effect although its answer was lost, so only the caller can decide to repeat it.
    return request.method === undefined ? withRetry(attempt, isClosed, request.signal) : attempt();
  }

  async function fetchWithSession(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const request = input instanceof Request ? input : undefined;
    const page = platform().location;
    const address = request?.url ?? `${input}`;
    const origin = partsOf(address, page?.href)?.[1];
    if (!origin || ![partsOf(base)?.[1], page?.origin, ...trustedOrigins].includes(origin)) {
      throw new UsageError(`postern.fetch sends no session to ${origin || address}: add it to \`trustedOrigins\`.`);
    }
    // React Native has no `ReadableStream` to compare with.
    const canRepeat = !(init.body as { readonly getReader?: unknown } | undefined)?.getReader;
    const attempt = (authorization: string) => {
      const headers = new Headers(init.headers ?? request?.headers);
      headers.set('authorization', authorization);
      return (fetch ?? globalThis.fetch)(request?.clone() ?? input, { ...init, headers });
    };
    return withSession(init.signal ?? request?.signal, attempt, (answer) => answer.status === 401 && canRepeat);
  }

  return [call, fetchWithSession] as const;
}
