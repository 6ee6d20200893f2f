import type { CodeMessage } from '../credentials/challenge.js';
import { type Identity, identityDigest, maskAddress } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { EncryptedMessage } from './authentication-fragments.js';
import type { NewAuthentication } from './authentications.js';

/** A message that was counted, and what its client may see of it. */
export interface AdmittedMessage extends EncryptedMessage {
  readonly resendAt: string;
  readonly destination: string | null;
}

/** The messages with the codes of logins. */
export interface CodeMessages {
  /**
   * Counts a message and encrypts its code. If the limit of the recipient is exceeded, the message gets no recipient
   * and is not sent. A refusal would reveal to which account the address belongs.
   * @param identity the identity in the request, or the address of a user who has given a right secret
   * @returns undefined without a message
   * @throws Problem `too_many_requests`
   */
  admit(
    message: CodeMessage | undefined,
    login: Pick<NewAuthentication, 'userId' | 'knownDevice' | 'origin'>,
    identity: Identity,
  ): Promise<AdmittedMessage | undefined>;
}

export function createCodeMessages(keys: SecretKeys, limits: RequestLimits): CodeMessages {
  return {
    async admit(message, { userId, knownDevice, origin }, identity) {
      if (message === undefined) return undefined;
      const { channel, recipient, code, isDropped, kind = 'code' } = message;
      const { recentCodes, resendAt, mayBeSent } = await limits.countCode({
        clientAddress: origin.clientAddress,
        identityDigest: identityDigest(identity),
        userId,
        channel,
        identity,
        address: recipient,
        knownDevice,
      });
      const id = newId();
      return {
        id,
        channel,
        kind: `${channel}.${kind}`,
        recipient: mayBeSent && isDropped !== true ? recipient : undefined,
        encryptedCode: kind === 'registration_unproven' ? null : keys.encrypt(code, id),
        recentCodes,
        resendAt,
        destination: destinationOf(channel, identity),
      };
    },
  };
}

/**
 * The destination that the response shows. It comes from the identity and not from the account: otherwise it would reveal
 * whether the identity has an account, and link its identities.
 */
function destinationOf(channel: CodeMessage['channel'], { type, canonical }: Identity): string | null {
  const addressType = channel === 'sms' ? 'phone' : 'email';
  return type === addressType ? maskAddress({ type: addressType, canonical }) : null;
}
