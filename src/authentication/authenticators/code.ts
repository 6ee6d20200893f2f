import type { MessageChannel } from '../../contract/administration.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../secrets/codes.js';
import type { Candidate, TwoStep } from './authenticator.js';

/**
 * A six-digit code by a message, bound to its authentication and to the address that it went to: once that is no longer the
 * user's, such as the number of a phone that was lost, whoever reads it there does not get in.
 */
export function codeAuthenticator(
  keys: SecretKeys,
  channel: MessageChannel,
  recipientOf: (candidate: Candidate) => string | undefined,
): TwoStep {
  const bound = (authenticationId: string, recipient: string | undefined) => `${authenticationId} ${recipient ?? ''}`;
  return {
    name: channel,
    steps: 2,
    async begin(candidate, authenticationId) {
      const code = newCode();
      const recipient = candidate && recipientOf(candidate);
      const kept = { code: codeDigest(keys, bound(authenticationId, recipient), code) };
      return { kept, lifetime: codeLifetime, message: { channel, recipient, code } };
    },
    async verify({ kept, authenticationId, secret }, candidate) {
      const recipient = candidate && recipientOf(candidate);
      return codeMatches(keys, bound(authenticationId, recipient), secret, kept.code ?? '');
    },
  };
}
