import type { KeyObject } from 'node:crypto';
import type { ServiceAccount } from '../../lib/push-keys.js';
import type { PushSender } from '../../notifications/push/sender.js';
import { createGuard, type Outbound } from '../outbound.js';

/** The channels that are configured, each with what it needs. */
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

/** Makes the senders; what is not configured is not even loaded. Close them when the process stops. */
export async function createPushSenders(
  { webPush, fcm, apns }: PushSettings,
  options: { readonly outbound: Outbound; readonly allowPrivateNetworkTargets: boolean },
): Promise<PushSender[]> {
  const { outbound } = options;
  const senders: PushSender[] = [];
  if (apns !== undefined) {
    const { createApns } = await import('./apns.js');
    senders.push(createApns({ ...apns, guard: createGuard(options) }));
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
