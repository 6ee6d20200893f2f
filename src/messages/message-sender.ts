/** A message that a provider has accepted. */
export interface AcceptedMessage {
  /** The name of the provider. */
  readonly provider: string;
  /** The id that the provider gave to the message; null without one. */
  readonly reference: string | null;
}

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
