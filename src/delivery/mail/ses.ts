import { AwsV4Signer } from 'aws4fetch';
import { parseJsonObject } from '../../lib/json-object.js';
import type { MailMessage, MailSender } from '../../messages/mail-sender.js';
import type { Outbound } from '../outbound.js';
import {
  callProvider,
  type Meanings,
  meaningOf,
  type Refusal,
  type RefusalMeaning,
  referenceIn,
} from '../providers/provider-call.js';
import { composedMail, demandPlainRecipient, type MailOrigin } from './mail-content.js';

export interface SesOptions extends MailOrigin {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The URL of the API, without a path. */
  readonly url: string;
  /** Undefined: the default of the account. */
  readonly configurationSet: string | undefined;
  readonly outbound: Outbound;
}

/**
 * Sends through SendEmail of Amazon SES (API version 2), signed with AWS Signature Version 4. SES knows no key that makes a
 * request repeatable, and replaces the `Message-ID`: a mail whose answer was lost can arrive twice.
 */
export function createSes(options: SesOptions): MailSender {
  const { region, accessKeyId, secretAccessKey, url, configurationSet, outbound } = options;
  const name = 'ses';
  const target = new URL('/v2/email/outbound-emails', url).href;
  return {
    name,
    async send(message) {
      demandPlainRecipient(name, message);
      const body = JSON.stringify({
        Destination: { ToAddresses: [message.to] },
        Content: { Raw: { Data: (await compose(message, options)).toString('base64') } },
        EmailTags: [{ Name: 'postern-id', Value: message.id }],
        ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
      });
      const signed = await new AwsV4Signer({
        url: target,
        method: 'POST',
        body,
        region,
        accessKeyId,
        secretAccessKey,
        service: 'ses',
        headers: { 'content-type': 'application/json' },
      }).sign();
      return callProvider({
        name,
        outbound,
        request: { url: target, method: 'POST', headers: Object.fromEntries(signed.headers), body },
        reference: referenceIn('MessageId'),
        interpret,
        isRepeatable: true,
      });
    },
  };
}

/** The mail as the bytes that SMTP would transport. */
async function compose(message: MailMessage, origin: MailOrigin): Promise<Buffer> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message: bytes } = await transport.sendMail(composedMail(message, origin));
  if (!Buffer.isBuffer(bytes)) throw new Error('the library returned a stream instead of a buffer');
  return bytes;
}

/** The errors of SendEmail, and those that all actions have. */
const meanings: Meanings = {
  MessageRejected: { failure: 'refused', reason: 'the provider refuses the mail' },
  MailFromDomainNotVerifiedException: { failure: 'unavailable', reason: 'the domain of the sender is not verified' },
  AccountSuspendedException: { failure: 'unavailable', reason: 'the account is suspended' },
  SendingPausedException: { failure: 'unavailable', reason: 'the account is paused' },
  TooManyRequestsException: { failure: 'unavailable', reason: 'too many messages at a time' },
  LimitExceededException: { failure: 'unavailable', reason: 'the account has reached its limit' },
  AccessDeniedException: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
  SignatureDoesNotMatch: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
};

function interpret({ headers, body }: Refusal): RefusalMeaning | undefined {
  const problem = parseJsonObject(body);
  const text = typeof problem?.message === 'string' ? problem.message : '';
  // The header may have a namespace: `MessageRejected:http://internal.amazon.com/…`.
  const type = (headers['x-amzn-errortype'] ?? '').split(':')[0] ?? '';
  // SES has one code for all parameters. Only its text names the parameter. A new account may send to verified addresses only.
  if (type === 'MessageRejected' && /not verified/i.test(text)) {
    return {
      failure: 'unavailable',
      reason: 'the account may send to verified addresses only, or its sender is not verified',
    };
  }
  if (
    type === 'BadRequestException' &&
    /illegal address|missing final '@domain'|local address|domain (?:starts|ends|contains)/i.test(text)
  ) {
    return { failure: 'invalid', reason: 'the address is not valid' };
  }
  return meaningOf(meanings, type);
}
