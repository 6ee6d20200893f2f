import type { KeyObject } from 'node:crypto';
import type { ServiceAccount } from '../../lib/push-keys.js';
import type { Tracing } from '../../lib/tracing.js';
import type { PushSender } from '../../notifications/push/sender.js';
import type { Outbound } from '../outbound.js';
import { createGuard } from '../outbound-guard.js';

/** The configured push channels with their settings. */
export interface PushSettings {
  readonly webPush?: { readonly publicKey: string; readonly privateKey: string; readonly subject: string } | undefined;
  readonly fcm?: { readonly account: ServiceAccount; readonly url: string } | undefined;
  readonly apns?:
    | {
        readonly key: KeyObject;
        readonly keyId: string;
        readonly teamId: string;
        readonly topic: string;
        readonly url: string;
      }
    | undefined;
}

/** Creates the senders and loads only what is configured. Close them when the process stops. */
export async function createPushSenders(
  { webPush, fcm, apns }: PushSettings,
  options: {
    readonly outbound: Outbound;
    readonly allowPrivateNetworkTargets: boolean;
    readonly tracing: Tracing | undefined;
  },
): Promise<PushSender[]> {
  const { outbound } = options;
  const senders: PushSender[] = [];
  if (apns !== undefined) {
    const { createApns } = await import('./apns.js');
    senders.push(createApns({ ...apns, guard: createGuard(options), tracing: options.tracing }));
  }
  if (fcm !== undefined) {
    const { createFcm } = await import('./fcm.js');
    senders.push(createFcm({ ...fcm, outbound }));
  }
  if (webPush !== undefined) {
    const { createWebPush } = await import('./web-push.js');
    senders.push(createWebPush({ ...webPush, outbound }));
  }
  return senders;
}
