import { parseJsonObject } from '../../lib/json-object.js';
import type { SmsSender } from '../../messages/sms-sender.js';
import type { Outbound } from '../outbound.js';
import { callProvider, type Meaning, type Refusal } from './provider-call.js';
import { type SenderIds, senderFor } from './sender-ids.js';

export interface TwilioOptions {
  readonly accountSid: string;
  readonly authToken: string;
  /** The URL of the API, without a path. */
  readonly url: string;
  readonly senders: SenderIds;
  readonly outbound: Outbound;
}

/** Sends through the Messages resource of Twilio (API version 2010-04-01). */
export function createTwilio({ accountSid, authToken, url, senders, outbound }: TwilioOptions): SmsSender {
  const name = 'twilio';
  const target = new URL(`/2010-04-01/Accounts/${accountSid}/Messages.json`, url).href;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  return {
    name,
    send(message) {
      const form = new URLSearchParams({ To: message.to, Body: message.text });
      const sender = senderFor(senders, name, message.to) ?? '';
      form.set(/^MG[0-9a-f]{32}$/i.test(sender) ? 'MessagingServiceSid' : 'From', sender);
      return callProvider({
        name,
        outbound,
        request: {
          url: target,
          method: 'POST',
          headers: { authorization, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: form.toString(),
        },
        reference: (body) => stringOf(parseJsonObject(body)?.sid),
        meaning,
      });
    },
  };
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The codes of refused requests (twilio.com/docs/api/errors). All others depend on the account, which can be corrected. */
const meanings: Readonly<Record<number, Meaning>> = {
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

function meaning({ body }: Refusal): Meaning | undefined {
  const code = parseJsonObject(body)?.code;
  if (typeof code !== 'number') return undefined;
  const known = meanings[code];
  return known === undefined ? undefined : { failure: known.failure, reason: `${known.reason}, code ${code}` };
}
