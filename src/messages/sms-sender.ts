import type { MessageSender } from './message-sender.js';

/** One text message: a code or a notice. */
export interface SmsMessage {
  /** The id of the outbox row (UUID). It is the same for each retry, so that a provider can drop duplicates. */
  id: string;
  /** Such as `sms.code`. */
  kind: string;
  /** E.164. */
  to: string;
  text: string;
  /** Null in a notice. */
  code: string | null;
  /** Null unless the message holds the code of a login. */
  authenticationId: string | null;
  /** RFC 3339 with six fractional digits. */
  expiresAt: string;
}

/** Sends text messages. */
export type SmsSender = MessageSender<SmsMessage>;
