import type { PushOutcome } from '../../notifications/push/sender.js';
import { OutboundError } from '../outbound.js';

/** Seconds of a Retry-After header (RFC 9110, 10.2.3), at most a day; undefined without one that can be read. */
export function retryAfterSeconds(header: string | undefined, now: () => number = Date.now): number | undefined {
  if (header === undefined) return undefined;
  // Date.parse would also take `-5` for a year.
  const isDate = /^[A-Z][a-z]{2}, /.test(header);
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((isDate ? Date.parse(header) - now() : Number.NaN) / 1000);
  return Number.isFinite(seconds) ? Math.min(86_400, Math.max(0, seconds)) : undefined;
}

/** A code of a service, if it is a plain word: what a service answers is not ours to keep and to show. */
export function plainWord(text: unknown): string | undefined {
  return typeof text === 'string' && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(text) ? text : undefined;
}

/** Of a call that got no answer. What the guard refuses it refuses again; everything else may pass. */
export function outcomeOfFailure(error: unknown): PushOutcome {
  if (!(error instanceof OutboundError)) throw error;
  const lasting = error.code === 'blocked_target' || error.code === 'invalid_url';
  // The host may be of the user's choice: what is said of it is the guard's, and names the host at most.
  return { outcome: lasting ? 'failed' : 'retry', reason: error.message };
}

/** Whether a status means that the same call may succeed later. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
