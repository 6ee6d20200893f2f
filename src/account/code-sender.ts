import type { SentCode } from '../contract/account/code.js';
import type { MessageChannel } from '../contract/administration.js';
import type { StartedChallenge } from '../credentials/challenges.js';
import { codeLifetime } from '../credentials/codes.js';
import type { Transaction } from '../database/database.js';
import { type Identity, identityDigest, maskAddress } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { enqueueCode, type NewCode } from '../messages/enqueue.js';

/** The channel of each type of address. */
const channelOf = { email: 'email', phone: 'sms' } as const;
export const addressTypes = ['email', 'phone'] as const;
export type AddressType = (typeof addressTypes)[number];

/** Sends the codes of self-service. The limits of login codes apply. */
export interface CodeSender {
  /** Whether this installation can send codes to addresses of this type. */
  supports(type: AddressType): boolean;
  /**
   * Counts a requested code.
   * @throws Problem `too_many_requests`, also for addresses without an account
   */
  countRequest(request: CodeRequest): Promise<CountedCode>;
  /** Queues a message in the transaction that inserts its challenge. A message without a recipient is dropped later. */
  send(tx: Transaction, message: CodeToSend): Promise<void>;
}

/** What the client may see of a code that was sent without a session: nothing that depends on an account. */
export function sentCode(
  started: StartedChallenge,
  address: Identity & { readonly type: AddressType },
  { resendAt }: Pick<CountedCode, 'resendAt'>,
): SentCode {
  return { ...started, destination: maskAddress(address), resend_at: resendAt };
}

/** A code that was counted. */
export interface CountedCode {
  /** Undefined if a limit refuses the code. Do not show this to the client: it would reveal the requests of other people. */
  readonly recipient: string | undefined;
  /** When the next code may be requested. */
  readonly resendAt: string;
  /** How many codes the client's address requested recently. */
  readonly recentCodes: number;
}

/** A request for a code. */
export interface CodeRequest {
  /** The user, or the derived id of an address without an account. */
  readonly userId: string;
  readonly address: Identity;
  /** Undefined if no message will be sent. The request is counted in any case. */
  readonly recipient: string | undefined;
  /** A device of an earlier approved login. It has a separate limit, so other people cannot use up the owner's limit. */
  readonly knownDevice: string | undefined;
  /** The client's IP address. Null: an operator requests the code, and no limit of an address holds. */
  readonly clientAddress: string | undefined | null;
}

/** A message of self-service, with or without a code. */
export interface CodeToSend extends Omit<NewCode, 'channel' | 'lifetime'> {
  readonly type: AddressType;
  /** Seconds; by default the lifetime of a login code. */
  readonly lifetime?: number;
}

export interface CodeSenderOptions {
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  /** The channels with a provider. */
  readonly channels: readonly MessageChannel[];
  /** Called after a message was committed. */
  readonly onQueued: () => void;
}

/** @param options.onQueued called after the transaction of a message has committed */
export function createCodeSender({ keys, limits, channels, onQueued }: CodeSenderOptions): CodeSender {
  return {
    supports: (type) => channels.includes(channelOf[type]),
    countRequest: ({ userId, address, recipient, knownDevice, clientAddress }) =>
      limits.inCodeQueue({ userId, clientAddress }, async () => {
        const { mayBeSent, ...counted } = await limits.countCode({
          clientAddress,
          identityDigest: identityDigest(address),
          userId,
          channel: address.type === 'email' ? 'email' : 'sms',
          identity: address,
          address: recipient,
          knownDevice,
        });
        return { ...counted, recipient: mayBeSent ? recipient : undefined };
      }),
    async send(tx, { type, ...message }) {
      await enqueueCode(tx, keys, { lifetime: codeLifetime, ...message, channel: channelOf[type] });
      tx.onCommit(onQueued);
    },
  };
}
