import type { IncomingMessage } from 'node:http';
import type { Admission } from '../../limits/admission/admission.js';
import type { BucketState } from '../../limits/admission/token-buckets.js';

/**
 * Counts each request once, whichever code admits it: the fast path of session checks (`verify-handler.ts`), which the
 * framework does not see, or the hooks of the routes.
 */
export interface RequestAdmission extends Pick<Admission, 'admitsAll' | 'isBlocked' | 'whenBlocked' | 'limitsApiKeys'> {
  /** For the fast path: whether the request of an address may continue. Otherwise the routes refuse it. */
  admits(request: IncomingMessage): boolean;
  /** For the fast path: whether the request of a session may continue. */
  admitsSession(request: IncomingMessage, sessionId: string): boolean;
  /** Counts the request toward the limit of its address, unless it was counted already. Undefined without a limit. */
  countAddress(request: IncomingMessage, address: string): BucketState | undefined;
  /** Counts the request toward the limit of its session, unless it was counted already. Undefined without a limit. */
  countSession(request: IncomingMessage, sessionId: string): BucketState | undefined;
  /** The RateLimit headers of a counted request, for `writeHead`: names in lower case and values alternate. */
  headersOf(request: IncomingMessage): readonly string[];
}

type Subject = 'address' | 'session';
type Counted = Partial<Record<Subject, BucketState>>;

const noHeaders: readonly string[] = [];

/** @param addressOf reads the address of a client, see `createAddressReader` */
export function createRequestAdmission(
  admission: Admission,
  addressOf: (request: IncomingMessage) => string,
): RequestAdmission {
  const counts = new WeakMap<IncomingMessage, Counted>();

  function count(request: IncomingMessage, subject: Subject, take: () => BucketState | undefined) {
    if (!admission.isLimited) return undefined;
    const counted = counts.get(request) ?? {};
    const state = counted[subject] ?? take();
    if (state !== undefined && counted[subject] === undefined) counts.set(request, { ...counted, [subject]: state });
    return state;
  }
  const countAddress = (request: IncomingMessage, address: string) =>
    count(request, 'address', () => admission.countByAddress(address));
  const countSession = (request: IncomingMessage, id: string) =>
    count(request, 'session', () => admission.countBySession(id));

  return {
    admitsAll: admission.admitsAll,
    isBlocked: admission.isBlocked,
    whenBlocked: admission.whenBlocked,
    limitsApiKeys: admission.limitsApiKeys,
    countAddress,
    countSession,
    admits(request) {
      if (admission.admitsAll()) return true;
      const address = addressOf(request);
      return !admission.isBlocked(address) && countAddress(request, address)?.isEmpty !== true;
    },
    admitsSession: (request, id) => countSession(request, id)?.isEmpty !== true,
    headersOf(request) {
      const counted = admission.isLimited ? counts.get(request) : undefined;
      if (counted === undefined) return noHeaders;
      const limits = Object.entries(counted).map(
        ([subject, { remaining, fullIn }]) => `"${subject}";r=${remaining};t=${fullIn}`,
      );
      return ['ratelimit-policy', admission.policy, 'ratelimit', limits.join(', ')];
    },
  };
}
