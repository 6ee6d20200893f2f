import type { LoginDevice } from '../contract/authentication.js';
import type { CodeMessage } from '../credentials/challenge.js';
import { type Identity, identityDigest, maskAddress } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { describeDevice, describeNetwork, describeTime } from '../messages/notice-values.js';
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
   * @param link the link of a mail, with LOGIN_LINK=on. Without it, the mail has only the code
   * @returns undefined without a message
   * @throws Problem `too_many_requests`
   */
  admit(
    message: CodeMessage | undefined,
    login: Pick<NewAuthentication, 'userId' | 'knownDevice' | 'origin'>,
    identity: Identity,
    link?: CodeLink,
  ): Promise<AdmittedMessage | undefined>;
}

/** The link in a mail with a code, and who asked for it. */
export interface CodeLink {
  /** Undefined: to the page that shows the code. */
  readonly to: string | undefined;
  readonly device: LoginDevice;
}

/** @param linkPage the page that shows codes. Undefined: mails have no links */
export function createCodeMessages(
  keys: SecretKeys,
  limits: RequestLimits,
  linkPage: string | undefined,
): CodeMessages {
  return {
    async admit(message, { userId, knownDevice, origin }, identity, link) {
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
      const hasLink = link !== undefined && linkPage !== undefined && channel === 'email' && holdsCode(kind);
      const params = hasLink && {
        link_to: link.to ?? linkPage,
        device: describeDevice(link.device),
        address: describeNetwork(origin.clientAddress),
        time: describeTime(new Date().toISOString()),
      };
      return {
        id,
        channel,
        kind: `${channel}.${hasLink ? 'code_link' : kind}`,
        params: params ? JSON.stringify(params) : null,
        recipient: mayBeSent && isDropped !== true ? recipient : undefined,
        encryptedCode: holdsCode(kind) ? keys.encrypt(code, id) : null,
        recentCodes,
        resendAt,
        destination: destinationOf(channel, identity),
      };
    },
  };
}

const holdsCode = (kind: string) => kind !== 'registration_unproven';

/**
 * The destination that the response shows. It comes from the identity and not from the account: otherwise it would reveal
 * whether the identity has an account, and link its identities.
 */
function destinationOf(channel: CodeMessage['channel'], { type, canonical }: Identity): string | null {
  const addressType = channel === 'sms' ? 'phone' : 'email';
  return type === addressType ? maskAddress({ type: addressType, canonical }) : null;
}
