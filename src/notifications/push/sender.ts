import type { PushChannel } from '../../contract/push.js';

/** The content of a push. Its JSON has at most 3000 bytes. */
export interface PushContent {
  readonly id: string;
  readonly notification_type: string;
  readonly notification_key: string | null;
  /** The name of the actor. */
  readonly title: string | null;
  /** The description, which is cut if it is too long. */
  readonly body: string;
  /** The sequence in the inbox; null when it is not in the inbox. */
  readonly sequence: number | null;
}

/** A push that shows nothing: the device removes earlier ones from its screen, because their notifications were read elsewhere. */
export interface ClearedPushes {
  /** The collapse ids of the earlier pushes, at most 50. */
  readonly clears: readonly string[];
}

/** One push to one device. */
export interface PushMessage {
  /** Identifies this push to the provider. All attempts to send the push have the same id. */
  readonly deliveryId: string;
  readonly content: PushContent | ClearedPushes;
  /** A UUID. A push replaces an earlier one of the same id on the device. */
  readonly collapseId: string;
  /** Seconds for which the provider may try to deliver it: a whole number, at least 1. */
  readonly ttl: number;
  readonly urgency: 'normal' | 'high';
}

export type PushOutcome =
  | { readonly outcome: 'sent' }
  /** The token has been invalid since this time, in milliseconds of Unix time. Remove it, unless the device has registered it later. */
  | { readonly outcome: 'gone'; readonly reason: string; readonly since?: number }
  /** A later attempt may succeed. If the provider named a time, do not try again before `afterSeconds` have passed. */
  | {
      readonly outcome: 'retry';
      readonly reason: string;
      readonly afterSeconds?: number | undefined;
      /** True if no answer came in time. */
      readonly isUnanswered?: boolean;
    }
  | { readonly outcome: 'failed'; readonly reason: string };

/**
 * A push service. The `reason` of an outcome contains the status and a code of the service, never the message, the
 * token or a key.
 */
export interface PushSender {
  readonly channel: PushChannel;
  /** The host of a token that names one. A channel with a single service has no such function. */
  hostOf?(token: string): string;
  /** @param token as it is stored; for `web_push` the JSON text of the subscription */
  send(token: string, message: PushMessage): Promise<PushOutcome>;
  close(): Promise<void>;
}
