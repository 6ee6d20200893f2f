import type { RenderedMessage } from '../../contract/category.js';
import type { Transaction } from '../../database/database.js';
import type { MessageChannel } from './queue.js';

/** The mail or SMS of a notification, ready to be handed over. */
export interface StepMessage {
  readonly userId: string;
  /** The id of the delivery, which all attempts share. `Message-ID` and the key for the provider are made from it. */
  readonly id: string;
  readonly notificationId: string;
  /** The name of the category. */
  readonly category: string;
  readonly isCritical: boolean;
  /** The canonical address. */
  readonly to: string;
  /** BCP 47; null: not known. */
  readonly locale: string | null;
  readonly content: RenderedMessage;
  /** The link of the notification; null: it has none. */
  readonly url: string | null;
  /** RFC 3339 with six fractional digits. */
  readonly expiresAt: string;
}

/** A message that a provider has accepted. */
export interface AcceptedStep {
  readonly provider: string;
  /** The id that the provider gave the message; null without one. */
  readonly reference: string | null;
}

export type StepOutcome =
  | ({ readonly outcome: 'sent' } & AcceptedStep)
  | { readonly outcome: 'retry'; readonly error: string; readonly afterSeconds?: number | undefined }
  /** No provider delivers it. */
  | {
      readonly outcome: 'failed';
      readonly reason: 'recipient_refused' | 'no_provider';
      readonly error: string;
      readonly provider?: string | undefined;
      /** Whether the address does not exist. */
      readonly isUnknownMailbox: boolean;
    };

/** A channel of steps. The composition root implements it. `error` contains no part of the message and no secret. */
export interface StepSender {
  readonly channel: MessageChannel;
  /** The seconds after which to check a paused channel again; 0 if it is not paused. */
  heldFor(): number;
  /** Milliseconds to wait before the next message may be handed over; 0: none. */
  pauseBefore(message: Pick<StepMessage, 'userId' | 'to'>): Promise<number>;
  send(message: StepMessage): Promise<StepOutcome>;
  /**
   * Stores an accepted message, so that reports of its provider find it.
   * @param store changes the state of the delivery; false: the delivery is gone
   */
  recordAccepted(
    tx: Transaction,
    message: StepMessage,
    accepted: AcceptedStep,
    store: () => Promise<boolean>,
  ): Promise<void>;
  /** Stores that the address does not exist, so that nothing is sent to it any more. */
  recordUnknownMailbox(
    tx: Transaction,
    message: StepMessage,
    provider: string,
    store: () => Promise<boolean>,
  ): Promise<void>;
}
