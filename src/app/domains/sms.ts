import type { Config } from '../../config/config.js';
import { snsUrl } from '../../config/sms-settings.js';
import { createConsoleSms } from '../../delivery/console-messages.js';
import type { Outbound } from '../../delivery/outbound.js';
import { createFailover } from '../../delivery/sms/failover.js';
import type { SmsSender } from '../../messages/sms-sender.js';

type ProviderName = Config['SMS_PROVIDER'][number];

/** Creates the sender of text messages. Undefined without a provider. It loads only the configured providers. */
export async function createSmsSender(
  config: Config,
  outbound: Outbound,
  print: (line: string) => void,
): Promise<SmsSender | undefined> {
  if (config.SMS_PROVIDER.length === 0) return undefined;
  const providers: SmsSender[] = [];
  for (const name of config.SMS_PROVIDER) providers.push(await createSmsProvider(name, config, outbound, print));
  return createFailover({ providers });
}

/** @throws Error for a provider or settings that the configuration should have refused */
export async function createSmsProvider(
  name: ProviderName,
  config: Config,
  outbound: Outbound,
  print: (line: string) => void,
): Promise<SmsSender> {
  const senders = { fallback: config.SMS_SENDER, rules: config.SMS_SENDERS ?? [] };
  switch (name) {
    case 'console':
      return createConsoleSms(print);
    case 'webhook': {
      const { createWebhookSms } = await import('../../delivery/sms/webhook.js');
      return createWebhookSms({
        url: checked(config.SMS_WEBHOOK_URL),
        secret: checked(config.SMS_WEBHOOK_SECRET).reveal(),
        outbound,
      });
    }
    case 'twilio': {
      const { createTwilio } = await import('../../delivery/sms/twilio.js');
      return createTwilio({
        accountSid: checked(config.TWILIO_ACCOUNT_SID),
        authToken: checked(config.TWILIO_AUTH_TOKEN).reveal(),
        url: config.TWILIO_URL,
        senders,
        outbound,
      });
    }
    case 'vonage': {
      const { createVonage } = await import('../../delivery/sms/vonage.js');
      return createVonage({
        applicationId: checked(config.VONAGE_APPLICATION_ID),
        privateKey: checked(config.VONAGE_PRIVATE_KEY),
        url: config.VONAGE_URL,
        senders,
        outbound,
      });
    }
    case 'sns': {
      const { createSns } = await import('../../delivery/sms/sns.js');
      return createSns({
        region: checked(config.SNS_REGION),
        accessKeyId: checked(config.SNS_ACCESS_KEY_ID),
        secretAccessKey: checked(config.SNS_SECRET_ACCESS_KEY).reveal(),
        url: snsUrl(config),
        senders,
        outbound,
      });
    }
    default:
      throw new Error(`unknown SMS_PROVIDER ${String(name satisfies never)}`);
  }
}

function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the configuration was not checked');
  return value;
}
