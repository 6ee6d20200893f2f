import { type Static, Type } from 'typebox';
import { DeviceIdInput, Id, Text, Time } from './common.js';
import { authenticationErrors } from './errors.js';
import { pinPattern } from './patterns.js';

export const identityTypes = ['email', 'phone', 'username'] as const;

const Identity = Type.Object(
  {
    type: Type.Enum(identityTypes, { title: 'IdentityType' }),
    value: Type.String({ minLength: 1, maxLength: 320, description: 'Used to look up the user.' }),
  },
  { title: 'Identity' },
);

const screenSize = Type.Union(
  [
    Type.Number({ title: 'ScreenSizeNumber' }),
    Type.String({ title: 'ScreenSizeString', pattern: '^[0-9]{1,6}(?:\\.[0-9]{1,3})?$' }),
  ],
  { title: 'ScreenSize' },
);

/** What a login says of the device it happens on. */
export const DeviceInput = Type.Object(
  {
    id: Type.Optional(Type.Unsafe<string>({ ...DeviceIdInput, description: 'Made and returned when missing.' })),
    make: Type.Optional(Text(255)),
    model: Type.Optional(Text(255)),
    os_name: Type.Optional(Text(255)),
    os_version: Type.Optional(Text(255)),
    sdk_version: Type.Optional(Text(255)),
    apn_device_token: Type.Optional(Text(255)),
    gcm_device_token: Type.Optional(Text(255)),
    screen_width: Type.Optional(screenSize),
    screen_height: Type.Optional(screenSize),
  },
  { title: 'DeviceInput' },
);
export type DeviceInput = Static<typeof DeviceInput>;

const Pin = Type.String({ pattern: pinPattern, description: '4 to 12 digits.', examples: ['2468'] });

/** Authenticators that are told whom to look for; what others need of an identity, they say themselves. */
const needsIdentity = {
  if: { properties: { authenticator: { pattern: '^(?:password|sms|email|custom:.*)$' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['identity'] },
};

export const TokenRequest = Type.Object(
  {
    identity: Type.Optional({
      ...Identity,
      description: 'Required, unless the authenticator finds out itself who it is (passkey, oidc).',
    }),
    authenticator: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'password, sms, or another authenticator of this installation.',
    }),
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Required by single-step authenticators, ignored by two-step ones.',
      }),
    ),
    device: DeviceInput,
    pin: Type.Optional(Pin),
  },
  {
    title: 'TokenRequest',
    ...needsIdentity,
    examples: [
      {
        identity: { type: 'username', value: 'ada' },
        authenticator: 'password',
        secret: 'correct horse battery',
        device: { id: '582a5abb-1335-4794-4855-11e067b8c55e', make: 'Apple', model: 'iPhone', os_name: 'iOS' },
      },
    ],
  },
);
export type TokenRequest = Static<typeof TokenRequest>;

/** A further secret. */
export const SecretRequest = Type.Object(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        'What the challenge asks for: the code of the message or of the app, an assertion as JSON text, an id_token.',
    }),
    pin: Type.Optional({
      ...Pin,
      description:
        '4 to 12 digits. Required with PIN_POLICY=required, unless the login is by passkey or oidc, or this is the second factor. It must be right where the user has a PIN; for a user who has none, any PIN of this form is accepted.',
    }),
  },
  { title: 'SecretRequest', examples: [{ secret: '271828', pin: '2468' }] },
);
export type SecretRequest = Static<typeof SecretRequest>;

/** The same, where a PIN is missing too when nothing was sent. Whether it may be, the authentication decides. */
export function secretRequestOf(options: { readonly pinIsRequired: boolean }): typeof SecretRequest {
  if (!options.pinIsRequired) return SecretRequest;
  return { ...SecretRequest, ...{ if: { required: ['secret'] }, else: { required: ['pin'] } } };
}

export const authenticationStatuses = ['created', 'pending', 'approved', 'rejected'] as const;
export const AuthenticationStatus = Type.Enum(authenticationStatuses, { title: 'AuthenticationStatus' });
const ErrorCode = Type.Enum(['', ...Object.keys(authenticationErrors)], {
  title: 'AuthenticationErrorCode',
  description: 'Empty when there is no error.',
});

export const Authentication = Type.Object(
  {
    id: Id,
    device_id: Id,
    status: AuthenticationStatus,
    token: Type.Optional(Type.String({ description: 'The authentication token, present once issued. Shown once.' })),
    error_code: ErrorCode,
    error_message: Type.String(),
    challenge: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>> & { type: string }>({
        title: 'Challenge',
        type: 'object',
        properties: { type: { type: 'string' } },
        required: ['type'],
        additionalProperties: true,
        description:
          'What the next secret must answer, by `type`: `totp`, `passkey` (with the request options of WebAuthn beside), `oidc` (with the nonce). Absent where a code was sent.',
      }),
    ),
    expires_at: Type.Unsafe<string>({
      ...Time,
      description: 'While open: when the authentication lapses. Once approved: when the token expires.',
    }),
    created_at: Time,
    updated_at: Time,
  },
  {
    title: 'Authentication',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
        status: 'created',
        error_code: '',
        error_message: '',
        expires_at: '2017-10-19T17:12:03.181879Z',
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Authentication = Static<typeof Authentication>;

export const AuthenticationState = Type.Object(
  { id: Id, status: AuthenticationStatus },
  { title: 'AuthenticationState' },
);

/** Rides on the problem that refuses a step 2. */
export const RejectedAuthentication = Type.Object(
  {
    id: Type.String(),
    status: AuthenticationStatus,
    error_code: ErrorCode,
    error_message: Type.String(),
  },
  { title: 'RejectedAuthentication' },
);

export const DeletedToken = Type.Object({ id: Id }, { title: 'DeletedToken' });
