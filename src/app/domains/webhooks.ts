import { createOutbound } from '../../delivery/outbound.js';
import { checkTargetUrl } from '../../delivery/outbound-guard.js';
import { createWebhookSender } from '../../delivery/webhook-sender.js';
import type { WebhookServices } from '../../http/routes/admin/webhooks.js';
import { createImageUrls } from '../../notifications/images/url.js';
import type { Users } from '../../users/users.js';
import { createWebhookDeliveries } from '../../webhooks/deliveries.js';
import { createWebhooks } from '../../webhooks/endpoints.js';
import { createWebhookResources } from '../../webhooks/resources.js';
import { startWebhooks } from '../../webhooks/sending.js';
import { createWebhookTest } from '../../webhooks/test-event.js';
import type { Base } from '../base/base.js';

/** Outgoing webhooks. */
export interface WebhookDomain {
  readonly services: WebhookServices;
  /** Starts to deliver events. */
  start(): { stop(): Promise<void> };
}

export function createWebhookDomain(base: Base, users: Pick<Users, 'get'>): WebhookDomain {
  const { config, database, keys, log, lifecycle, publicUrl } = base;
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  // Its own client: name servers of endpoints that do not respond delay no code and no login.
  const outbound = lifecycle.add(createOutbound({ allowPrivateNetworkTargets }), (calls) => calls.close());
  const sender = createWebhookSender(outbound);
  const resources = createWebhookResources({ database, users, imageUrlsOf: createImageUrls(publicUrl) });
  return {
    services: {
      webhooks: createWebhooks({
        database,
        keys,
        checkUrl: (url) => checkTargetUrl(url, { allowPrivateNetworkTargets }),
      }),
      webhookDeliveries: createWebhookDeliveries(database),
      testWebhook: createWebhookTest({ database, keys, sender }),
    },
    start: () => startWebhooks({ database, keys, sender, resources, log }),
  };
}
