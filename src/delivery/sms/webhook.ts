import type { SmsMessage, SmsSender } from '../../messages/sms-sender.js';
import type { Outbound } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';
import { createWebhookSigner } from '../webhook-signature.js';

export interface WebhookSmsOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly outbound: Outbound;
  readonly now?: () => Date;
}

/**
 * Sends each message to the operator's own gateway: a POST signed as Standard Webhooks 1.0 defines. Any 2xx response
 * accepts it; a redirect is a failure. Errors contain the status or the host, but no part of the message, the secret or
 * the response.
 */
export function createWebhookSms({ url, secret, outbound, now = () => new Date() }: WebhookSmsOptions): SmsSender {
  const sign = createWebhookSigner(secret);
  return {
    name: 'webhook',
    async send(message) {
      const payload = payloadOf(message);
      const headers = {
        'content-type': 'application/json',
        ...sign({ id: message.id, timestamp: now(), payload }),
      };
      const status = await statusOf(outbound.request({ url, method: 'POST', headers, body: payload }));
      if (status < 200 || status > 299) throw new Error(`the SMS webhook answered ${status}`);
      return { provider: 'webhook', reference: null };
    },
  };
}

function payloadOf(message: SmsMessage): string {
  return JSON.stringify({
    type: message.kind,
    id: message.id,
    to: message.to,
    text: message.text,
    code: message.code,
    authentication_id: message.authenticationId,
    ...(message.notificationId !== undefined && { notification_id: message.notificationId }),
    expires_at: message.expiresAt,
  });
}

/** The status decides, even if the body of the response failed: a retry would send a second SMS. */
async function statusOf(response: ReturnType<Outbound['request']>): Promise<number> {
  try {
    return (await response).status;
  } catch (error) {
    if (error instanceof OutboundError && error.status !== undefined) return error.status;
    throw error;
  }
}
