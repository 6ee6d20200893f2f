import type { Config } from '../../config/config.js';
import type { Database } from '../../database/database.js';
import { createOutbound } from '../../delivery/outbound.js';
import { checkTargetUrl } from '../../delivery/outbound-guard.js';
import { createWebhookSender } from '../../delivery/webhook-sender.js';
import type { WebhookServices } from '../../http/routes/admin/webhooks.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Tracing } from '../../lib/tracing.js';
import type { OperatorMails } from '../../messages/operator-mails.js';
import { createImageUrls } from '../../notifications/images/url.js';
import type { Users } from '../../users/users.js';
import { createWebhookDeliveries } from '../../webhooks/deliveries.js';
import { createWebhooks } from '../../webhooks/endpoints.js';
import { createWebhookResources } from '../../webhooks/resources.js';
import type { WebhookSender } from '../../webhooks/sender.js';
import { startWebhooks } from '../../webhooks/sending.js';
import { createWebhookTest } from '../../webhooks/test-event.js';
import type { Base } from '../base/base.js';

/** Outgoing webhooks. */
export interface WebhookDomain {
  readonly services: WebhookServices;
  /** Starts to deliver events. */
  start(): { stop(): Promise<void> };
}

/** Webhooks for the command line, which sends only test events. Call `close` afterwards. */
export interface OpenWebhooks extends WebhookServices {
  close(): Promise<void>;
}

export function openWebhooks(config: Config, database: Database, keys: SecretKeys): OpenWebhooks {
  const outbound = createWebhookOutbound(config);
  return {
    ...createServices({ config, database, keys }, createWebhookSender(outbound)),
    close: () => outbound.close(),
  };
}

const createWebhookOutbound = (
  { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets }: Config,
  tracing?: Tracing,
) => createOutbound({ allowPrivateNetworkTargets, tracing });

function createServices(
  { config, database, keys }: Pick<Base, 'config' | 'database' | 'keys'>,
  sender: WebhookSender,
): WebhookServices {
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  const checkUrl = (url: string) => checkTargetUrl(url, { allowPrivateNetworkTargets });
  return {
    webhooks: createWebhooks({ database, keys, checkUrl }),
    webhookDeliveries: createWebhookDeliveries(database),
    testWebhook: createWebhookTest({ database, keys, sender }),
  };
}

export function createWebhookDomain(
  base: Base,
  { users, mails }: { readonly users: Pick<Users, 'get'>; readonly mails: OperatorMails },
): WebhookDomain {
  const { config, database, keys, log, lifecycle, publicUrl, statistics, tracing } = base;
  // Its own client: name servers of endpoints that do not respond delay no code and no login.
  const outbound = lifecycle.add(createWebhookOutbound(config, tracing), (calls) => calls.close());
  const sender = createWebhookSender(outbound);
  const resources = createWebhookResources({ database, users, imageUrlsOf: createImageUrls(publicUrl) });
  return {
    services: createServices(base, sender),
    start() {
      const onAttempt = (outcome: 'delivered' | 'failed') => statistics.counters.add(`webhooks.${outcome}`);
      return startWebhooks({ database, keys, sender, resources, mails, log, onAttempt, tracing });
    },
  };
}
