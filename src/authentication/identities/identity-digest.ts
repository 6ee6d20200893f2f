import { sha256 } from '../../lib/sha256.js';
import type { Identity } from './identity.js';

/** What an identity is found by: SHA-256 of its type and canonical value. */
export function identityDigest({ type, canonical }: Identity): Buffer {
  return sha256(`${type}\n${canonical}`);
}
