import webPush from 'web-push';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import { type Outbound, OutboundError } from '../outbound.js';
import { isPassing, outcomeOfFailure, retryAfterSeconds } from './answers.js';

export interface WebPushOptions {
  /** In base64url, as are all keys of VAPID (RFC 8292). */
  readonly publicKey: string;
  readonly privateKey: string;
  /** `mailto:` or `https:`: whom a push service may ask about us. */
  readonly subject: string;
  readonly outbound: Outbound;
}

/** Google's push service before VAPID, shut down in 2024: the library would warn on the console. */
const retired = 'https://android.googleapis.com/gcm/send';

/** Web Push (RFC 8030) with encrypted content (RFC 8291), to wherever the browser's subscription says. */
export function createWebPush({ publicKey, privateKey, subject, outbound }: WebPushOptions): PushSender {
  const vapidDetails = { publicKey, privateKey, subject };

  function requestOf(subscription: webPush.PushSubscription, { content, ttl, urgency }: PushMessage) {
    const { headers, body, endpoint } = webPush.generateRequestDetails(subscription, JSON.stringify(content), {
      vapidDetails,
      TTL: ttl,
      urgency,
      // 22 characters of the 32 that a topic may have: what is pushed again replaces what is not yet delivered.
      topic: Buffer.from(content.id.replaceAll('-', ''), 'hex').toString('base64url'),
    });
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    return { url: endpoint, method: 'POST' as const, headers: Object.fromEntries(texts), body };
  }

  return {
    channel: 'web_push',
    async send(token, message) {
      const subscription: webPush.PushSubscription = JSON.parse(token);
      if (subscription.endpoint.startsWith(retired)) return { outcome: 'gone', reason: 'the push service is no more' };
      try {
        const { status, headers } = await outbound.request(requestOf(subscription, message));
        return outcomeOf(status, headers['retry-after']);
      } catch (error) {
        // The head of an answer decides: what its body does is of no interest.
        if (error instanceof OutboundError && error.status !== undefined) return outcomeOf(error.status, undefined);
        return outcomeOfFailure(error);
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
  if (isPassing(status)) return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(retryAfter) };
  return { outcome: 'failed', reason };
}
