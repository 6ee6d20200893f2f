import type { MessageChannel } from '../../contract/administration.js';
import type { Queryable } from '../../database/database.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { Identity } from '../identities/identity.js';
import { identityDigest } from '../identities/identity-digest.js';
import { enqueueCode } from '../messages/enqueue.js';
import type { CodeKind } from '../messages/kinds.js';
import type { RequestLimits } from '../request-limits.js';
import { codeLifetime } from '../secrets/codes.js';

/** How a code reaches an address of its kind. */
const channelOf = { email: 'email', phone: 'sms' } as const;
export const addressTypes = ['email', 'phone'] as const;
export type AddressType = (typeof addressTypes)[number];

/** The sending of the codes of self-service, within the limits that logins have too. */
export interface CodeSending {
  /** Whether codes can be sent to addresses of this type here. */
  reaches(type: AddressType): boolean;
  /**
   * Counts a code that is asked for.
   * @returns whether it may be sent. That it may not is never told: it would show who else asked.
   * @throws Problem `too_many_requests`, the same for addresses that name nobody.
   */
  admit(asked: AskedCode): Promise<boolean>;
  /** Queues a message in the transaction that begins its challenge. Without a recipient it is dropped by the queue. */
  send(tx: Queryable, message: CodeToSend): Promise<void>;
}

/** Who asks for a code to which address. */
export interface AskedCode {
  /** The user, or the stand-in of an address that names nobody. */
  readonly userId: string;
  readonly address: Identity;
  /** Undefined: nobody is reached by the address, and the same is counted. */
  readonly recipient: string | undefined;
  /** The device that the user was approved on before: it is counted apart, so that strangers cannot use up the owner's. */
  readonly knownDevice: string | undefined;
  /** The client's. */
  readonly from: string | undefined;
}

export interface CodeToSend {
  readonly userId: string;
  readonly type: AddressType;
  readonly recipient: string | undefined;
  readonly kind: CodeKind;
  /** Undefined for what tells something and holds no code. */
  readonly code: string | undefined;
  /** The language to write in (BCP 47), for who is no user yet. */
  readonly locale?: string | undefined;
}

export interface CodeSendingOptions {
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  /** Those with a provider. */
  readonly channels: readonly MessageChannel[];
}

export function createCodeSending({ keys, limits, channels }: CodeSendingOptions): CodeSending {
  return {
    reaches: (type) => channels.includes(channelOf[type]),
    async admit({ userId, address, recipient, knownDevice, from }) {
      await limits.messageFrom(from);
      await limits.messageOf(identityDigest(address), knownDevice);
      const channel = address.type === 'email' ? 'email' : 'sms';
      return limits.messageTo({ userId, channel, identity: address, address: recipient, knownDevice });
    },
    async send(tx, { type, ...message }) {
      await enqueueCode(tx, keys, { ...message, channel: channelOf[type], lifetime: codeLifetime });
    },
  };
}
