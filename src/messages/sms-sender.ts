import type { MessageSender } from './message-sender.js';

/** One text message: a code, a notice or a step of a notification. */
export interface SmsMessage {
  /** The id of the message (UUID). It is the same for each retry, so that a provider can drop duplicates. */
  id: string;
  /** Such as `sms.code`. */
  kind: string;
  /** What the receipts of the provider name. Absent: the id. */
  receiptId?: string;
  /** E.164. */
  to: string;
  text: string;
  /** Null if the message contains no code. */
  code: string | null;
  /** Null unless the message holds the code of a login. */
  authenticationId: string | null;
  /** The notification of a step. Absent in codes and notices. */
  notificationId?: string;
  /** RFC 3339 with six fractional digits. */
  expiresAt: string;
}

/** Sends text messages. */
export type SmsSender = MessageSender<SmsMessage>;
