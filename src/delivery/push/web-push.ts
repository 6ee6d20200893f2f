import webPush from 'web-push';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Outbound } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';
import { retryAfterSeconds } from '../retry-after.js';
import { failureOutcome, isTransientStatus } from './responses.js';

export interface WebPushOptions {
  /** VAPID keys in base64url (RFC 8292). */
  readonly publicKey: string;
  readonly privateKey: string;
  /** A contact of the operator for push services, `mailto:` or `https:` (RFC 8292, 2.1). */
  readonly subject: string;
  readonly outbound: Outbound;
}

/** Google's push service before VAPID, shut down in 2024. The library would warn about it on the console. */
const retiredService = 'https://android.googleapis.com/gcm/send';

/** Sends Web Push messages (RFC 8030) with encrypted content (RFC 8291) to the push service of the browser's subscription. */
export function createWebPush({ publicKey, privateKey, subject, outbound }: WebPushOptions): PushSender {
  const vapidDetails = { publicKey, privateKey, subject };

  function requestOf(subscription: webPush.PushSubscription, { content, collapseId, ttl, urgency }: PushMessage) {
    const isShown = 'id' in content;
    // The service worker needs the tag. Without a `replace_key`, it is the id.
    const payload = isShown && content.id !== collapseId ? { ...content, tag: collapseId } : content;
    const { headers, body, endpoint } = webPush.generateRequestDetails(subscription, JSON.stringify(payload), {
      vapidDetails,
      TTL: ttl,
      urgency: isShown ? urgency : 'low',
      // RFC 8030, 5.4: a new message replaces an undelivered one with the same topic. At most 32 characters; this has 22.
      topic: Buffer.from(collapseId.replaceAll('-', ''), 'hex').toString('base64url'),
    });
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    return { url: endpoint, method: 'POST' as const, headers: Object.fromEntries(texts), body };
  }

  return {
    channel: 'web_push',
    hostOf: (token) => new URL((JSON.parse(token) as webPush.PushSubscription).endpoint).host,
    async send(token, message) {
      const subscription: webPush.PushSubscription = JSON.parse(token);
      if (subscription.endpoint.startsWith(retiredService))
        return { outcome: 'gone', reason: 'the push service was shut down' };
      try {
        const { status, headers } = await outbound.request(requestOf(subscription, message));
        return outcomeOf(status, headers['retry-after']);
      } catch (error) {
        // The status decides, even if the body of the response failed.
        if (error instanceof OutboundError && error.status !== undefined) return outcomeOf(error.status, undefined);
        return failureOutcome(error);
      }
    },
    close: async () => undefined,
  };
}

/** RFC 8030, 5 and 7.3: 404 and 410 mean that the subscription has expired. */
function outcomeOf(status: number, retryAfter: string | undefined): PushOutcome {
  const reason = `the push service answered ${status}`;
  if (status >= 200 && status <= 299) return { outcome: 'sent' };
  if (status === 404 || status === 410) return { outcome: 'gone', reason };
  if (isTransientStatus(status)) return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(retryAfter) };
  return { outcome: 'failed', reason };
}
