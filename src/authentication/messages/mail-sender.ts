/** One mail: a code or a notice, as plain text. */
export interface MailMessage {
  /** Id of the outbox row (UUID): the same over every retry. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Null in a notice. */
  readonly code: string | null;
  /** Of a login's code. */
  readonly authenticationId: string | null;
}

/**
 * Sends or throws. What it throws may be logged: never the code, the text or the server's credentials. Where it has the
 * property `permanent`, set to true, the message is not tried again.
 */
export interface MailSender {
  readonly name: string;
  send(message: MailMessage): Promise<void>;
}
