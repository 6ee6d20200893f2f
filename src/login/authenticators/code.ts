import type { MessageChannel } from '../../contract/administration.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../../credentials/codes.js';
import type { Candidate } from '../../identities/accounts.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Requirement, TwoStep } from './authenticator.js';

const requirementOf = { sms: 'phone', email: 'email' } as const satisfies Record<MessageChannel, Requirement>;

/** The address of a user to which a channel sends login codes. */
export function recipientBy(channel: MessageChannel, candidate: Candidate): string | undefined {
  return candidate[requirementOf[channel]];
}

/**
 * A six-digit code by message, bound to its authentication and to the address that it was sent to. Once the user no longer
 * has that address, such as the number of a lost phone, the code is refused.
 */
function codeAuthenticator(keys: SecretKeys, channel: MessageChannel): TwoStep {
  const recipientOf = (candidate: Candidate) => recipientBy(channel, candidate);
  const digestSubject = (authenticationId: string, recipient: string | undefined) =>
    `${authenticationId} ${recipient ?? ''}`;
  return {
    name: channel,
    steps: 2,
    findMissing: async (user) => (recipientOf(user) === undefined ? requirementOf[channel] : undefined),
    async begin(candidate, authenticationId) {
      const code = newCode();
      const recipient = candidate && recipientOf(candidate);
      const kept = { code: codeDigest(keys, digestSubject(authenticationId, recipient), code) };
      return { kept, lifetime: codeLifetime, message: { channel, recipient, code } };
    },
    async verify({ kept, authenticationId, secret }, candidate) {
      const recipient = candidate && recipientOf(candidate);
      return codeMatches(keys, digestSubject(authenticationId, recipient), secret, kept.code ?? '');
    },
  };
}

/** A six-digit code by mail. */
export function emailAuthenticator(keys: SecretKeys): TwoStep {
  return codeAuthenticator(keys, 'email');
}

/** A six-digit code by SMS. */
export function smsAuthenticator(keys: SecretKeys): TwoStep {
  return codeAuthenticator(keys, 'sms');
}
