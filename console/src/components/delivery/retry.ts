import type { OutboxMessage } from '../../api/schema.js';

/** The service tries a message at most so many times, with all retries. */
const maxAttempts = 20;

/** Whether the service would send a message again: it failed, is still valid, and was not tried too often. */
export function isRetryable({ state, expires_at, attempts }: OutboxMessage): boolean {
  const hasFailed = state === 'failed' || state === 'undelivered';
  return hasFailed && Date.parse(expires_at) > Date.now() && attempts < maxAttempts;
}
