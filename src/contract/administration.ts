import { type Static, Type } from 'typebox';
import { AuthenticationStatus } from './authentication.js';
import { AnyObject, Id, NullableId, NullableString, NullableTime, Text, Time } from './common.js';

/** What an API key may do. `admin` includes every other scope. */
export const scopes = [
  'users:read',
  'users:write',
  'notifications:write',
  'notifications:configure',
  'notifications:broadcast',
  'sessions:verify',
  'webhooks:write',
  'clients:forward',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];
/** @public part of the contract */
export const Scope = Type.Enum(scopes, { title: 'Scope' });

export const ApiKey = Type.Object(
  {
    id: Id,
    name: Type.String(),
    scopes: Type.Array(Scope),
    expires_at: NullableTime,
    last_used_at: NullableTime,
    created_at: Time,
  },
  { title: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const IssuedApiKey = Type.Object(
  {
    ...ApiKey.properties,
    token: Type.String({ description: 'The key itself. Shown once.' }),
  },
  { title: 'IssuedApiKey' },
);
export type IssuedApiKey = Static<typeof IssuedApiKey>;

export const NewApiKey = Type.Object(
  {
    name: Text(100, 1),
    scopes: Type.Array(Scope, { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
    expires_at: Type.Optional(Type.String({ maxLength: 64, description: 'A time in the future.' })),
  },
  { title: 'NewApiKey', examples: [{ name: 'billing', scopes: ['notifications:write'] }] },
);
export type NewApiKey = Static<typeof NewApiKey>;

export const outboxStates = ['queued', 'sent', 'failed', 'expired', 'dropped', 'delivered', 'undelivered'] as const;

/** Channels of codes and notices, without push. */
export const messageChannels = ['sms', 'email'] as const;
export type MessageChannel = (typeof messageChannels)[number];
/** A channel of messages with codes. */
export const MessageChannel = Type.Enum(messageChannels, { title: 'MessageChannel' });

/** Channels of notices about an account. */
export const noticeChannels = ['push', 'email', 'sms', 'inbox'] as const;
export type NoticeChannel = (typeof noticeChannels)[number];

/** A sent or queued message. */
export const OutboxMessage = Type.Object(
  {
    id: Id,
    user_id: Id,
    authentication_id: NullableId,
    channel: MessageChannel,
    kind: Type.String({
      description: 'The channel and the kind of message: a code or a notice.',
      examples: ['sms.code'],
    }),
    recipient: NullableString,
    state: Type.Enum(outboxStates, {
      description:
        'queued, sent (a provider has accepted it), failed (no attempt succeeded), expired (there was no attempt in time), or dropped (no recipient). If the provider reports it: delivered, or undelivered.',
    }),
    provider: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The provider that has accepted the message. Null before that.',
      examples: ['twilio'],
    }),
    attempts: Type.Integer(),
    last_error: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'Why the last attempt failed, or why the message did not arrive.',
    }),
    code: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Only for messages of the console provider, with the scope admin, while the code is valid.',
    }),
    expires_at: Time,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'OutboxMessage' },
);
export type OutboxMessage = Static<typeof OutboxMessage>;

/** A field that an event changed. */
export const EventChange = Type.Object(
  {
    field: Type.String({ examples: ['email'] }),
    before: Type.Unknown({ description: 'The value before. Null: none.' }),
    after: Type.Unknown({ description: 'The value after. Null: none.' }),
    withheld: Type.Boolean({
      description: 'The field is secret, or its values are too long: `before` and `after` are null.',
    }),
  },
  {
    title: 'AuditEventChange',
    examples: [{ field: 'email', before: 'ada@example.com', after: 'ada@example.org', withheld: false }],
  },
);
export type EventChange = Static<typeof EventChange>;

/** An event of an account, or an action of an operator. */
export const Event = Type.Object(
  {
    id: Id,
    user_id: Type.Unsafe<string>({ ...Id, description: 'All zeros for an event that concerns no user.' }),
    user_name: Type.Unsafe<string | null>({
      ...NullableString,
      description:
        'What the user was called at that time: the name, else the username, mail address or phone number. Null for a deleted user.',
    }),
    type: Type.String({ examples: ['login.approved'] }),
    actor: Type.String({ description: 'user (the user of the event), user:<id>, system, cli, or key:<id>.' }),
    actor_name: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The name of the actor: of a user at that time, or of an API key. Null for all others.',
    }),
    address: NullableString,
    request_id: NullableString,
    changes: Type.Array(EventChange, {
      description: 'The fields that the event changed. Empty after the user is deleted.',
    }),
    data: AnyObject('Further details. Never a secret.'),
    created_at: Time,
  },
  { title: 'AuditEvent' },
);
export type Event = Static<typeof Event>;

export const exampleDevice = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  make: 'Apple',
  model: 'iPhone',
  os_name: 'iOS',
  os_version: '18.1',
  sdk_version: null,
  screen_width: '1179',
  screen_height: '2556',
  push: { ios: true, android: false, web: false },
  is_bound: true,
  last_login_at: '2017-10-19T17:02:03.181879Z',
  created_at: '2017-10-19T17:02:03.181879Z',
  updated_at: '2017-10-19T17:02:03.181879Z',
};

/** A device on which a login of the user was approved. */
export const UserDevice = Type.Object(
  {
    id: Id,
    make: NullableString,
    model: NullableString,
    os_name: NullableString,
    os_version: NullableString,
    sdk_version: NullableString,
    screen_width: NullableString,
    screen_height: NullableString,
    push: Type.Object(
      { ios: Type.Boolean(), android: Type.Boolean(), web: Type.Boolean() },
      {
        title: 'RegisteredPush',
        description: 'Which kinds of push token are registered. The tokens themselves are never shown.',
      },
    ),
    is_bound: Type.Boolean({
      description:
        'Whether the token of its newest login is bound to a key of the device. A copy of the token alone is useless.',
    }),
    last_login_at: Type.Unsafe<string>({ ...Time, description: 'When the last login on this device was approved.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'UserDevice', examples: [exampleDevice] },
);
export type UserDevice = Static<typeof UserDevice>;

/** A login of the user and its authentication token, from the start of the login to the end of the token. */
export const UserToken = Type.Object(
  {
    id: Id,
    device_id: Id,
    authenticator: Type.String({ examples: ['password'] }),
    status: AuthenticationStatus,
    active: Type.Boolean({ description: 'Whether its token is active.' }),
    is_bound: Type.Boolean({ description: 'Whether its token is bound to a key of the client.' }),
    first_used_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'When its token created its first session.',
    }),
    ended_at: Type.Unsafe<string | null>({ ...NullableTime, description: 'When its token was deleted or superseded.' }),
    expires_at: Time,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'UserToken' },
);
export type UserToken = Static<typeof UserToken>;

/** An active session of the user. */
export const UserSession = Type.Object(
  {
    id: Id,
    authentication_id: Id,
    device_id: Id,
    expires_at: Time,
    created_at: Time,
  },
  { title: 'UserSession' },
);
export type UserSession = Static<typeof UserSession>;
