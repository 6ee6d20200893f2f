import type { MessageSender } from './message-sender.js';

/** One mail. */
export interface MailMessage {
  /** The id of the message (UUID). It is the same for each retry: `Message-ID` and the key of the provider come from it. */
  readonly id: string;
  /** Such as `email.code`. */
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same text as HTML. It may show the logo by its content id. */
  readonly html: string;
  /** Null if the mail contains no code. */
  readonly code: string | null;
  /** Null unless the message holds the code of a login. */
  readonly authenticationId: string | null;
  /** The notification of a step. Absent in codes and notices. */
  readonly notificationId?: string;
  /** RFC 3339 with six fractional digits. */
  readonly expiresAt: string;
}

/** Sends mails. An error with `isUnknownMailbox: true` says that the address does not exist (a hard bounce). */
export type MailSender = MessageSender<MailMessage>;
