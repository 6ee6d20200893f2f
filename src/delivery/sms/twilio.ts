import { createHmac } from 'node:crypto';
import { equalBytes } from '../../lib/crypto/secret-keys.js';
import { parseJsonObject } from '../../lib/json-object.js';
import type { Receipt, ReceiptReader } from '../../messages/providers/receipts.js';
import type { SmsSender } from '../../messages/sms-sender.js';
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

export interface TwilioOptions {
  readonly accountSid: string;
  readonly authToken: string;
  /** The URL of the API, without a path. */
  readonly url: string;
  readonly senders: SenderIds;
  /** The URL for reports about a message, by its id. Undefined: no reports. */
  readonly receiptUrl: ReceiptUrl | undefined;
  readonly outbound: Outbound;
}

/** Sends through the Messages resource of Twilio (API version 2010-04-01). */
export function createTwilio(options: TwilioOptions): SmsSender {
  const { accountSid, authToken, url, senders, receiptUrl, outbound } = options;
  const name = 'twilio';
  const target = new URL(`/2010-04-01/Accounts/${accountSid}/Messages.json`, url).href;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  return {
    name,
    send(message) {
      const form = new URLSearchParams({ To: message.to, Body: message.text });
      const sender = senderFor(senders, name, message.to) ?? '';
      form.set(/^MG[0-9a-f]{32}$/i.test(sender) ? 'MessagingServiceSid' : 'From', sender);
      if (receiptUrl !== undefined) form.set('StatusCallback', receiptUrl(message.receiptId ?? message.id));
      return callProvider({
        name,
        outbound,
        request: {
          url: target,
          method: 'POST',
          headers: { authorization, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: form.toString(),
        },
        reference: referenceIn('sid'),
        interpret,
      });
    },
  };
}

/** The codes of refused requests (twilio.com/docs/api/errors). */
const meanings: Meanings = {
  21211: { failure: 'invalid', reason: 'the number is not valid' },
  21217: { failure: 'invalid', reason: 'the number is not valid' },
  21614: { failure: 'invalid', reason: 'the number cannot receive text messages' },
  21610: { failure: 'invalid', reason: 'the recipient has refused messages of this sender (STOP)' },
  21617: { failure: 'invalid', reason: 'the text is too long' },
  21408: { failure: 'refused', reason: 'the account may not send to this country' },
  21612: { failure: 'refused', reason: 'the sender cannot reach this number' },
  21603: { failure: 'unavailable', reason: 'the sender is missing' },
  21606: { failure: 'unavailable', reason: 'the account may not send from this sender' },
  21212: { failure: 'unavailable', reason: 'the sender is not valid' },
  21611: { failure: 'unavailable', reason: 'the queue of the sender is full' },
  20003: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
  20429: { failure: 'unavailable', reason: 'too many messages at a time' },
  14107: { failure: 'unavailable', reason: 'too many messages at a time' },
};

function interpret({ body }: Refusal): RefusalMeaning | undefined {
  const code = parseJsonObject(body)?.code;
  return typeof code === 'number' ? meaningOf(meanings, String(code)) : undefined;
}

/** Why a message did not arrive (twilio.com/docs/api/errors). */
const reasons: Readonly<Record<string, string>> = {
  30001: 'the queue of the sender is full',
  30002: 'the account is suspended',
  30003: 'the phone cannot be reached',
  30004: 'the recipient or the network blocks the message',
  30005: 'the number is not known',
  30006: 'the number is a landline, or its network cannot be reached',
  30007: 'the network has filtered the message',
  30008: 'the reason is not known',
  30034: 'the sender is not registered for messages in the United States',
};

const delivered = ['delivered', 'read'];
const undelivered = ['undelivered', 'failed', 'canceled'];

/**
 * Reads status callbacks. Twilio signs the URL of the callback and the sorted parameters with HMAC-SHA1
 * (twilio.com/docs/usage/security).
 */
export function createTwilioReceipts(options: {
  readonly accountSid: string;
  readonly authToken: string;
  readonly receiptUrl: ReceiptUrl;
}): ReceiptReader {
  const { accountSid, authToken, receiptUrl } = options;
  return {
    name: 'twilio',
    async read({ headers, messageId = '', body }) {
      const form = new URLSearchParams(body);
      // Sorted by name, then by value.
      const sorted = [...form].sort(
        ([name1, value1], [name2, value2]) => compare(name1, name2) || compare(value1, value2),
      );
      const signed = receiptUrl(messageId) + sorted.flat().join('');
      const expected = createHmac('sha1', authToken).update(signed).digest();
      const signature = Buffer.from(String(headers['x-twilio-signature'] ?? ''), 'base64');
      if (!equalBytes(signature, expected) || form.get('AccountSid') !== accountSid) return undefined;
      return receiptOf(messageId, form);
    },
  };
}

const compare = (a: string, b: string) => Number(a > b) - Number(a < b);

function receiptOf(messageId: string, form: URLSearchParams): Receipt {
  const status = form.get('MessageStatus') ?? '';
  const reference = form.get('MessageSid') ?? '';
  if (delivered.includes(status)) return { messageId, reference, outcome: 'delivered', reason: null };
  if (!undelivered.includes(status)) return { messageId, reference, outcome: 'pending', reason: null };
  const code = /^\d{1,6}$/.exec(form.get('ErrorCode') ?? '')?.[0];
  const knownReason = code === undefined ? undefined : reasons[code];
  const text = knownReason ?? 'the message was not delivered';
  const reason = `twilio: ${text}${code === undefined ? '' : `, code ${code}`}`;
  return { messageId, reference, outcome: 'undelivered', reason };
}
