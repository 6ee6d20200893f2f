import type { MessageChannel } from '../../contract/administration.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../../credentials/codes.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { Candidate } from '../../identities/accounts.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Requirement, TwoStep } from './authenticator.js';

const requirementOf = { sms: 'phone', email: 'email' } as const satisfies Record<MessageChannel, Requirement>;

/** An authenticator that sends codes over the channel of its name. */
export type CodeAuthenticator = TwoStep & { readonly name: MessageChannel };

/** The parts of the authenticators that send codes. */
interface CodeParts {
  readonly keys: SecretKeys;
  readonly testCodes: TestCodes;
}

/** The type of address that a channel sends login codes to. */
export const addressTypeOf = (channel: MessageChannel): 'phone' | 'email' => requirementOf[channel];

/** The address of a user to which a channel sends login codes. */
export function recipientBy(channel: MessageChannel, candidate: Candidate): string | undefined {
  return candidate[requirementOf[channel]];
}

/**
 * A six-digit code by message, bound to its authentication and to the address that it was sent to. Once the user no longer
 * has that address, such as the number of a lost phone, the code is refused.
 *
 * A test identity takes its fixed code instead, and its message is dropped. For all other users, the check does the same work, so that its time is the same.
 */
function codeAuthenticator({ keys, testCodes }: CodeParts, channel: MessageChannel): CodeAuthenticator {
  const addressType = addressTypeOf(channel);
  const recipientOf = (candidate: Candidate) => recipientBy(channel, candidate);
  const digestSubject = (authenticationId: string, recipient: string | undefined) =>
    `${authenticationId} ${recipient ?? ''}`;
  return {
    name: channel,
    steps: 2,
    sendsCode: true,
    async findMissing(user) {
      if (recipientOf(user) !== undefined) return undefined;
      return user.unproven[addressType] === undefined ? addressType : `proven_${addressType}`;
    },
    async begin(candidate, authenticationId) {
      const code = newCode();
      const recipient = candidate && recipientOf(candidate);
      const test = await testCodes.find(candidate, addressType);
      const state = {
        code: codeDigest(keys, digestSubject(authenticationId, recipient), code),
        ...(test !== undefined && { testIdentityId: test.id }),
      };
      return {
        state,
        lifetime: codeLifetime,
        message: { channel, recipient: recipient, code, isDropped: test !== undefined },
      };
    },
    async verify({ state, authenticationId, secret, origin }, candidate) {
      const recipient = candidate && recipientOf(candidate);
      const { testIdentityId, code = '' } = state;
      const use = { authentication_id: authenticationId, authenticator: channel };
      const isFixedCode = await testCodes.accept(candidate, addressType, { testIdentityId, secret, use, origin });
      const isSentCode = codeMatches(keys, digestSubject(authenticationId, recipient), secret, code);
      return testIdentityId === undefined ? isSentCode : isFixedCode;
    },
  };
}

/** The authenticators of all channels: by mail, which costs less, and by SMS. */
export function codeAuthenticators(parts: CodeParts): readonly CodeAuthenticator[] {
  return [codeAuthenticator(parts, 'email'), codeAuthenticator(parts, 'sms')];
}
