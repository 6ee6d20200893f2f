import type { MessageChannel } from '../../contract/administration.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../secrets/codes.js';
import type { Candidate, TwoStep } from './authenticator.js';

/** A six-digit code by a message, bound to its authentication. */
export function codeAuthenticator(
  keys: SecretKeys,
  channel: MessageChannel,
  recipientOf: (candidate: Candidate) => string | undefined,
): TwoStep {
  return {
    name: channel,
    steps: 2,
    async begin(candidate, authenticationId) {
      const code = newCode();
      const recipient = candidate && recipientOf(candidate);
      const kept = { code: codeDigest(keys, authenticationId, code) };
      return { kept, lifetime: codeLifetime, message: { channel, recipient, code } };
    },
    async verify({ kept, authenticationId, secret }) {
      return codeMatches(keys, authenticationId, secret, kept.code ?? '');
    },
  };
}
