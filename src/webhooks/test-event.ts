import type { WebhookEventType, WebhookTest } from '../contract/webhooks.js';
import type { Database } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId, nilId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import { exampleOf } from './examples.js';
import { bodyOf } from './payload.js';
import { targetOf } from './queue-sending.js';
import type { WebhookSender } from './sender.js';
import { selectEndpoint } from './sending-queries.js';

/** Sends the example of an event to an endpoint once, also while it is disabled. */
export type TestWebhook = (endpointId: string, type: WebhookEventType) => Promise<WebhookTest>;

export function createWebhookTest(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly sender: WebhookSender;
}): TestWebhook {
  const { database, keys, sender } = options;
  return async (endpointId, type) => {
    const [endpoint] = await database.query(selectEndpoint({ id: endpointId }));
    if (endpoint === undefined) throw new Problem('not_found');
    const { secrets, key } = await targetOf(database, keys, endpoint);
    const id = newId();
    const data = { ...exampleOf(type), is_test: true };
    const created_at = new Date().toISOString().replace('Z', '000Z');
    const request = bodyOf(endpointId, { event_id: id, type, user_id: nilId, sequence: 0, data, created_at });
    const result = await sender.send({
      url: endpoint.url,
      id,
      body: request,
      secrets,
      key,
    });
    const { ok, status = null, answer = null, error = null, durationMs: duration_ms } = result;
    return { ok, status, request, answer, error, duration_ms };
  };
}
