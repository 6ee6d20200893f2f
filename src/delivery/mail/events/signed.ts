import { Webhook } from 'standardwebhooks';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../../lib/json-object.js';
import type { MailEvent, MailEventReader, MailEventRequest } from '../../../messages/providers/mail-events.js';

/**
 * Whether one of the secrets has signed a request as Standard Webhooks 1.0 defines. The library refuses a time that differs by
 * more than five minutes.
 * @param prefix the prefix of the names of the headers
 */
function isSigned({ headers, body }: MailEventRequest, secrets: readonly string[], prefix: string): boolean {
  const textOf = (name: string) => String(headers[`${prefix}-${name}`] ?? '');
  const signed = {
    'webhook-id': textOf('id'),
    'webhook-timestamp': textOf('timestamp'),
    'webhook-signature': textOf('signature'),
  };
  return secrets.some((secret) => {
    try {
      new Webhook(secret).verify(body, signed);
      return true;
    } catch {
      return false;
    }
  });
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');
const stringsOf = (value: unknown) => [value].flat().filter((item) => typeof item === 'string');

/** Reads the events of Resend, which signs them as Svix does. */
export function createResendEvents(secrets: readonly string[]): MailEventReader {
  return {
    name: 'resend',
    provider: 'resend',
    async read(request) {
      if (!isSigned(request, secrets, 'svix') && !isSigned(request, secrets, 'webhook')) return undefined;
      const event = parseJsonObject(request.body);
      const data = isJsonObject(event?.data) ? event.data : {};
      const outcome = resendOutcome(stringOf(event?.type), data);
      const reference = stringOf(data.email_id);
      return outcome === undefined ? [] : stringsOf(data.to).map((address) => ({ reference, address, outcome }));
    },
  };
}

function resendOutcome(type: string, { bounce }: JsonObject): MailEvent['outcome'] | undefined {
  if (type === 'email.delivered') return 'delivered';
  if (type === 'email.complained') return 'complaint';
  if (type !== 'email.bounced') return undefined;
  return isJsonObject(bounce) && bounce.type === 'Permanent' ? 'hard_bounce' : 'soft_bounce';
}

const gatewayOutcomes: Readonly<Record<string, MailEvent['outcome']>> = {
  'mail.delivered': 'delivered',
  'mail.soft_bounced': 'soft_bounce',
  'mail.hard_bounced': 'hard_bounce',
  'mail.complained': 'complaint',
};

/** Reads the events of the operator's own gateway, which it signs with the secret of the mails. */
export function createGatewayEvents(secrets: readonly string[]): MailEventReader {
  return {
    name: 'webhook',
    provider: 'webhook',
    async read(request) {
      if (!isSigned(request, secrets, 'webhook')) return undefined;
      const event = parseJsonObject(request.body);
      const type = stringOf(event?.type);
      const outcome = Object.hasOwn(gatewayOutcomes, type) ? gatewayOutcomes[type] : undefined;
      if (outcome === undefined) return [];
      return [{ reference: stringOf(event?.id), address: stringOf(event?.email), outcome }];
    },
  };
}
