import type { MessageChannel } from '../../contract/administration.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { codeIsRight, codeLifetime, newCode } from '../codes.js';
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
      const { code, kept } = newCode(keys, authenticationId);
      const recipient = candidate && recipientOf(candidate);
      return { kept: { code: kept }, lifetime: codeLifetime, message: { channel, recipient, code } };
    },
    async verify({ kept, authenticationId, secret }) {
      return codeIsRight(keys, authenticationId, kept, secret);
    },
  };
}
