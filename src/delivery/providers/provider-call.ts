import { parseJsonObject } from '../../lib/json-object.js';
import { isReference } from '../../lib/reference.js';
import type { AcceptedMessage } from '../../messages/message-sender.js';
import type { Outbound, OutboundRequest } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';
import { retryAfterSeconds } from '../retry-after.js';
import { ProviderError, type ProviderFailure } from './provider-error.js';

/** An answer of a provider that did not accept the message. */
export interface Refusal {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body; empty if it could not be read. */
  readonly body: string;
}

/** What a refusal means. */
export interface RefusalMeaning {
  readonly failure: ProviderFailure;
  /** The reason as a text for operators. */
  readonly reason: string;
  readonly isUnknownMailbox?: boolean;
}

/** What the error codes of a provider mean. A code that is absent counts as a fault of the account at the provider, which
 * the operator can correct. */
export type Meanings = Readonly<Record<string, RefusalMeaning>>;

/** What an error code means, with the code for operators. Undefined: the code is not known. */
export function meaningOf(meanings: Meanings, code: string): RefusalMeaning | undefined {
  const meaning = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  return meaning && { ...meaning, reason: `${meaning.reason}, code ${code}` };
}

/** Reads the id of a message from a member of a JSON answer. */
export const referenceIn =
  (member: string) =>
  (body: string): string | undefined => {
    const reference = parseJsonObject(body)?.[member];
    return typeof reference === 'string' ? reference : undefined;
  };

/** How to read the answers of one provider. */
export interface ProviderCall {
  readonly name: string;
  readonly outbound: Outbound;
  readonly request: OutboundRequest;
  /** Reads the id that the provider gave to the message from the body of a 2xx answer; undefined without one. */
  reference(body: string): string | undefined;
  /** Finds the meaning of a refusal. If it returns undefined, the HTTP status decides. */
  interpret(refusal: Refusal): RefusalMeaning | undefined;
  /**
   * Whether the request contains an id of the message, so that it can be repeated: a lost answer or an error of the server
   * is then `unclear` instead of `unavailable`.
   */
  readonly isRepeatable?: boolean;
}

/**
 * Hands a message to a provider. Any 2xx answer accepts the message, even if the body of the answer is broken: another
 * attempt would send the message twice.
 * @throws ProviderError
 */
export async function callProvider(call: ProviderCall): Promise<AcceptedMessage> {
  const { name } = call;
  const { status, headers, body, retryAfter } = await exchange(call);
  if (status >= 200 && status < 300) {
    const reference = call.reference(body);
    return { provider: name, reference: reference !== undefined && isReference(reference) ? reference : null };
  }
  const meaning = call.interpret({ status, headers, body }) ?? byStatus(status, call.isRepeatable ?? false);
  const { failure, reason, isUnknownMailbox } = meaning;
  throw new ProviderError(name, failure, `${reason} (${status})`, retryAfter, isUnknownMailbox);
}

/** @throws ProviderError if the provider sent no status */
async function exchange({ name, outbound, request, isRepeatable = false }: ProviderCall) {
  try {
    const { status, headers, body } = await outbound.request(request);
    const retryAfter = status === 429 || status === 503 ? retryAfterSeconds(headers['retry-after']) : undefined;
    return { status, headers, body: body.toString('utf8'), retryAfter };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.status !== undefined) return { status: error.status, headers: {}, body: '', retryAfter: undefined };
    throw new ProviderError(name, isRepeatable && !error.isUnsent ? 'unclear' : 'unavailable', error.message);
  }
}

/** A gateway sends these statuses too, when the provider may have taken the request. 503 says that it has not. */
const unclearStatuses = [408, 500, 502, 504];

/** What a status means without a known error code. An operator can correct the account, so that a retry succeeds. */
function byStatus(status: number, isRepeatable: boolean): RefusalMeaning {
  if (status === 401 || status === 403)
    return { failure: 'unavailable', reason: 'the account or its credentials are refused' };
  if (status === 402) return { failure: 'unavailable', reason: 'the account has no credit' };
  if (status === 429) return { failure: 'unavailable', reason: 'too many messages at a time' };
  const isUnclear = isRepeatable && unclearStatuses.includes(status);
  return {
    failure: isUnclear ? 'unclear' : 'unavailable',
    reason: 'the provider failed or did not understand the request',
  };
}
