/** One mail: a code or a notice. */
export interface MailMessage {
  /** The id of the outbox row (UUID). It is the same for each retry. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same text as HTML. It may show the logo by its content id. */
  readonly html: string;
  /** Null in a notice. */
  readonly code: string | null;
  /** Null unless the message holds the code of a login. */
  readonly authenticationId: string | null;
}

/**
 * Sends mails. `send` throws when the mail was not accepted. Its errors are logged, so they must not contain the code, the
 * text or the server's credentials. An error with the property `permanent: true` prevents retries.
 */
export interface MailSender {
  readonly name: string;
  send(message: MailMessage): Promise<void>;
}
