import type { Config } from '../../config/config.js';
import { mailProviders } from '../../config/contradictions.js';
import type { MessageProvider } from '../../contract/operation/system.js';
import { type PushChannel, pushChannels } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import type { OnHealth } from '../../delivery/providers/provider-health.js';
import { storeProviderHealth } from '../../messages/providers/health.js';
import type { Logger } from './log.js';

/** A provider of messages or pushes that is configured. */
export interface ConfiguredProvider extends Pick<MessageProvider, 'channel' | 'name'> {
  /** The name under which its failures are stored. No two that can fail have the same. */
  readonly healthName: string;
}

/** SMS and mail can both have a provider `webhook`. */
export const mailHealthName = (name: string) => (name === 'webhook' ? 'mail_webhook' : name);

/** The push channels that are configured. */
export function configuredPushChannels(config: Config): PushChannel[] {
  const settings = { apns: config.APNS_KEY, fcm: config.FCM_SERVICE_ACCOUNT, web_push: config.VAPID_PUBLIC_KEY };
  return pushChannels.filter((channel) => settings[channel] !== undefined);
}

/** The configured providers: those of SMS in their order, mail, and the push services. */
export function configuredProviders(config: Config): ConfiguredProvider[] {
  return [
    ...config.SMS_PROVIDER.map((name) => ({ channel: 'sms' as const, name, healthName: name })),
    ...mailProviders(config).map((name) => ({ channel: 'email' as const, name, healthName: mailHealthName(name) })),
    ...configuredPushChannels(config).map((name) => ({ channel: 'push' as const, name, healthName: name })),
  ];
}

/** Logs and stores whether providers work, one report after the other: the stored state must be that of the last one. */
export function createHealthRecorder(database: Database, log: Logger): OnHealth {
  let last = Promise.resolve();
  return ({ provider, error }) => {
    if (error !== undefined) log.warn({ provider, error }, 'a provider of messages fails');
    last = last
      .then(() => storeProviderHealth(database, provider, error))
      .catch((cause) => log.warn({ err: cause, provider }, 'the state of a provider could not be stored'));
  };
}
