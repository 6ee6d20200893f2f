import type { Database } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { inSpan, type Tracing } from '../lib/tracing.js';
import { bodyOf, type ShownEvent, type WebhookResources } from './payload.js';
import { type QueueRun, runQueue, type TakenDelivery } from './queue-run.js';
import type { AttemptResult, Pace } from './schedule.js';
import { decryptSecret, signingKey, type WebhookSigningKey } from './secrets.js';
import type { WebhookSender } from './sender.js';
import { leaseSeconds, type SendingEndpoint } from './sending-queries.js';

export interface AttemptOptions {
  readonly sender: WebhookSender;
  readonly resources: WebhookResources;
  /** Called after each attempt. */
  readonly onAttempt?: (outcome: 'delivered' | 'failed') => void;
  /** Undefined: deliveries are not traced. */
  readonly tracing?: Tracing | undefined;
}

/** A run makes no further attempt after this time: the last one takes at most ten seconds. */
const maxRunMs = (leaseSeconds - 20) * 1000;

/** An endpoint with its decrypted secrets. */
export interface Target {
  readonly endpoint: SendingEndpoint;
  readonly secrets: readonly string[];
  readonly key: WebhookSigningKey | undefined;
}

/** Decrypts the secrets of an endpoint. */
export async function targetOf(database: Database, keys: SecretKeys, endpoint: SendingEndpoint): Promise<Target> {
  const { id, secret, previous_secret } = endpoint;
  const secrets = [secret, ...(previous_secret === null ? [] : [previous_secret])];
  return {
    endpoint,
    secrets: secrets.map((encrypted) => decryptSecret(keys, id, encrypted)),
    key: await signingKey(database, keys),
  };
}

/** Sends the events of one user to the endpoint, in their order. */
export function sendQueue(
  { sender, resources, onAttempt, tracing }: AttemptOptions,
  { endpoint, secrets, key }: Target,
  deliveries: readonly TakenDelivery[],
  { pace, stopping }: { readonly pace: Pace; readonly stopping: AbortSignal },
): Promise<QueueRun> {
  const startedAt = performance.now();
  let attempts = 0;
  async function send({ event_id, ...event }: Omit<ShownEvent, 'traceparent'>): Promise<AttemptResult> {
    const shown = { ...event, event_id };
    const more = endpoint.payload === 'full' ? await resources.read(shown) : {};
    const body = bodyOf(endpoint.id, shown, more);
    const result = await sender.send({ url: endpoint.url, id: event_id, body, secrets, key });
    attempts += 1;
    pace.record(result.ok);
    onAttempt?.(result.ok ? 'delivered' : 'failed');
    return result;
  }
  return runQueue(deliveries, {
    async attempt({ data, created_at, traceparent, ...event }) {
      if (data === null || created_at === null) return undefined;
      const shown = { ...event, data, created_at };
      if (tracing === undefined) return send(shown);
      const span = tracing.startJob('webhook.deliver', traceparent, { 'postern.event_type': event.type });
      return inSpan(tracing, span, () => send(shown));
    },
    mayAttempt: () =>
      !stopping.aborted && performance.now() - startedAt < maxRunMs && (attempts === 0 || !pace.isFailing()),
    random: Math.random,
    isAccepting: () => pace.isAccepting(),
  });
}
