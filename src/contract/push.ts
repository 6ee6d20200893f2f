import { type Static, Type } from 'typebox';
import { stepChannels, stepConditions } from './category.js';
import { Id, NullableString, NullableTime, Time } from './common.js';

/** The push channels. If a device has several, the first configured one is used. */
export const pushChannels = ['apns', 'fcm', 'web_push'] as const;
export type PushChannel = (typeof pushChannels)[number];
const PushChannel = Type.Enum(pushChannels, { title: 'PushChannel' });

/** The types of push token and the channel of each. */
export const tokenTypes = { ios: 'apns', android: 'fcm', web: 'web_push' } as const satisfies Record<
  string,
  PushChannel
>;
export type TokenType = keyof typeof tokenTypes;
const TokenType = Type.Enum(Object.keys(tokenTypes) as TokenType[], { title: 'PushTokenType' });

/** The stored part of a browser's `PushSubscription.toJSON()`. Keys are base64url without padding. */
export interface WebPushSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

export const DeviceTokenInput = Type.Object(
  {
    type: TokenType,
    token: Type.Unsafe<string | Record<string, unknown>>({
      title: 'PushToken',
      type: ['string', 'object'],
      minLength: 1,
      maxLength: 4096,
      description:
        "ios: the device token in hexadecimal. android: the FCM registration token. web: the browser's PushSubscription, as an object or as its JSON text.",
    }),
  },
  { title: 'DeviceTokenInput', examples: [{ type: 'android', token: 'bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1' }] },
);

/** A registered push token. It does not contain the token itself. */
export const DeviceToken = Type.Object(
  {
    type: TokenType,
    device_id: Id,
    channel: PushChannel,
    enabled: Type.Boolean({ description: 'Whether the operator has configured this channel.' }),
  },
  { title: 'DeviceToken' },
);
export type DeviceToken = Static<typeof DeviceToken>;

export const PushKey = Type.Object(
  {
    public_key: Type.String({
      description: 'The VAPID public key: `applicationServerKey` of pushManager.subscribe().',
    }),
  },
  { title: 'PushKey' },
);

export const MuteInput = Type.Object(
  {
    filter: Type.String({ minLength: 1, description: 'A filter as in lists. Matching notifications are not pushed.' }),
  },
  { title: 'MuteInput', examples: [{ filter: 'notification_type:pool' }] },
);

export const Mute = Type.Object(
  { id: Id, filter: Type.String(), created_at: Time },
  {
    title: 'Mute',
    examples: [
      {
        id: '3f0b4a52-8f0c-4a27-9f4e-5f8a3b1f0d77',
        filter: 'notification_type:pool',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Mute = Static<typeof Mute>;

/** The reasons in a delivery status: code and explanation. */
export const deliveryReasons = {
  waiting: 'The push waits to be sent.',
  channel_paused: 'Pushes are paused. It is sent when the pause ends.',
  quiet_hours: 'The user has quiet hours now. When they end, it is decided again whether the push is sent.',
  cap: 'As many notifications of this category as it may send have been pushed to the user.',
  collapsed: 'Quiet hours held several pushes of this category. One of them was sent, with their number.',
  retrying: 'The last attempt failed; it is tried again.',
  accepted:
    'The push service accepted it. Whether it is shown depends on the settings and the connection of the phone.',
  cleared:
    'The push service accepted it. The user has read the notification since, so the device was asked to remove the push.',
  muted: 'A mute of the user matches this notification.',
  preference_off: 'Pushes are off for this category, or the user has turned off all pushes.',
  no_step: 'The category of the notification has no push.',
  read: 'The user had read the notification before the push was sent.',
  notification_expired: 'The notification had expired before the push was sent.',
  template_too_large: 'The template of the category makes too much text of this notification.',
  category_deleted: 'The category of the notification was deleted before the push was sent.',
  token_gone: 'The push service no longer knows the token, so it was removed. The app must register a new one.',
  refused: 'The push service refused it. The error has the reason.',
  not_answering:
    'The push service of the device does not answer, and several pushes for the device wait already. Further ones are not sent.',
  ttl: 'It could not be sent in time: the ttl of the category, or PUSH_TTL.',
  expired: 'It could not be sent in time (PUSH_TTL). Former releases wrote this reason.',
  notification_deleted: 'The notification was deleted before the push was sent.',
  logged_out: 'No user is logged in on this device any more.',
  account_locked: 'The account is locked.',
  account_deactivated: 'The account is deactivated.',
  no_token: 'The device has registered no push token, or another device has registered the same one since.',
  channel_off: 'The operator has not configured the channel of this device.',
  sandbox: 'OUTBOUND of the service does not allow pushes to this user.',
  registered_later: 'The device logged in for the first time after the notification was published.',
  not_due: 'The push is not due yet.',
  already_delivered: 'An earlier step was sent.',
  being_prepared: 'The recipients of the push are not determined yet.',
  not_reachable_then:
    'When the notification was published, the device could not be reached: it was not logged in, had no token, or its channel was off.',
} as const;
export type DeliveryReason = keyof typeof deliveryReasons;

export const deliveryStates = ['held', 'queued', 'muted', 'sent', 'failed', 'gone', 'expired', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const HeldUntil = Type.Unsafe<string | null>({
  ...NullableTime,
  description: 'When it is decided about again, if quiet hours hold it, or when its digest closes.',
});

const PushAttempt = Type.Object(
  {
    device_id: Id,
    channel: Type.Unsafe<PushChannel | null>({
      title: 'PushChannel',
      type: ['string', 'null'],
      enum: [...pushChannels, null],
    }),
    state: Type.Enum([...deliveryStates, 'none'], { description: 'none: no push was made for this device.' }),
    reason: Type.Enum(Object.keys(deliveryReasons) as DeliveryReason[]),
    explanation: Type.String({ description: 'The reason in words.' }),
    error: { ...NullableString, description: 'The last error of the push service, if there was one.' },
    attempts: Type.Integer(),
    held_until: HeldUntil,
    created_at: NullableTime,
    updated_at: NullableTime,
  },
  { title: 'PushAttempt' },
);
export type PushAttempt = Static<typeof PushAttempt>;

/** The states of a mail or SMS of a notification. */
export const stepStates = [
  ...(['held', 'digesting', 'queued', 'sent', 'delivered', 'bounced', 'complained'] as const),
  ...(['failed', 'skipped', 'expired', 'dropped'] as const),
] as const;
export type StepState = (typeof stepStates)[number];

/** The reasons of mails and SMS in a delivery status: code and explanation. */
export const stepReasons = {
  not_due: 'The step is not due yet.',
  waiting: 'The message waits to be sent.',
  channel_paused: 'The channel is paused. The message is sent when the pause ends.',
  quiet_hours: 'The user has quiet hours now. When they end, it is decided again whether the message is sent.',
  digest: 'It comes with the next digest, unless the user reads it before.',
  cap: 'As many notifications of this category as it may send have reached the user. With the state digesting, it comes with the next digest.',
  retrying: 'The last attempt failed; it is tried again.',
  accepted: 'The provider accepted it.',
  delivered: 'It has arrived, as the provider reports.',
  soft_bounce: 'The mailbox did not take the mail. Another mail may arrive.',
  hard_bounce: 'The mailbox does not exist.',
  complaint: 'The recipient has reported the mail as spam.',
  undelivered: 'The message did not arrive, as the provider reports.',
  read: 'The user had read the notification.',
  already_delivered: 'An earlier step was sent.',
  no_address: 'The user has no address for this channel, and no device for a push.',
  not_proven: 'The user has not proven the address.',
  suppressed: 'The address is suppressed: it bounced, its owner has reported a mail as spam, or an operator wants it.',
  preference_off: 'The channel is off for this category.',
  channel_off: 'The user has turned off the channel.',
  muted: 'A mute of the user matches this notification.',
  sandbox: 'The settings do not let messages go to this address.',
  account_locked: 'The account is locked.',
  account_deactivated: 'The account is deactivated.',
  notification_expired: 'The notification had expired.',
  ttl: 'The step could not be carried out in time.',
  notification_deleted: 'The notification was deleted.',
  category_deleted: 'The category of the notification was deleted.',
  template_too_large: 'The template of the category makes too much text of this notification.',
  recipient_refused: 'The mail server of the recipient, or the network, refused it. The error has the reason.',
  no_provider: 'No provider takes it.',
} as const;
export type StepReason = keyof typeof stepReasons;

const StepAttempt = Type.Object(
  {
    channel: Type.Enum(['sms', 'email'] as const, { title: 'MessageChannel' }),
    state: Type.Enum([...stepStates, 'none'], { description: 'none: the step is not due yet.' }),
    reason: Type.Enum(Object.keys(stepReasons) as StepReason[], { title: 'StepReason' }),
    explanation: Type.String({ description: 'The reason in words.' }),
    error: { ...NullableString, description: 'The last error of the provider, if there was one.' },
    attempts: Type.Integer(),
    held_until: HeldUntil,
    created_at: { ...NullableTime, description: 'When the step was due.' },
    updated_at: NullableTime,
  },
  { title: 'StepAttempt' },
);
export type StepAttempt = Static<typeof StepAttempt>;

/** The delivery status of one notification. */
export const DeliveryTrace = Type.Object(
  {
    notification_id: Id,
    user_id: Id,
    listed_at: Type.Unsafe<string>({ ...Time, description: 'When it was added to the inbox.' }),
    is_read: Type.Boolean({ description: 'Whether the user has read it.' }),
    explanation: Type.String({ description: 'A summary in one sentence.' }),
    push: Type.Array(PushAttempt, { description: 'One entry for each push, and for each device without a push.' }),
    email: Type.Array(StepAttempt, { description: 'The mail, if the category of the notification has one.' }),
    sms: Type.Array(StepAttempt, { description: 'The SMS, if the category of the notification has one.' }),
  },
  { title: 'DeliveryTrace' },
);
export type DeliveryTrace = Static<typeof DeliveryTrace>;

const StepChannelName = Type.Enum(stepChannels, { title: 'StepChannel' });
const DryRunState = Type.Enum(['send', 'held', 'digesting', 'skipped', 'expired', 'dropped', 'failed'] as const, {
  title: 'DryRunState',
});
const NullableReason = Type.Unsafe<StepReason | null>({
  type: ['string', 'null'],
  enum: [...Object.keys(stepReasons), null],
  title: 'StepReason',
});

/** What would become of a step. */
const DryRunStep = Type.Object(
  {
    channel: StepChannelName,
    after: Type.String({ description: 'As in the category.' }),
    if: Type.Enum(stepConditions, { title: 'StepCondition', description: 'As in the category.' }),
    state: Type.Enum(['send', 'held', 'digesting', 'skipped', 'expired', 'dropped', 'failed'] as const, {
      title: 'DryRunState',
      description:
        'send: the step would be carried out. held: quiet hours would hold it. digesting: it would come with the next digest.',
    }),
    reason: NullableReason,
    explanation: { ...NullableString, description: 'The reason in words.' },
  },
  { title: 'DryRunStep' },
);
export type DryRunStep = Static<typeof DryRunStep>;

/** The result of a dry run. */
export const DryRun = Type.Object(
  {
    deliveries: Type.Integer({ description: 'The number of notifications that would be created.' }),
    push: Type.Object(
      { apns: Type.Integer(), fcm: Type.Integer(), web_push: Type.Integer(), muted: Type.Integer() },
      {
        title: 'PushCounts',
        description: 'The number of pushes for each channel, and of muted pushes.',
      },
    ),
    steps: Type.Array(
      Type.Object(
        { channel: StepChannelName, state: DryRunState, reason: NullableReason, count: Type.Integer() },
        { title: 'DryRunSteps' },
      ),
      {
        description:
          'How many steps of all notifications have each decision, as if they were due now and nobody had read the notifications. Decisions are made again when a step is due.',
      },
    ),
    items: Type.Array(
      Type.Object(
        {
          user_id: Id,
          notification_type: Type.String(),
          description: Type.String(),
          inbox: Type.Boolean({ description: 'false: the user does not want it in the inbox.' }),
          steps: Type.Array(DryRunStep, { description: 'The steps of the category.' }),
          push: Type.Array(
            Type.Object({ device_id: Id, channel: PushChannel, muted: Type.Boolean() }, { title: 'DryRunPush' }),
          ),
        },
        { title: 'DryRunItem' },
      ),
      { description: 'The first 100 notifications.' },
    ),
  },
  { title: 'DryRun' },
);
export type DryRun = Static<typeof DryRun>;
