import type { Config } from '../../config/config.js';
import type { PushChannel } from '../../contract/push.js';
import { type Relay, startRelay } from '../../database/relay.js';
import { withPushHealth } from '../../delivery/providers/provider-health.js';
import { createPushSenders, type PushSettings } from '../../delivery/push/senders.js';
import type { JobGroup } from '../../delivery/queue.js';
import { deletePushToken, findPushTarget, findReachableDevices, listDeviceStates } from '../../devices/push-devices.js';
import { createPushTokens, type DevicePushTokens } from '../../devices/push-tokens.js';
import type { KnownCategories } from '../../notifications/categories/categories.js';
import type { Channels } from '../../notifications/channels/channels.js';
import type { AttemptJob } from '../../notifications/deliveries/jobs.js';
import { notificationFilterFields } from '../../notifications/inbox/filter-fields.js';
import type { OnRead } from '../../notifications/inbox/read-position.js';
import { createCallLimits, maxCalls } from '../../notifications/push/call-limits.js';
import { type ClearJob, clearLater, clearTask, createClearing } from '../../notifications/push/clear.js';
import { sendTask } from '../../notifications/push/deliveries.js';
import type { PushDevices } from '../../notifications/push/devices.js';
import { fanOutPushes } from '../../notifications/push/fan-out.js';
import { type PushedNotice, pushNotice } from '../../notifications/push/notice.js';
import { createPush, type Push } from '../../notifications/push/push.js';
import { createPushSending } from '../../notifications/push/send.js';
import type { Base } from '../base/base.js';

type Task = (payload: unknown) => Promise<void>;

/** Push notifications by Web Push, FCM and APNs. */
export interface PushDomain {
  /** Call it after a notification was published and committed. Undefined if no channel is configured. */
  readonly onPublished: (() => void) | undefined;
  /** Call it in the transaction in which a user reads notifications. Undefined without PUSH_CLEAR. */
  readonly onRead: OnRead | undefined;
  readonly push: Push;
  readonly tokens: DevicePushTokens;
  /** Pushes a notice about the account itself. */
  pushNotice(tx: Parameters<typeof pushNotice>[0], notice: PushedNotice): Promise<void>;
  /** The jobs of each channel. */
  readonly jobGroups: readonly JobGroup[];
  /** Starts the fan-out of published notifications to devices. */
  startRelay(): { stop(): Promise<void> };
}

/**
 * How many pushes of one channel an instance sends at a time. A push service that hangs blocks its own channel only. Users
 * choose the hosts of `web_push`, so it has more than one host may take.
 */
const concurrency: Readonly<Record<PushChannel, number>> = { apns: 16, fcm: 16, web_push: 2 * maxCalls.host };

/** Creates push for the configured channels. */
export async function createPushDomain(
  {
    config,
    log,
    lifecycle,
    outbound,
    isAllowedOut,
    checkUrl,
    onHealth,
    database,
    tracing,
    meters,
    statistics: { counters },
  }: Base,
  categories: KnownCategories,
  { isPaused, waitOf }: Pick<Channels, 'isPaused' | 'waitOf'>,
): Promise<PushDomain> {
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  const senderOptions = { outbound, allowPrivateNetworkTargets, tracing };
  const senders = (await createPushSenders(pushSettings(config), senderOptions)).map((sender) =>
    withPushHealth(sender, { onHealth }),
  );
  lifecycle.add(senders, async () => {
    await Promise.all(senders.map((sender) => sender.close()));
  });
  const channels = senders.map(({ channel }) => channel);
  const devices: PushDevices = {
    reachable: (handle, userIds, within) =>
      findReachableDevices(handle, { userIds, channels: within, perUser: config.MAX_DEVICES }),
    target: findPushTarget,
    forget: deletePushToken,
    states: listDeviceStates,
  };
  const options = { devices, channels, categories, fields: notificationFilterFields(config.NOTIFICATION_TYPES) };
  const send = createPushSending({
    ...options,
    database,
    senders,
    ttl: config.PUSH_TTL,
    urgency: config.PUSH_URGENCY,
    app: config.APP_NAME,
    timeZone: config.DEFAULT_TIME_ZONE,
    isAllowedOut,
    heldFor: () => waitOf('push'),
    onError: (error, channel) => log.error({ err: error, channel }, 'a push could not be sent'),
    counters,
    onSent: meters?.deliveryLag.observe,
    calls: createCallLimits(),
  });
  const tasksOf = (channel: PushChannel): Record<string, Task> => ({
    [sendTask(channel)]: (job) => send(channel, job as AttemptJob),
  });
  const clears = config.PUSH_CLEAR === 'on' && channels.length > 0;
  const clear = createClearing(database);
  let relay: Relay | undefined;

  return {
    onPublished: channels.length === 0 ? undefined : () => relay?.notify(),
    onRead: clears ? clearLater : undefined,
    push: createPush({
      ...options,
      database,
      publicKey: config.VAPID_PUBLIC_KEY,
    }),
    tokens: createPushTokens({
      database,
      checkUrl,
      channels,
    }),
    pushNotice: (tx, notice) => pushNotice(tx, options, notice),
    jobGroups: channels.map((channel, place) => ({
      // Not a group of its own, because each needs a connection.
      tasks: { ...tasksOf(channel), ...(place === 0 && { [clearTask]: (job: unknown) => clear(job as ClearJob) }) },
      concurrency: concurrency[channel],
    })),
    startRelay() {
      if (channels.length === 0) return { stop: async () => undefined };
      relay = startRelay(
        async () => !isPaused('push') && fanOutPushes(database, { ...options, counters }),
        (error) => log.warn({ err: error }, 'the push fan-out failed'),
      );
      return relay;
    },
  };
}

/** The settings of each channel. `readConfig` has checked that either all settings of a channel are set, or none. */
function pushSettings(config: Config): PushSettings {
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT: subject } = config;
  const { APNS_KEY: key, APNS_KEY_ID: keyId, APNS_TEAM_ID: teamId, APNS_TOPIC: topic } = config;
  const { FCM_SERVICE_ACCOUNT: account, FCM_URL } = config;
  const apple = config.APNS_PRODUCTION ? 'https://api.push.apple.com' : 'https://api.sandbox.push.apple.com';
  return {
    webPush: publicKey && privateKey && subject ? { publicKey, privateKey: privateKey.reveal(), subject } : undefined,
    fcm: account && { account, url: FCM_URL },
    apns: key && keyId && teamId && topic ? { key, keyId, teamId, topic, url: config.APNS_URL ?? apple } : undefined,
  };
}
