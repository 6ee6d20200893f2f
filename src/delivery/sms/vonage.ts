import { createHash, type KeyObject, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import type { Receipt, ReceiptReader } from '../../messages/providers/receipts.js';
import type { SmsMessage, SmsSender } from '../../messages/sms-sender.js';
import type { Outbound } from '../outbound.js';
import {
  callProvider,
  type Meanings,
  meaningOf,
  type Refusal,
  type RefusalMeaning,
  referenceIn,
} from '../providers/provider-call.js';
import type { ReceiptUrl } from './receipt-url.js';
import { type SenderIds, senderFor } from './sender-ids.js';

export interface VonageOptions {
  readonly applicationId: string;
  /** The private key of the application, RSA. */
  readonly privateKey: KeyObject;
  /** The URL of the API, without a path. */
  readonly url: string;
  readonly senders: SenderIds;
  /** The URL for reports about a message, by its id. Undefined: no reports. */
  readonly receiptUrl: ReceiptUrl | undefined;
  readonly outbound: Outbound;
}

/** Sends through the Messages API of Vonage (version 1), as an application. */
export function createVonage(options: VonageOptions): SmsSender {
  const { url, senders, receiptUrl, outbound } = options;
  const name = 'vonage';
  const target = new URL('/v1/messages', url).href;
  return {
    name,
    async send(message) {
      const from = withoutPlus(senderFor(senders, name, message.to) ?? '');
      return callProvider({
        name,
        outbound,
        request: {
          url: target,
          method: 'POST',
          headers: {
            authorization: `Bearer ${await accessToken(options)}`,
            'content-type': 'application/json',
            accept: 'application/json',
          },
          body: bodyOf(message, from, receiptUrl?.(message.receiptId ?? message.id)),
        },
        reference: referenceIn('message_uuid'),
        interpret,
      });
    },
  };
}

/** The times are for Vonage, so they come from the system clock. */
function accessToken({ applicationId, privateKey }: VonageOptions): Promise<string> {
  return new SignJWT({ application_id: applicationId })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .setJti(randomUUID())
    .sign(privateKey);
}

/** Vonage writes numbers without a plus. */
const withoutPlus = (number: string) => number.replace(/^\+/, '');

function bodyOf({ id, receiptId = id, to, text }: SmsMessage, from: string, webhookUrl: string | undefined): string {
  return JSON.stringify({
    message_type: 'text',
    channel: 'sms',
    to: withoutPlus(to),
    from,
    text,
    client_ref: receiptId,
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl, webhook_version: 'v1' }),
  });
}

const busy: RefusalMeaning = { failure: 'unavailable', reason: 'too many messages at a time' };
const invalidNumber: RefusalMeaning = { failure: 'invalid', reason: 'the number is not valid' };

/** The codes of refused requests (developer.vonage.com/api-errors/messages), and the words that other errors have instead. */
const meanings: Meanings = {
  throttled: busy,
  'low-balance': { failure: 'unavailable', reason: 'the account has no credit' },
  unauthorized: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
  1000: busy,
  1030: { failure: 'unavailable', reason: 'the provider failed' },
  1040: { failure: 'refused', reason: 'the provider does not serve this number' },
  1050: { failure: 'invalid', reason: 'the number is barred' },
  1060: { failure: 'unavailable', reason: 'the account is barred' },
  1070: { failure: 'unavailable', reason: 'the account has no credit' },
  1100: { failure: 'unavailable', reason: 'the provider failed' },
  1120: { failure: 'refused', reason: 'the sender is not allowed' },
  1170: invalidNumber,
};

function interpret({ body }: Refusal): RefusalMeaning | undefined {
  const problem = parseJsonObject(body);
  if (isAboutRecipient(problem?.invalid_parameters)) return invalidNumber;
  const code = /#([a-z0-9-]{1,32})$/.exec(typeof problem?.type === 'string' ? problem.type : '')?.[1];
  return code === undefined ? undefined : meaningOf(meanings, code);
}

/** Whether a validation error is about the number of the recipient. */
function isAboutRecipient(parameters: unknown): boolean {
  return (
    Array.isArray(parameters) && parameters.some((parameter) => isJsonObject(parameter) && parameter.name === 'to')
  );
}

/**
 * Reads status webhooks. Vonage signs them with a JWT (HS256) that contains the SHA-256 of the body. Its age is not
 * checked, because Vonage repeats a webhook for a day, and a repeated one changes nothing.
 */
export function createVonageReceipts(signatureSecret: string): ReceiptReader {
  const key = new TextEncoder().encode(signatureSecret);
  return {
    name: 'vonage',
    async read({ headers, body }) {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(String(headers.authorization ?? '')) ?? [];
      const verified = await jwtVerify(token, key, { algorithms: ['HS256'] }).catch(() => undefined);
      if (verified?.payload.payload_hash !== createHash('sha256').update(body).digest('hex')) return undefined;
      return receiptOf(parseJsonObject(body) ?? {});
    },
  };
}

function receiptOf({ client_ref, message_uuid, status, error }: JsonObject): Receipt {
  const common = { messageId: stringOf(client_ref), reference: stringOf(message_uuid) };
  if (status === 'delivered' || status === 'read') return { ...common, outcome: 'delivered', reason: null };
  if (status !== 'rejected' && status !== 'undeliverable') return { ...common, outcome: 'pending', reason: null };
  return { ...common, outcome: 'undelivered', reason: `vonage: ${reasonOf(error)}` };
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** The detail is a sentence from Vonage's list of errors. The webhook is signed, but the text is limited anyway. */
function reasonOf(error: unknown): string {
  const { detail, title } = isJsonObject(error) ? error : {};
  const text = stringOf(detail)
    .replace(/[^\p{L}\p{N}\p{P} ]/gu, '')
    .slice(0, 200)
    .trim();
  const code = /^\d{1,6}$/.exec(String(title ?? ''))?.[0];
  return [text || 'the message was not delivered', code].filter(Boolean).join(', code ');
}
