import { randomUUID } from 'node:crypto';
import type { WebhookEvent } from '../webhooks/events.js';
import { secretBytes } from '../webhooks/verify.js';

/** The event that a test sends. Missing members get example values. */
export type TestEvent = Partial<Omit<WebhookEvent, 'type' | 'data'>> & {
  readonly type: WebhookEvent['type'];
  readonly data?: object | undefined;
};

/** A delivery of an event as Postern sends it, signed with this secret (`v1`). */
export async function webhookRequest(url: string | URL, event: TestEvent, secret: string): Promise<Request> {
  const { type, id = randomUUID(), timestamp = new Date().toISOString(), endpoint_id = randomUUID(), data } = event;
  const common = { user_id: randomUUID(), sequence: 1, changed_fields: [], actor: null };
  const body = JSON.stringify({ id, type, timestamp, endpoint_id, data: { ...common, ...data } });
  const time = `${Math.floor(Date.now() / 1000)}`;
  const { subtle } = globalThis.crypto;
  const key = await subtle.importKey(
    'raw',
    new Uint8Array(secretBytes(secret)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const signature = await subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${time}.${body}`));
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${Buffer.from(signature).toString('base64')}`,
    },
    body,
  });
}
