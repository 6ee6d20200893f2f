import type { Config } from '../../config/config.js';
import { snsUrl } from '../../config/sms-settings.js';
import { createConsoleSms } from '../../delivery/console-messages.js';
import type { Outbound } from '../../delivery/outbound.js';
import { createFailover } from '../../delivery/providers/failover.js';
import type { OnHealth } from '../../delivery/providers/provider-health.js';
import { createReceiptUrl, type ReceiptUrl } from '../../delivery/sms/receipt-url.js';
import type { ReceiptReader } from '../../messages/providers/receipts.js';
import type { SmsSender } from '../../messages/sms-sender.js';

/** Where the console provider prints, and whether it may. */
export interface ConsoleOutput {
  readonly print: (line: string) => void;
  /** Why it may not; undefined if it may. */
  readonly refusal: () => string | undefined;
}

type ProviderName = Config['SMS_PROVIDER'][number];

/** Creates the sender of text messages. Undefined without a provider. It loads only the configured providers. */
export async function createSmsSender(
  config: Config,
  outbound: Outbound,
  consoleOutput: ConsoleOutput,
  onHealth?: OnHealth,
): Promise<SmsSender | undefined> {
  if (config.SMS_PROVIDER.length === 0) return undefined;
  const providers: SmsSender[] = [];
  for (const name of config.SMS_PROVIDER)
    providers.push(await createSmsProvider(name, config, outbound, consoleOutput));
  return createFailover({ providers, ...(onHealth && { onHealth }) });
}

/** @throws Error for a provider or settings that the configuration should have refused */
export async function createSmsProvider(
  name: ProviderName,
  config: Config,
  outbound: Outbound,
  consoleOutput: ConsoleOutput,
): Promise<SmsSender> {
  const senders = { fallback: config.SMS_SENDER, rules: config.SMS_SENDERS ?? [] };
  switch (name) {
    case 'console':
      return createConsoleSms(consoleOutput.print, consoleOutput.refusal);
    case 'webhook': {
      const { createWebhookSms } = await import('../../delivery/sms/webhook.js');
      return createWebhookSms({
        url: required(config.SMS_WEBHOOK_URL),
        secret: required(config.SMS_WEBHOOK_SECRET).reveal(),
        outbound,
      });
    }
    case 'twilio': {
      const { createTwilio } = await import('../../delivery/sms/twilio.js');
      return createTwilio({
        accountSid: required(config.TWILIO_ACCOUNT_SID),
        authToken: required(config.TWILIO_AUTH_TOKEN).reveal(),
        url: config.TWILIO_URL,
        senders,
        receiptUrl: receiptUrlOf('twilio', config),
        outbound,
      });
    }
    case 'vonage': {
      const { createVonage } = await import('../../delivery/sms/vonage.js');
      return createVonage({
        applicationId: required(config.VONAGE_APPLICATION_ID),
        privateKey: required(config.VONAGE_PRIVATE_KEY),
        url: config.VONAGE_URL,
        senders,
        receiptUrl: receiptUrlOf('vonage', config),
        outbound,
      });
    }
    case 'sns': {
      const { createSns } = await import('../../delivery/sms/sns.js');
      return createSns({
        region: required(config.SNS_REGION),
        accessKeyId: required(config.SNS_ACCESS_KEY_ID),
        secretAccessKey: required(config.SNS_SECRET_ACCESS_KEY).reveal(),
        url: snsUrl(config),
        senders,
        outbound,
      });
    }
    default:
      throw new Error(`unknown SMS_PROVIDER ${String(name satisfies never)}`);
  }
}

/** The URL for the receipts of a provider. Undefined if it sends none that could be verified, or cannot reach the service. */
export function receiptUrlOf(provider: ProviderName, config: Config): ReceiptUrl | undefined {
  const { PUBLIC_URL: url, ALLOW_PRIVATE_NETWORK_TARGETS: allowsHttp, VONAGE_SIGNATURE_SECRET: secret } = config;
  if (url === undefined || !(allowsHttp || url.startsWith('https:'))) return undefined;
  const isVerifiable = provider === 'twilio' || (provider === 'vonage' && secret !== undefined);
  return isVerifiable ? createReceiptUrl(url, provider) : undefined;
}

/** Creates the readers of the receipts of the configured providers. */
export async function createReceiptReaders(config: Config): Promise<ReceiptReader[]> {
  const readers: ReceiptReader[] = [];
  for (const name of config.SMS_PROVIDER) {
    const receiptUrl = receiptUrlOf(name, config);
    if (receiptUrl === undefined) continue;
    if (name === 'vonage') {
      const { createVonageReceipts } = await import('../../delivery/sms/vonage.js');
      readers.push(createVonageReceipts(required(config.VONAGE_SIGNATURE_SECRET).reveal()));
    } else {
      const { createTwilioReceipts } = await import('../../delivery/sms/twilio.js');
      const accountSid = required(config.TWILIO_ACCOUNT_SID);
      readers.push(
        createTwilioReceipts({ accountSid, authToken: required(config.TWILIO_AUTH_TOKEN).reveal(), receiptUrl }),
      );
    }
  }
  return readers;
}

/** A setting that the check of the configuration demands. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the configuration was not checked');
  return value;
}
