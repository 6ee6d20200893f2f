import { createHash } from 'node:crypto';
import type { Identity } from './identity.js';

/** What an identity is found by: SHA-256 of its type and canonical value. */
export function identityDigest({ type, canonical }: Identity): Buffer {
  return createHash('sha256').update(`${type}\n${canonical}`).digest();
}
