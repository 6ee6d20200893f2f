import { parseJsonObject } from '../../lib/json-object.js';
import type { MailMessage, MailSender } from '../../messages/mail-sender.js';
import type { Outbound } from '../outbound.js';
import {
  callProvider,
  type Meanings,
  type Refusal,
  type RefusalMeaning,
  referenceIn,
} from '../providers/provider-call.js';
import { createWebhookSigner } from '../webhook-signature.js';
import { demandPlainRecipient, fromHeader, headersOf, type MailOrigin } from './mail-content.js';

export interface WebhookMailOptions extends MailOrigin {
  readonly url: string;
  /** Each is `whsec_` and base64. All sign, so that the receiver can replace its secret at any time. */
  readonly secrets: readonly string[];
  readonly outbound: Outbound;
  readonly now?: () => Date;
}

/**
 * Sends each mail to the operator's own gateway: a POST signed as Standard Webhooks 1.0 defines. Any 2xx response accepts
 * it; its `id` is the reference, or else the id of the message is. The id is the same for each retry.
 */
export function createWebhookMail(options: WebhookMailOptions): MailSender {
  const { url, secrets, outbound, now = () => new Date() } = options;
  const signers = secrets.map(createWebhookSigner);
  const name = 'webhook';
  return {
    name,
    async send(message) {
      demandPlainRecipient(name, message);
      const payload = payloadOf(message, options);
      const timestamp = now();
      const signed = signers.map((sign) => sign({ id: message.id, timestamp, payload }));
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Postern',
        ...signed[0],
        'webhook-signature': signed.map((each) => each['webhook-signature']).join(' '),
      };
      const accepted = await callProvider({
        name,
        outbound,
        request: { url, method: 'POST', headers, body: payload },
        reference: referenceIn('id'),
        interpret,
        isRepeatable: true,
      });
      return { ...accepted, reference: accepted.reference ?? message.id };
    },
  };
}

function payloadOf(message: MailMessage, origin: MailOrigin): string {
  const { id, kind, to, subject, text, html, code, authenticationId, expiresAt } = message;
  return JSON.stringify({
    type: kind,
    id,
    from: fromHeader(origin.from),
    to,
    subject,
    text,
    html,
    headers: headersOf(message, origin),
    code,
    authentication_id: authenticationId,
    ...(message.notificationId !== undefined && { notification_id: message.notificationId }),
    expires_at: expiresAt,
  });
}

const meanings: Meanings = {
  recipient_refused: { failure: 'invalid', reason: 'the gateway says that the recipient refuses mail' },
  unknown_mailbox: {
    failure: 'invalid',
    reason: 'the gateway says that the mailbox does not exist',
    isUnknownMailbox: true,
  },
};

/** The gateway can say by 422 and `{"error"}` that no other provider can deliver the mail. */
function interpret({ status, body }: Refusal): RefusalMeaning | undefined {
  const error = status === 422 ? parseJsonObject(body)?.error : undefined;
  return typeof error === 'string' && Object.hasOwn(meanings, error) ? meanings[error] : undefined;
}
