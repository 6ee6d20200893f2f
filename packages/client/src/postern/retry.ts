import { ForeignAnswerError, isProblem, NetworkError } from '../errors.js';
import { throwIfAborted, wait } from '../platform.js';

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
