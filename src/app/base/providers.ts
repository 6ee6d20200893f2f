import type { Config } from '../../config/config.js';
import { mailProvider } from '../../config/contradictions.js';
import type { MessageProvider } from '../../contract/operation/system.js';
import type { Database } from '../../database/database.js';
import type { OnHealth } from '../../delivery/provider-health.js';
import { storeProviderHealth } from '../../messages/providers/health.js';
import type { Logger } from './log.js';

/** A provider of messages or pushes that is configured. No two that can fail have the same name. */
export type ConfiguredProvider = Pick<MessageProvider, 'channel' | 'name'>;

/** The configured providers: those of SMS in their order, mail, and the push services. */
export function configuredProviders(config: Config): ConfiguredProvider[] {
  const mail = mailProvider(config);
  const pushServices = { apns: config.APNS_KEY, fcm: config.FCM_SERVICE_ACCOUNT, web_push: config.VAPID_PUBLIC_KEY };
  return [
    ...config.SMS_PROVIDER.map((name) => ({ channel: 'sms' as const, name })),
    ...(mail === 'none' ? [] : [{ channel: 'email' as const, name: mail }]),
    ...Object.entries(pushServices).flatMap(([name, setting]) =>
      setting === undefined ? [] : [{ channel: 'push' as const, name }],
    ),
  ];
}

/** Logs and stores whether providers work, one report after the other: the stored state must be that of the last one. */
export function createHealthRecorder({ database, log }: { database: Database; log: Logger }): OnHealth {
  let last = Promise.resolve();
  return ({ provider, error }) => {
    if (error !== undefined) log.warn({ provider, error }, 'a provider of messages fails');
    last = last
      .then(() => storeProviderHealth(database, provider, error))
      .catch((cause) => log.warn({ err: cause, provider }, 'the state of a provider could not be stored'));
  };
}
