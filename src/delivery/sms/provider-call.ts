import type { AcceptedSms } from '../../messages/sms-sender.js';
import type { Outbound, OutboundRequest } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';
import { retryAfterSeconds } from '../push/responses.js';
import { SmsError, type SmsFailure } from './sms-error.js';

/** An answer of a provider that did not accept the message. */
export interface Refusal {
  readonly status: number;
  /** The text of the body; empty if it could not be read. */
  readonly body: string;
}

/** What a refusal means. */
export interface RefusalMeaning {
  readonly failure: SmsFailure;
  /** The reason as a text for operators. */
  readonly reason: string;
}

/** How to read the answers of one provider. */
export interface ProviderCall {
  readonly name: string;
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  /** Reads the id that the provider gave to the message from the body of a 2xx answer; undefined without one. */
  reference(body: string): string | undefined;
  /** Finds the meaning of a refusal. If it returns undefined, the HTTP status decides. */
  interpret(refusal: Refusal): RefusalMeaning | undefined;
}

/** A longer id of a provider is not stored. */
const maxReferenceLength = 255;

/**
 * Hands a message to a provider. Any 2xx answer accepts the message, even if the body of the answer is broken: another
 * attempt would send the message twice.
 * @throws SmsError
 */
export async function callProvider(call: ProviderCall): Promise<AcceptedSms> {
  const { name } = call;
  const { status, body, retryAfter } = await exchange(call);
  if (status >= 200 && status < 300) {
    const reference = call.reference(body);
    const isStorable = reference !== undefined && reference !== '' && reference.length <= maxReferenceLength;
    return { provider: name, reference: isStorable ? reference : null };
  }
  const { failure, reason } = call.interpret({ status, body }) ?? byStatus(status);
  throw new SmsError(name, failure, `${reason} (${status})`, retryAfter);
}

/** @throws SmsError if the provider sent no status */
async function exchange({ name, outbound, request }: ProviderCall) {
  try {
    const { status, headers, body } = await outbound.request(request);
    const retryAfter = status === 429 || status === 503 ? retryAfterSeconds(headers['retry-after']) : undefined;
    return { status, body: body.toString('utf8'), retryAfter };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.status !== undefined) return { status: error.status, body: '', retryAfter: undefined };
    throw new SmsError(name, 'unavailable', error.message);
  }
}

/** What a status means without a known error code. An operator can correct the account, so that a retry succeeds. */
function byStatus(status: number): RefusalMeaning {
  if (status === 401 || status === 403)
    return { failure: 'unavailable', reason: 'the account or its credentials are refused' };
  if (status === 402) return { failure: 'unavailable', reason: 'the account has no credit' };
  if (status === 429) return { failure: 'unavailable', reason: 'too many messages at a time' };
  return { failure: 'unavailable', reason: 'the provider failed or did not understand the request' };
}
