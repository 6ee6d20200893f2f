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

/** A message that a provider has accepted. */
export interface AcceptedSms {
  /** The name of the provider. */
  readonly provider: string;
  /** The id that the provider gave to the message; null without one. */
  readonly reference: string | null;
}

/**
 * Sends text messages. `send` throws when the message was not accepted. An error with `permanent: true` means that no
 * retry can succeed, and `provider` names the provider that failed. Errors are logged, so they must not contain the code,
 * the text or a secret of the provider.
 */
export interface SmsSender {
  /** The name of the provider; of several, all names joined by commas. */
  readonly name: string;
  send(message: SmsMessage): Promise<AcceptedSms>;
}
