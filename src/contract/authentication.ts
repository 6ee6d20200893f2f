import { type Static, Type } from 'typebox';
import { DeviceIdInput, HumanCheckToken, Id, NullableString, NullableText, pinPattern, Time } from './common.js';
import { authenticationErrors } from './errors/authentications.js';

export const identityTypes = ['email', 'phone', 'username'] as const;

const IdentityType = Type.Enum(identityTypes, { title: 'IdentityType' });

const Identity = Type.Object(
  {
    type: IdentityType,
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

const NullableScreenSize = Type.Union([screenSize, Type.Null()]);

/** A public key. Other members, such as `alg`, are ignored, and private ones are refused. */
const PublicKey = Type.Object(
  {
    kty: Type.Enum(['EC', 'OKP']),
    crv: Type.Enum(['P-256', 'Ed25519']),
    x: Type.String({ minLength: 43, maxLength: 43 }),
    y: Type.Optional(Type.String({ minLength: 43, maxLength: 43, description: 'With P-256 only.' })),
  },
  { title: 'PublicKey' },
);

/**
 * The device of a login. A `null` member counts as missing, so that a client can send what GET /v1/devices/{id} shows.
 */
export const DeviceInput = Type.Object(
  {
    id: Type.Optional(
      Type.Unsafe<string | null>({
        ...DeviceIdInput,
        description: 'If it is missing, Postern creates and returns one.',
      }),
    ),
    make: Type.Optional(NullableText(255)),
    model: Type.Optional(NullableText(255)),
    os_name: Type.Optional(NullableText(255)),
    os_version: Type.Optional(NullableText(255)),
    sdk_version: Type.Optional(NullableText(255)),
    apn_device_token: Type.Optional(NullableText(255)),
    gcm_device_token: Type.Optional(NullableText(255)),
    screen_width: Type.Optional(NullableScreenSize),
    screen_height: Type.Optional(NullableScreenSize),
    jwk: Type.Optional({
      ...PublicKey,
      description:
        'A public key (JWK, RFC 7517) of this client: P-256 or Ed25519. It binds the token to the key: the token then works only with a DPoP proof (RFC 9449) that the key has signed.',
    }),
  },
  { title: 'DeviceInput' },
);
export type DeviceInput = Static<typeof DeviceInput>;

/** A device as a login stores it: with an id, and without members that are `null`. */
export type LoginDevice = { readonly id: string } & {
  readonly [Member in Exclude<keyof DeviceInput, 'id' | 'jwk'>]?: NonNullable<DeviceInput[Member]>;
};

const Pin = Type.String({ pattern: pinPattern, description: '4 to 12 digits.', examples: ['2468'] });

/** Requires `identity` for authenticators that look up the user by it. Other authenticators check it themselves. */
const needsIdentity = {
  if: { properties: { authenticator: { pattern: '^(?:password|sms|email|custom:.*)$' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['identity'] },
};

/** What a login or a link by redirect needs of the app. */
export const redirectMembers = {
  redirect_to: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'For a login or a link at a provider by redirect: where the browser returns to. It must be one of REDIRECT_URIS, as the same text.',
    }),
  ),
  code_challenge: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      description:
        'By redirect: base64url of the SHA-256 of a random text of 43 to 128 characters (S256 of PKCE, RFC 7636). That text ends the login or the link as `code_verifier`.',
    }),
  ),
};

export const TokenRequest = Type.Object(
  {
    identity: Type.Optional({
      ...Identity,
      description: 'Required, unless the authenticator identifies the user itself (passkey, oidc).',
    }),
    authenticator: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'password, sms, or another authenticator of this installation. With GUESTS=on, guest makes a user without credentials. With PAGES=on, page sends the browser to the sign-in page of Postern, by redirect.',
    }),
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Required by single-step authenticators, ignored by two-step authenticators.',
      }),
    ),
    device: DeviceInput,
    pin: Type.Optional(Pin),
    sign_up: Type.Optional(
      Type.Boolean({
        description:
          'true: if nobody has this address, the right code makes an account with it. For sms and email, with an address of that kind. Needs REGISTRATION=on. The answer does not show whether there is an account.',
      }),
    ),
    human_check: HumanCheckToken,
    link_to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'For a login by mail, with LOGIN_LINK=on: the page that the link in the mail opens, with `#<id>.<code>`. It must be one of REDIRECT_URIS, as the same text. Without it, the link opens a page of Postern that shows the code.',
      }),
    ),
    ...redirectMembers,
    login_hint: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description: 'For a login by redirect: the account that the provider should propose, such as a mail address.',
      }),
    ),
    prompt: Type.Optional(
      Type.Enum(['login'], {
        description:
          'For a login with `page`: the user has to sign in again, although this browser has a login of the pages.',
      }),
    ),
    max_age: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description:
          'For a login with `page`: if the login of the pages is older than this number of seconds, the user has to sign in again.',
      }),
    ),
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

/** The secret of step 2, or of a second factor. */
export const SecretRequest = Type.Object(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        'The answer to the challenge: the code from the message or the app, an assertion or a new passkey as JSON text, an id_token, or a new password.',
    }),
    pin: Type.Optional({
      ...Pin,
      description:
        '4 to 12 digits. Required with PIN_POLICY=required, unless the login uses passkey or oidc, or this is the second factor. If the user has a PIN, it must be correct. If not, any PIN of this form is accepted.',
    }),
    human_check: HumanCheckToken,
  },
  { title: 'SecretRequest', examples: [{ secret: '271828', pin: '2468' }] },
);
export type SecretRequest = Static<typeof SecretRequest>;

/**
 * The schema for the policy of PINs. If a PIN is required, the error of an empty body lists the missing PIN too. If the
 * body has a secret, the login checks whether this authentication needs a PIN.
 */
export function secretRequestOf(options: { readonly pinIsRequired: boolean }): typeof SecretRequest {
  if (!options.pinIsRequired) return SecretRequest;
  const withPin = { ...SecretRequest, if: { required: ['secret'] }, else: { required: ['pin'] } };
  return withPin;
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
    user_id: Type.Optional(Type.Unsafe<string>({ ...Id, description: 'The user. Present with the token.' })),
    is_bound: Type.Optional(
      Type.Boolean({ description: 'Present and true with a token that is bound to `device.jwk`.' }),
    ),
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
          'The challenge for the next secret, by `type`: `totp`, `passkey` (with the WebAuthn request options), `oidc` (with the nonce), `code` (a code was sent to an address of the user, who must enrol a second factor), `enrol` (with `options`: the `totp` secret, and the `passkey` creation options) and `new_password`. Absent if step 1 sent a code.',
      }),
    ),
    destination: Type.Optional(
      Type.Unsafe<string | null>({
        ...NullableString,
        description:
          'Where the code was sent, shortened as in `+15…67` or `a…@example.com`: the identity of the request, if it is an address of this channel, else null. Unknown identities get the same answer.',
      }),
    ),
    resend_at: Type.Optional(
      Type.Unsafe<string>({
        ...Time,
        description: 'When this identity may request the next code. Present if a code was sent.',
      }),
    ),
    recovery_codes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The recovery codes of a user who has enrolled a second factor in this login. Shown once.',
      }),
    ),
    expires_at: Type.Unsafe<string>({
      ...Time,
      description: 'When the login expires, or, after its approval, when its token expires.',
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
        destination: '+15…67',
        resend_at: '2017-10-19T17:03:03.181879Z',
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

/** The authentication in the problem that refuses step 2. */
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

const IdentityTypeList = (description: string) => Type.Array(IdentityType, { description });

const LoginOption = Type.Object(
  {
    authenticator: Type.String({ description: 'Send it as `authenticator` to POST /v1/tokens.' }),
    steps: Type.Integer({
      minimum: 1,
      maximum: 2,
      description: '1: step 1 takes the secret. 2: step 1 sends a code or a challenge, and step 2 takes the answer.',
    }),
    identity_types: IdentityTypeList('The types of identity that step 1 takes. Empty: it takes none.'),
    takes_pin: Type.Boolean({ description: 'Whether a login with it checks the PIN.' }),
    title: Type.Optional(Type.String({ description: 'Only of a provider: its name for people, such as Google.' })),
    takes_redirect: Type.Optional(
      Type.Boolean({
        description:
          'Only of a provider: whether a login can send the browser there, with `redirect_to` and `code_challenge`.',
      }),
    ),
  },
  { title: 'LoginOption' },
);

/** What a login page needs to show the right fields. It contains nothing about users. */
export const LoginOptions = Type.Object(
  {
    logins: Type.Array(LoginOption, { description: 'Every way to log in.' }),
    pin: Type.Object(
      {
        policy: Type.Enum(['required', 'optional', 'off'], { description: 'PIN_POLICY.' }),
        min_length: Type.Integer(),
        max_length: Type.Integer(),
      },
      { title: 'PinRules' },
    ),
    password: Type.Object(
      {
        min_length: Type.Integer({ description: 'Of a new password, in characters.' }),
        max_length: Type.Integer(),
      },
      { title: 'PasswordRules' },
    ),
    registration: Type.Object(
      {
        is_on: Type.Boolean({ description: 'Whether people can create accounts themselves.' }),
        identity_types: IdentityTypeList('The addresses that can register.'),
      },
      { title: 'RegistrationOptions' },
    ),
    guests: Type.Object(
      { is_on: Type.Boolean({ description: 'Whether `authenticator: "guest"` makes a user without credentials.' }) },
      { title: 'GuestOptions' },
    ),
    recovery: Type.Object(
      { identity_types: IdentityTypeList('The addresses that a recovery code can be sent to.') },
      { title: 'RecoveryOptions' },
    ),
  },
  {
    title: 'LoginOptions',
    examples: [
      {
        logins: [
          { authenticator: 'password', steps: 1, identity_types: ['email', 'phone', 'username'], takes_pin: true },
          { authenticator: 'sms', steps: 2, identity_types: ['email', 'phone', 'username'], takes_pin: true },
          { authenticator: 'passkey', steps: 2, identity_types: [], takes_pin: false },
          {
            authenticator: 'oidc:google',
            steps: 2,
            identity_types: [],
            takes_pin: false,
            title: 'Google',
            takes_redirect: true,
          },
        ],
        pin: { policy: 'required', min_length: 4, max_length: 12 },
        password: { min_length: 8, max_length: 1024 },
        registration: { is_on: true, identity_types: ['phone'] },
        guests: { is_on: false },
        recovery: { identity_types: ['phone'] },
      },
    ],
  },
);
export type LoginOptions = Static<typeof LoginOptions>;
