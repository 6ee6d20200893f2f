import type { Transaction } from '../database/database.js';
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
  /** Further headers, such as List-Unsubscribe. Their values are ASCII. */
  readonly headers?: Readonly<Record<string, string>>;
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

/** Remembers the mails that providers have accepted, so that their later reports can be matched. */
export interface AcceptedMails {
  /**
   * Stores that a provider has accepted a mail, so that its reports can be matched. Call it before the state of the mail
   * changes, in the same transaction.
   */
  recordAccepted(tx: Transaction, mail: AcceptedMail): Promise<void>;
  /** Removes what `recordAccepted` has stored: the mail belongs to no user any more. */
  forget(tx: Transaction, mail: AcceptedMail): Promise<void>;
  /** Applies the reports that came before the mail was recorded. Call it after the state of the mail has changed. */
  applyEarly(tx: Transaction, mail: AcceptedMail): Promise<void>;
}

/** A mail that a provider has accepted. */
export interface AcceptedMail {
  readonly userId: string;
  readonly id: string;
  /** The notification of a step. Null: the mail is a message of the outbox. */
  readonly notificationId: string | null;
  readonly provider: string;
  readonly reference: string;
  /** Canonical. */
  readonly address: string;
}
