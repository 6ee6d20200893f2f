import { deviceStates, forgetPushToken, pushTarget, reachableDevices } from './authentication/devices/push-devices.js';
import { createPushTokens, type DevicePushTokens } from './authentication/devices/push-tokens.js';
import type { Config } from './config.js';
import type { PushChannel } from './contract/push.js';
import type { Database, Queryable } from './database/database.js';
import { type Relay, startRelay } from './database/relay.js';
import { checkTargetUrl, type Outbound } from './delivery/outbound.js';
import { createPushSenders, type PushSettings } from './delivery/push/senders.js';
import type { Line } from './delivery/queue.js';
import type { Logger } from './log.js';
import { notificationFilterFields } from './notifications/filter-fields.js';
import { derivePushes, type PushJob, sendTask } from './notifications/push/derive.js';
import type { PushDevices } from './notifications/push/devices.js';
import { type PushedNotice, pushNotice } from './notifications/push/notice.js';
import { createPush, type Push } from './notifications/push/push.js';
import { createPushSending } from './notifications/push/send.js';

type Task = (payload: unknown) => Promise<void>;

/** Push, put together: the part of the composition root that nothing else needs. */
export interface PushParts {
  /** To be called when something was published and committed; absent where no channel is configured. */
  readonly published: (() => void) | undefined;
  readonly push: Push;
  readonly tokens: DevicePushTokens;
  /** Pushes what is said of an account itself. */
  pushNotice(tx: Queryable, notice: PushedNotice): Promise<void>;
  /** What the queue does for each channel. */
  readonly lines: readonly Line[];
  /** Starts deriving pushes from what is published. */
  startRelay(): { stop(): Promise<void> };
  /** Closes the connections to the push services. */
  close(): Promise<void>;
}

/** Pushes of one channel that an instance sends at a time. A service that hangs holds up its own channel only. */
const concurrency = 16;

const devices: PushDevices = {
  reachable: reachableDevices,
  target: pushTarget,
  forget: forgetPushToken,
  states: deviceStates,
};

export async function createPushParts(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly outbound: Outbound;
  readonly log: Logger;
}): Promise<PushParts> {
  const { config, database, outbound, log } = parts;
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  const senders = await createPushSenders(pushSettings(config), { outbound, allowPrivateNetworkTargets });
  const channels = senders.map(({ channel }) => channel);
  const options = { devices, channels, fields: notificationFilterFields(config.NOTIFICATION_TYPES) };
  const send = createPushSending({
    ...options,
    database,
    senders,
    ttl: config.PUSH_TTL,
    urgency: config.PUSH_URGENCY,
    onError: (error, channel) => log.error({ err: error, channel }, 'a push could not be sent'),
  });
  const taskOf = (channel: PushChannel): Record<string, Task> => ({
    [sendTask(channel)]: (job) => send(channel, job as PushJob),
  });
  let relay: Relay | undefined;

  return {
    published: channels.length === 0 ? undefined : () => relay?.poke(),
    push: createPush({
      ...options,
      database,
      publicKey: config.VAPID_PUBLIC_KEY,
    }),
    tokens: createPushTokens({
      database,
      checkUrl: (url) => checkTargetUrl(url, { allowPrivateNetworkTargets }),
      channels,
    }),
    pushNotice: (tx, notice) => pushNotice(tx, options, notice),
    lines: channels.map((channel) => ({ tasks: taskOf(channel), concurrency })),
    startRelay() {
      if (channels.length === 0) return { stop: async () => undefined };
      relay = startRelay(
        () => derivePushes(database, options),
        (error) => log.warn({ err: error }, 'what is to be pushed could not be worked out'),
      );
      return relay;
    },
    async close() {
      await Promise.all(senders.map((sender) => sender.close()));
    },
  };
}

/** The configuration has checked that each group is whole. */
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
