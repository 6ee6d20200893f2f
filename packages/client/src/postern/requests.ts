import { ForeignAnswerError, isProblem, isUnauthorized, NetworkError, SignedOutError } from '../errors.js';
import { type Abortable, throwIfAborted, wait } from '../platform.js';
import type { Call } from '../transport.js';
import type { HeldSession } from '../types.js';

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

/** Sends with a session, and once more with a new one after a 401. */
export type WithSession = <T>(
  signal: AbortSignal | undefined,
  send: (bearer: string) => Promise<T>,
  mustRepeat?: (result: T) => boolean,
) => Promise<T>;

/**
 * Creates the functions that send requests with a session: `call` sends to Postern, with `json` or `raw` of the transport.
 *
 * @param discard called with a session that the service has refused
 */
export function createRequests(
  getSession: (options: Abortable) => Promise<HeldSession | null>,
  discard: (session: HeldSession) => void,
  isClosed: () => boolean,
) {
  const withSession: WithSession = async (signal, send, mustRepeat = () => false) => {
    for (let isFirst = true; ; isFirst = false) {
      const session = await getSession({ signal });
      if (session === null) throw new SignedOutError();
      try {
        const result = await send(`Bearer ${session.token}`);
        if (!isFirst || !mustRepeat(result)) return result;
      } catch (error) {
        if (!isFirst || !isUnauthorized(error)) throw error;
      }
      discard(session);
    }
  };

  function call<T>(request: Call, sendCall: (call: Call) => Promise<T>): Promise<T> {
    const attempt = () =>
      // `sendCall` throws at a 401, so no result means that the request must be repeated.
      withSession(request.signal, (authorization) => sendCall({ ...request, authorization }));
    // A change may have taken effect although its answer was lost, so only the caller can decide to repeat it.
    return request.method === undefined ? withRetry(attempt, isClosed, request.signal) : attempt();
  }

  return { call, withSession };
}
