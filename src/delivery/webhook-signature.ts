import { Webhook } from 'standardwebhooks';

export interface WebhookMessage {
  /**
   * The id of the message. It is the same for every retry, so that a receiver can drop repeats. It contains no dots,
   * because a dot separates the signed parts.
   */
  readonly id: string;
  /** The time of this attempt. Receivers refuse timestamps that differ from their clock by more than five minutes. */
  readonly timestamp: Date;
  /** The exact body. */
  readonly payload: string;
}

export interface WebhookHeaders {
  readonly 'webhook-id': string;
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string;
  /** `v1,` and base64 of the HMAC-SHA256. */
  readonly 'webhook-signature': string;
}

/**
 * Signs outgoing webhooks (Standard Webhooks 1.0, https://github.com/standard-webhooks/standard-webhooks).
 *
 * @param secret `whsec_` and base64
 * @throws Error if the secret has another form; the message does not hold the secret
 */
export function createWebhookSigner(secret: string): (message: WebhookMessage) => WebhookHeaders {
  const webhook = readSecret(secret);
  return ({ id, timestamp, payload }) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, timestamp, payload),
  });
}

function readSecret(secret: string): Webhook {
  try {
    if (secret.startsWith('whsec_')) return new Webhook(secret);
  } catch {
    // The library's error is dropped: it may hold the secret.
  }
  throw new Error('a webhook secret is whsec_ followed by base64');
}
