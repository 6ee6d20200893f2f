/** One text message: a code or a notice. */
export interface SmsMessage {
  /** Id of the outbox row (UUID): the same over every retry, so that a provider can drop repeats. */
  id: string;
  /** `sms.code` and others. */
  kind: string;
  /** E.164. */
  to: string;
  text: string;
  /** Null in a notice. */
  code: string | null;
  /** Of a login's code. */
  authenticationId: string | null;
  /** RFC 3339 with six fractional digits. */
  expiresAt: string;
}

/** Sends or throws. What it throws may be logged: never the code, the text or a provider's secret. */
export interface SmsSender {
  readonly name: string;
  send(message: SmsMessage): Promise<void>;
}
