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
import { demandPlainRecipient, fromHeader, headersOf, logoFile, type MailOrigin } from './mail-content.js';

export interface ResendOptions extends MailOrigin {
  readonly apiKey: string;
  /** The URL of the API, without a path. */
  readonly url: string;
  readonly outbound: Outbound;
}

/** Sends through the API of Resend. Its `Idempotency-Key` is the id of the message, so a repeated request sends one mail. */
export function createResend(options: ResendOptions): MailSender {
  const { apiKey, url, outbound } = options;
  const name = 'resend';
  const target = new URL('/emails', url).href;
  return {
    name,
    async send(message) {
      demandPlainRecipient(name, message);
      return callProvider({
        name,
        outbound,
        request: {
          url: target,
          method: 'POST',
          headers: {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            'idempotency-key': message.id,
            // Without one, the API refuses requests.
            'user-agent': 'Postern',
          },
          body: bodyOf(message, options),
        },
        reference: referenceIn('id'),
        interpret,
        isRepeatable: true,
      });
    },
  };
}

function bodyOf(message: MailMessage, origin: MailOrigin): string {
  const { to, subject, text, html } = message;
  const { from, logo } = origin;
  return JSON.stringify({
    from: fromHeader(from),
    to: [to],
    subject,
    text,
    html,
    headers: headersOf(message, origin),
    ...(logo !== undefined && {
      attachments: [
        {
          filename: logoFile.filename,
          content_type: logoFile.contentType,
          content: logo.png.toString('base64'),
          content_id: logo.contentId,
        },
      ],
    }),
  });
}

/** The errors (resend.com/docs/api-reference/errors). */
const meanings: Meanings = {
  // Another request with the key is running.
  concurrent_idempotent_requests: { failure: 'unclear', reason: 'the provider still works on the same mail' },
  invalid_idempotent_request: { failure: 'refused', reason: 'the provider has another mail with this id' },
  rate_limit_exceeded: { failure: 'unavailable', reason: 'too many messages at a time' },
  daily_quota_exceeded: { failure: 'unavailable', reason: 'the account has reached its limit' },
  monthly_quota_exceeded: { failure: 'unavailable', reason: 'the account has reached its limit' },
  missing_api_key: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
  invalid_api_key: { failure: 'unavailable', reason: 'the account or its credentials are refused' },
};

function interpret({ body }: Refusal): RefusalMeaning | undefined {
  const problem = parseJsonObject(body);
  const code = typeof problem?.name === 'string' ? problem.name : '';
  // The API has one code for all fields. Only its text names the field.
  if (code === 'validation_error' && /^invalid `to` field\b/i.test(String(problem?.message))) {
    return { failure: 'invalid', reason: 'the address is not valid' };
  }
  return meaningOf(meanings, code);
}
