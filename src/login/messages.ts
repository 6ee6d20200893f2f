import type { CodeMessage } from '../credentials/challenge.js';
import { type Identity, identityDigest } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { NewAuthentication } from './authentications.js';

/** Creates the function that counts the message of a login and encrypts its code. */
export function createMessageAdmission({
  keys,
  limits,
}: {
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
}) {
  /**
   * Counts a message and encrypts its code. If the limit of the recipient is exceeded, the message gets no recipient
   * and is not sent. A refusal would reveal to which account the address belongs.
   */
  return async function admitMessage(
    { channel, recipient, code, isDropped }: CodeMessage,
    { userId, knownDevice, origin }: Pick<NewAuthentication, 'userId' | 'knownDevice' | 'origin'>,
    identity: Identity,
  ) {
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
      kind: `${channel}.code`,
      recipient: mayBeSent && isDropped !== true ? recipient : undefined,
      encryptedCode: keys.encrypt(code, id),
      recentCodes,
      resendAt,
    };
  };
}
