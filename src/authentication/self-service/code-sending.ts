import type { MessageChannel } from '../../contract/administration.js';
import type { Transaction } from '../../database/database.js';
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
   * @returns undefined when it may not be sent. The client does not learn that: it would show who else asked.
   * @throws Problem `too_many_requests`, the same for addresses that name nobody.
   */
  admit(asked: AskedCode): Promise<AdmittedCode | undefined>;
  /** Writes a message in the transaction that begins its challenge. Without a recipient it is dropped later. */
  send(tx: Transaction, message: CodeToSend): Promise<void>;
}

/** A code that may be sent. */
export interface AdmittedCode {
  /** How many codes the client's address has asked for lately. */
  readonly turn: number;
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
  /** Of a code that is asked for without a session: see `AdmittedCode`. What a session asks for has the first turn. */
  readonly turn?: number | undefined;
  /** Seconds; without: as long as a login's code. */
  readonly lifetime?: number;
  /** What its text holds beside the code. */
  readonly values?: Readonly<Record<string, string>>;
}

export interface CodeSendingOptions {
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  /** Those with a provider. */
  readonly channels: readonly MessageChannel[];
  /** To be called when a message was written and committed. */
  readonly written: () => void;
}

export function createCodeSending({ keys, limits, channels, written }: CodeSendingOptions): CodeSending {
  return {
    reaches: (type) => channels.includes(channelOf[type]),
    async admit({ userId, address, recipient, knownDevice, from }) {
      const turn = await limits.messageFrom(from);
      await limits.messageOf(identityDigest(address), knownDevice);
      const channel = address.type === 'email' ? 'email' : 'sms';
      const maySend = await limits.messageTo({ userId, channel, identity: address, address: recipient, knownDevice });
      return maySend ? { turn } : undefined;
    },
    async send(tx, { type, ...message }) {
      await enqueueCode(tx, keys, { lifetime: codeLifetime, ...message, channel: channelOf[type] });
      tx.onCommit(written);
    },
  };
}
