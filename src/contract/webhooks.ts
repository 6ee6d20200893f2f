import { type Static, Type } from 'typebox';
import { SigningPublicKey } from './access-token.js';
import { Id, IdInput, NullableString, NullableTime, Text, Time } from './common.js';

/** The types of events that webhooks deliver. */
export const webhookEventTypes = [
  'user.created',
  'user.updated',
  'user.deleted',
  'user.locked',
  'user.unlocked',
  'user.deactivated',
  'identity.verified',
  'login.approved',
  'login.rejected',
  'login.locked',
  'device.added',
  'device.removed',
  'token.ended',
  'credential.changed',
  'recovery.completed',
  'registration.completed',
  'guest.merged',
  'notification.created',
  'notification.updated',
  'notification.deleted',
  'notification.state_changed',
  'notification.action',
  'marker.moved',
  'delivery.sent',
  'delivery.delivered',
  'delivery.bounced',
  'delivery.complained',
  'delivery.failed',
  'delivery.expired',
  'preference.changed',
  'topic.created',
  'topic.updated',
  'topic.deleted',
  'topic.subscribed',
  'topic.unsubscribed',
  'publication.started',
  'publication.paused',
  'publication.resumed',
  'publication.done',
  'publication.cancelled',
  'publication.failed',
  'publication.recalled',
  'suppression.created',
  'suppression.deleted',
  'message.failed',
  'push.token_gone',
  'audit.sealed',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

const webhookPayloads = ['thin', 'full'] as const;
export const webhookDisabledReasons = ['operator', 'gone', 'failing'] as const;
export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;

const input = {
  url: Type.String({
    maxLength: 2048,
    description: 'An https URL with a public address.',
    examples: ['https://example.com/postern'],
  }),
  events: Type.Array(Text(40, 1), {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    description: 'Types of events, or patterns: `login.*` for all types of a group, `*` for all.',
    examples: [['user.created', 'login.*']],
  }),
  filter: Text(2000),
  description: Text(255),
  payload: Type.Enum(webhookPayloads, {
    title: 'WebhookPayload',
    description: 'thin: ids and the names of changed fields. full: also the resource, as it is when the event is sent.',
  }),
};

export const NewWebhook = Type.Object(
  {
    url: input.url,
    events: input.events,
    filter: Type.Optional(input.filter),
    description: Type.Optional(input.description),
    payload: Type.Optional(input.payload),
  },
  {
    title: 'NewWebhook',
    examples: [
      {
        url: 'https://example.com/postern',
        events: ['user.created', 'login.*'],
        description: 'the warehouse',
        payload: 'thin',
      },
    ],
  },
);
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookChange = Type.Object(
  {
    url: Type.Optional(input.url),
    events: Type.Optional(input.events),
    filter: Type.Optional(input.filter),
    description: Type.Optional(input.description),
    payload: Type.Optional(input.payload),
    enabled: Type.Optional(
      Type.Boolean({ description: 'true: deliver events from now on. Events from before can be replayed.' }),
    ),
  },
  { title: 'WebhookChange', examples: [{ enabled: true }] },
);
export type WebhookChange = Static<typeof WebhookChange>;

/** An endpoint, with the state of its deliveries. */
export const Webhook = Type.Object(
  {
    id: Id,
    url: Type.String(),
    events: Type.Array(Type.String()),
    filter: Type.String({ description: 'Only events that match this filter are delivered. Empty: all.' }),
    description: Type.String(),
    payload: Type.Enum(webhookPayloads, { title: 'WebhookPayload' }),
    enabled: Type.Boolean(),
    disabled_reason: Type.Unsafe<(typeof webhookDisabledReasons)[number] | null>({
      title: 'WebhookDisabledReason',
      type: ['string', 'null'],
      enum: [...webhookDisabledReasons, null],
      description: 'operator: by a request. gone: the endpoint answered 410. failing: five days without success.',
    }),
    disabled_at: NullableTime,
    previous_secret_until: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'Until then, deliveries are also signed with the previous secret. Null: there is none.',
    }),
    pending: Type.Integer({ description: 'Deliveries that wait, counted up to 1000.' }),
    last_success_at: NullableTime,
    last_failure_at: NullableTime,
    failing_since: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'The first failure since the last success.',
    }),
    last_error: NullableString,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const IssuedWebhook = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({
      description: 'The secret of the signatures `v1`. Shown once.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
  },
  { title: 'IssuedWebhook' },
);
export type IssuedWebhook = Static<typeof IssuedWebhook>;

export const WebhookSecret = Type.Object(
  { secret: Type.String({ description: 'The new secret of the signatures `v1`. Shown once.' }) },
  { title: 'WebhookSecret', examples: [{ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }] },
);

export const WebhookDelivery = Type.Object(
  {
    id: Id,
    endpoint_id: Id,
    event_id: Type.Unsafe<string>({ ...Id, description: 'The header `webhook-id` of every attempt.' }),
    type: Type.String({ examples: ['user.created'] }),
    user_id: Type.Unsafe<string>({ ...Id, description: 'All zeros for an event that concerns no user.' }),
    sequence: Type.Integer({ description: 'The number of the event among those of its user.' }),
    state: Type.Enum(webhookDeliveryStates, {
      description: 'pending: waits for its first or next attempt. failed: not retried any more.',
    }),
    attempts: Type.Integer(),
    status: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'The HTTP status of the last attempt.',
    }),
    request: Type.Unsafe<string | null>({
      ...NullableString,
      description:
        'The body. A full payload is shown without its resource, which is read for each attempt. Null: the event is no longer stored.',
    }),
    answer: Type.Unsafe<string | null>({ ...NullableString, description: 'The first 1024 bytes of the answer.' }),
    error: Type.Unsafe<string | null>({ ...NullableString, description: 'Why the last attempt failed.' }),
    duration_ms: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    last_attempt_at: NullableTime,
    next_attempt_at: NullableTime,
    created_at: Time,
  },
  { title: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

/** The result of one attempt to deliver a test event. */
export const WebhookTest = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether the endpoint answered with a status from 200 to 299.' }),
    status: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    request: Type.String({ description: 'The body.' }),
    answer: NullableString,
    error: NullableString,
    duration_ms: Type.Integer(),
  },
  { title: 'WebhookTest' },
);
export type WebhookTest = Static<typeof WebhookTest>;

export const WebhookTestRequest = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(webhookEventTypes, { description: 'The example of this type is sent. `user.created` if absent.' }),
    ),
  },
  { title: 'WebhookTestRequest', examples: [{ type: 'login.approved' }] },
);
export type WebhookTestRequest = Static<typeof WebhookTestRequest>;

export const WebhookReplayRequest = Type.Object(
  {
    from: Type.Optional(Type.String({ maxLength: 64, description: 'Events from this time on.' })),
    to: Type.Optional(Type.String({ maxLength: 64, description: 'Events before this time. The default is now.' })),
    delivery_ids: Type.Optional(
      Type.Array(IdInput, {
        minItems: 1,
        maxItems: 1000,
        uniqueItems: true,
        description: 'The events of these deliveries, instead of a time.',
      }),
    ),
  },
  {
    title: 'WebhookReplayRequest',
    examples: [{ from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' }],
  },
);
export type WebhookReplayRequest = Static<typeof WebhookReplayRequest>;

export const WebhookReplay = Type.Object(
  {
    id: Id,
    events: Type.Integer({ description: 'Events to replay, counted up to 1000, before the filter of the endpoint.' }),
  },
  { title: 'WebhookReplay' },
);
export type WebhookReplay = Static<typeof WebhookReplay>;

/** A public key of the signatures `v1a` (RFC 8037). */
const WebhookPublicKey = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    use: Type.Literal('sig'),
    alg: Type.Literal('EdDSA'),
    kid: Type.String(),
    x: Type.String(),
  },
  { title: 'WebhookPublicKey' },
);
export type WebhookPublicKey = Static<typeof WebhookPublicKey>;

export const WebhookPublicKeys = Type.Object(
  { keys: Type.Array(Type.Union([WebhookPublicKey, ...SigningPublicKey.anyOf])) },
  { title: 'WebhookPublicKeys' },
);
