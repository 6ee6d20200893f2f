/** One text message with a code. */
export interface SmsMessage {
  /** Id of the outbox row (UUID): the same over every retry, so that a provider can drop repeats. */
  id: string;
  /** E.164. */
  to: string;
  text: string;
  code: string;
  authenticationId: string;
  /** RFC 3339 with six fractional digits. */
  expiresAt: string;
}

/** Sends or throws. What it throws may be logged: never the code, the text or a provider's secret. */
export interface SmsSender {
  readonly name: string;
  send(message: SmsMessage): Promise<void>;
}
