import { prepared, type Queryable } from '../database/database.js';
import { newId } from '../lib/ids.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import { messageAttempts } from './code-messages.js';
import { codeLifetime } from './codes.js';
import type { Identity } from './identity.js';
import { identityDigest } from './identity-digest.js';
import type { RequestLimits } from './request-limits.js';

/** How a code reaches an address of its kind. */
const channelOf = { email: 'email', phone: 'sms' } as const;
export type AddressType = keyof typeof channelOf;
export type Channel = (typeof channelOf)[AddressType];

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
  readonly code: string;
}

/** What a code is for, which its message says. */
export type CodeKind = 'proof_code' | 'address_code' | 'recovery_code' | 'registration_code';

export interface CodeSendingOptions {
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  /** Those with a provider. */
  readonly channels: readonly Channel[];
}

const enqueue = prepared(
  'outbox_enqueue',
  `with message as (
     insert into outbox (user_id, id, channel, kind, recipient, state, sealed_code, expires_at, created_at, updated_at)
     select $1, $2, $3, $4, $5, 'queued', $6, now + interval '${codeLifetime} seconds', now, now from (select db_now() as now) clock
     returning user_id, id)
   select graphile_worker.add_job('message.send', json_build_object('user_id', user_id, 'id', id), max_attempts => ${messageAttempts})
   from message`,
);

export function createCodeSending({ keys, limits, channels }: CodeSendingOptions): CodeSending {
  return {
    reaches: (type) => channels.includes(channelOf[type]),
    async admit({ userId, address, recipient, knownDevice, from }) {
      await limits.messageFrom(from);
      await limits.messageOf(identityDigest(address), knownDevice);
      return limits.messageTo({ userId, address: recipient, knownDevice });
    },
    async send(tx, { userId, type, kind, recipient, code }) {
      const channel = channelOf[type];
      const id = newId();
      const sealed = keys.seal(code, id);
      await tx.query(enqueue, [userId, id, channel, `${channel}.${kind}`, recipient ?? null, sealed]);
    },
  };
}
