import { AwsV4Signer } from 'aws4fetch';
import type { SmsSender } from '../../messages/sms-sender.js';
import type { Outbound } from '../outbound.js';
import {
  callProvider,
  type Meanings,
  meaningOf,
  type Refusal,
  type RefusalMeaning,
} from '../providers/provider-call.js';
import { type SenderIds, senderFor } from './sender-ids.js';

export interface SnsOptions {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The URL of the API, without a path. */
  readonly url: string;
  readonly senders: SenderIds;
  readonly outbound: Outbound;
}

/** Sends through Publish of Amazon SNS (API version 2010-03-31), signed with AWS Signature Version 4. */
export function createSns({ region, accessKeyId, secretAccessKey, url, senders, outbound }: SnsOptions): SmsSender {
  const name = 'sns';
  const target = new URL('/', url).href;
  return {
    name,
    async send(message) {
      const form = new URLSearchParams({
        Action: 'Publish',
        Version: '2010-03-31',
        PhoneNumber: message.to,
        Message: message.text,
      });
      const sender = senderFor(senders, name, message.to);
      const attributes = {
        'AWS.SNS.SMS.SMSType': 'Transactional',
        ...(sender !== undefined && senderAttribute(sender)),
      };
      Object.entries(attributes).forEach(([attribute, value], index) => {
        const entry = `MessageAttributes.entry.${index + 1}`;
        form.set(`${entry}.Name`, attribute);
        form.set(`${entry}.Value.DataType`, 'String');
        form.set(`${entry}.Value.StringValue`, value);
      });
      const body = form.toString();
      const signed = await new AwsV4Signer({
        url: target,
        method: 'POST',
        body,
        region,
        accessKeyId,
        secretAccessKey,
        service: 'sns',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      }).sign();
      return callProvider({
        name,
        outbound,
        request: { url: target, method: 'POST', headers: Object.fromEntries(signed.headers), body },
        reference: (text) => elementOf(text, 'MessageId'),
        interpret,
      });
    },
  };
}

/** A number is an origination number of the account. A name is shown as the sender, where the country allows it. */
function senderAttribute(sender: string): Record<string, string> {
  return /^\+?\d+$/.test(sender)
    ? { 'AWS.MM.SMS.OriginationNumber': sender }
    : { 'AWS.SNS.SMS.SenderID': sender.replaceAll(' ', '') };
}

/** The text of an element without children. The answers of SNS have one element of each of these names. */
function elementOf(xml: string, name: 'MessageId' | 'Code' | 'Message'): string | undefined {
  return new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(xml)?.[1];
}

const busy: RefusalMeaning = { failure: 'unavailable', reason: 'too many messages at a time' };
const badCredentials: RefusalMeaning = { failure: 'unavailable', reason: 'the account or its credentials are refused' };

/** The codes of refused requests (API reference of Publish, and the errors that all actions have). */
const meanings: Meanings = {
  OptedOut: { failure: 'invalid', reason: 'the recipient has refused messages of this account' },
  Throttled: busy,
  Throttling: busy,
  ThrottlingException: busy,
  AuthorizationError: badCredentials,
  InvalidClientTokenId: badCredentials,
  SignatureDoesNotMatch: badCredentials,
  InternalError: { failure: 'unavailable', reason: 'the provider failed' },
  InternalFailure: { failure: 'unavailable', reason: 'the provider failed' },
  ServiceUnavailable: { failure: 'unavailable', reason: 'the provider failed' },
};

function interpret({ body }: Refusal): RefusalMeaning | undefined {
  const code = elementOf(body, 'Code') ?? '';
  // SNS has one code for all parameters. Only its text names the parameter.
  if (code === 'InvalidParameter' && /\bPhoneNumber\b/.test(elementOf(body, 'Message') ?? '')) {
    return { failure: 'invalid', reason: 'the number is not valid, code InvalidParameter' };
  }
  return meaningOf(meanings, code);
}
