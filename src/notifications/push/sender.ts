import type { PushChannel } from '../../contract/push.js';

/** What a push carries. With everything in it, its JSON is at most 3000 bytes. */
export interface PushContent {
  readonly id: string;
  readonly notification_type: string;
  readonly notification_key: string | null;
  /** Who acted. */
  readonly title: string | null;
  /** The description, cut to what fits. */
  readonly body: string;
  /** In the inbox; null of what is not there. */
  readonly sequence: number | null;
}

/** One push to one device. */
export interface PushMessage {
  /** Names this push to the provider, over every attempt. */
  readonly deliveryId: string;
  readonly content: PushContent;
  /** Whole seconds for which it is worth delivering, at least 1. */
  readonly ttl: number;
  readonly urgency: 'normal' | 'high';
}

export type PushOutcome =
  | { readonly outcome: 'sent' }
  /** The token is no more: it is to be removed. */
  | { readonly outcome: 'gone'; readonly reason: string }
  /** It may succeed later; not before `afterSeconds`, where the provider said so. */
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterSeconds?: number | undefined }
  | { readonly outcome: 'failed'; readonly reason: string };

/** A push service. Reasons hold the status and a code of the service, nothing of the message, the token or a key. */
export interface PushSender {
  readonly channel: PushChannel;
  /** @param token as it is kept; for `web_push` the subscription's JSON text */
  send(token: string, message: PushMessage): Promise<PushOutcome>;
  close(): Promise<void>;
}
