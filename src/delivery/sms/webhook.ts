import type { SmsMessage, SmsSender } from '../../authentication/messages/sms-sender.js';
import { type Outbound, OutboundError } from '../outbound.js';
import { createWebhookSigner } from '../webhook-signature.js';

export interface WebhookSmsOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly outbound: Outbound;
  readonly now?: () => Date;
}

/**
 * Hands each message to the operator's own gateway: a signed POST that any 2xx answer accepts. Redirects are failures.
 * Errors hold the status or the host's name, nothing of the message, the secret or the answer's body.
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
    expires_at: message.expiresAt,
  });
}

/** The head of the answer decides: to retry because a body ran on or broke off would send the person a second SMS. */
async function statusOf(answer: ReturnType<Outbound['request']>): Promise<number> {
  try {
    return (await answer).status;
  } catch (error) {
    if (error instanceof OutboundError && error.status !== undefined) return error.status;
    throw error;
  }
}
