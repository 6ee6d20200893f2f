import type { PushOutcome } from '../../notifications/push/sender.js';
import { OutboundError } from '../outbound-guard.js';

/** An error code of a service, if it is a plain word. Other text of a service is neither stored nor shown. */
export function plainWord(text: unknown): string | undefined {
  return typeof text === 'string' && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(text) ? text : undefined;
}

/** The outcome of a call without a response. A forbidden target fails permanently; other failures are retried. */
export function failureOutcome(error: unknown): PushOutcome {
  if (!(error instanceof OutboundError)) throw error;
  const isPermanent = error.code === 'blocked_target' || error.code === 'invalid_url';
  // A user can choose the host of a subscription. The message is one of `OutboundError`, which names at most the host.
  return isPermanent
    ? { outcome: 'failed', reason: error.message }
    : { outcome: 'retry', reason: error.message, isUnanswered: true };
}

/** Whether the same call may succeed later: 408 and 5xx (RFC 9110), 425 (RFC 8470), 429 (RFC 6585). */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
