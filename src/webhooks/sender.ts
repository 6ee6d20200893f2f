import type { AttemptResult } from './schedule.js';
import type { WebhookSigningKey } from './secrets.js';

/** One attempt to deliver an event. */
export interface WebhookAttempt {
  readonly url: string;
  /** The header `webhook-id`: the same in every attempt. */
  readonly id: string;
  readonly body: string;
  /** The secrets of the signatures `v1`. */
  readonly secrets: readonly string[];
  /** For the signature `v1a`. */
  readonly key: WebhookSigningKey | undefined;
}

/** Sends one event to an endpoint. */
export interface WebhookSender {
  /** Does not throw for a failure of the endpoint. */
  send(attempt: WebhookAttempt): Promise<AttemptResult>;
}
