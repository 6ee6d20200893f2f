import type { Config } from '../config/config.js';
import { createOutbound } from '../delivery/outbound.js';
import { newId } from '../lib/ids.js';
import type { AcceptedMessage } from '../messages/message-sender.js';
import { createSmsProvider, createSmsSender } from './domains/sms.js';

export interface TestMessage {
  /** E.164. */
  readonly to: string;
  /** One of SMS_PROVIDER. Undefined: the first of them that accepts the message. */
  readonly provider: Config['SMS_PROVIDER'][number] | undefined;
  /** Prints the message of the provider `console`. */
  readonly print: (line: string) => void;
}

/** The lifetime of the message, in milliseconds. */
const lifetime = 600_000;

/**
 * Sends a text message without a code. Does not use the queue.
 * @throws Error if no provider has accepted it
 */
export async function sendTestMessage(config: Config, { to, provider, print }: TestMessage): Promise<AcceptedMessage> {
  // The person who runs the command sees the message, which has no code of a user.
  const output = { print, refusal: () => undefined };
  const outbound = createOutbound({ allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS });
  try {
    const sender =
      provider === undefined
        ? await createSmsSender(config, outbound, output)
        : await createSmsProvider(provider, config, outbound, output);
    if (sender === undefined) throw new Error('SMS_PROVIDER=none: no provider is configured');
    return await sender.send({
      id: newId(),
      kind: 'sms.test',
      to,
      text: `This is a test message of ${config.APP_NAME}.`,
      code: null,
      authenticationId: null,
      // Six fractional digits, as the database writes times.
      expiresAt: new Date(Date.now() + lifetime).toISOString().replace('Z', '000Z'),
    });
  } finally {
    await outbound.close();
  }
}
