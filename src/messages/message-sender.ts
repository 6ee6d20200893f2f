/** A message that a provider has accepted. */
export interface AcceptedMessage {
  /** The name of the provider. */
  readonly provider: string;
  /** The id that the provider gave to the message; null without one. */
  readonly reference: string | null;
}

/**
 * Whether a text can be the id that a provider gave to a message. Others are not stored: PostgreSQL refuses some of them, and the
 * message, which was accepted, would be sent again.
 */
export const isReference = (text: string): boolean => /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(text);

/**
 * Sends messages of one channel. `send` throws when the message was not accepted. An error with `permanent: true` means that
 * no retry can succeed, and `provider` names the provider that failed. Errors are logged, so they must not contain the code,
 * the text or a secret of the provider.
 */
export interface MessageSender<Message> {
  /** The name of the provider; of several, all names joined by commas. */
  readonly name: string;
  send(message: Message): Promise<AcceptedMessage>;
}
