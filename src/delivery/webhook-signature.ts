import { Webhook } from 'standardwebhooks';

export interface WebhookMessage {
  /** The same over every retry, so that a receiver can drop repeats. Holds no dot: a dot separates what is signed. */
  readonly id: string;
  /** When this attempt is made: receivers refuse what is more than five minutes off their clock. */
  readonly timestamp: Date;
  /** Exactly the body that is sent. */
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
 * Signs outgoing webhooks as Standard Webhooks 1.0 asks.
 *
 * @param secret `whsec_` and base64
 * @throws Error when the secret is not of that form; the message does not hold it
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
    // The library's own error is dropped: what it says of the secret is not ours to vouch for.
  }
  throw new Error('a webhook secret is whsec_ followed by base64');
}
