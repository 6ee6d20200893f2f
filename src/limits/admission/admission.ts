import { network } from '../limit-counts.js';
import type { BlockList } from './block-list.js';
import { type BucketState, createTokenBuckets, type Rate, type TokenBuckets } from './token-buckets.js';

/**
 * Decides which requests this process admits. It admits no requests from blocked addresses, and not more requests than
 * the limits allow.
 */
export interface Admission {
  /** Whether all requests are admitted, because there is no block and no limit. */
  admitsAll(): boolean;
  isBlocked(address: string): boolean;
  /**
   * Calls `onBlocked` when the address is blocked, at most once.
   * @returns a function that ends the wait
   */
  whenBlocked(address: string, onBlocked: () => void): () => void;
  /** Whether requests are limited. Then every response has RateLimit headers. */
  readonly isLimited: boolean;
  /** Whether the limit for addresses also counts requests with API keys. */
  readonly limitsApiKeys: boolean;
  /** Counts a request of an address. Undefined without a limit. */
  countByAddress(address: string): BucketState | undefined;
  /** Counts a request of a session. Undefined without a limit. */
  countBySession(id: string): BucketState | undefined;
  /** The value of `RateLimit-Policy`: all limits. */
  readonly policy: string;
}

export interface AdmissionOptions {
  readonly blocks: Pick<BlockList, 'isEmpty' | 'isBlocked' | 'whenBlocked'>;
  readonly perAddress: Rate | undefined;
  readonly perSession: Rate | undefined;
  readonly limitsApiKeys: boolean;
}

/** The maximum number of addresses whose network is cached. Parsing an address takes longer than the rest of the work. */
const maxNetworks = 20_000;

/** Creates the decisions of one process. */
export function createAdmission({ blocks, perAddress, perSession, limitsApiKeys }: AdmissionOptions): Admission {
  const addressBuckets = perAddress && createTokenBuckets(perAddress);
  const sessionBuckets = perSession && createTokenBuckets(perSession);
  const networks = new Map<string, string>();
  const isLimited = addressBuckets !== undefined || sessionBuckets !== undefined;
  const networkOf = (address: string) => {
    const cached = networks.get(address);
    if (cached !== undefined) return cached;
    if (networks.size >= maxNetworks) networks.clear();
    const parsedNetwork = network(address);
    networks.set(address, parsedNetwork);
    return parsedNetwork;
  };
  return {
    admitsAll: () => !isLimited && blocks.isEmpty(),
    isBlocked: blocks.isBlocked,
    whenBlocked: blocks.whenBlocked,
    isLimited,
    limitsApiKeys,
    countByAddress: (address) => addressBuckets?.take(networkOf(address)),
    countBySession: (id) => sessionBuckets?.take(id),
    policy: [policyOf('address', addressBuckets), policyOf('session', sessionBuckets)].flat().join(', '),
  };
}

const policyOf = (name: string, buckets: TokenBuckets | undefined) =>
  buckets === undefined ? [] : [`"${name}";q=${buckets.rate.size};w=${Math.ceil(buckets.rate.windowMs / 1000)}`];
