import { type Static, Type } from 'typebox';
import { Scope } from './administration.js';
import { AnyObject, DeviceIdInput, Id, IdInput, NullableId, NullableString, pinPattern, Text, Time } from './common.js';
import { NewUser, PinRecovery, Role, RoleActive, SecondFactors, UserChange } from './user.js';

export const proofTypes = ['password', 'code', 'passkey', 'totp', 'pin'] as const;
export type ProofType = (typeof proofTypes)[number];
const ProofType = Type.Enum(proofTypes, { title: 'ProofType' });

/** Re-authentication within a session: the session alone does not show that the user is the person at the device. */
export const Proof = Type.Object(
  {
    type: ProofType,
    id: Type.Optional(
      Type.Unsafe<string>({ ...IdInput, description: 'The id of the started proof, for a code or a passkey.' }),
    ),
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description: "The password, the code, the PIN, or a passkey's assertion as JSON text.",
    }),
  },
  {
    title: 'Proof',
    description:
      'Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.',
    examples: [{ type: 'password', secret: 'correct horse battery' }],
  },
);
export type Proof = Static<typeof Proof>;

export const proofStarts = ['sms', 'email', 'passkey'] as const;
export type ProofStart = (typeof proofStarts)[number];

export const ProofRequest = Type.Object(
  {
    type: Type.Enum(proofStarts, {
      title: 'ProofStart',
      description: "sms and email send a code to the account's own phone or mail address. passkey returns a challenge.",
    }),
  },
  { title: 'ProofRequest', examples: [{ type: 'sms' }] },
);

export const StartedProof = Type.Object(
  {
    id: Id,
    type: { ...ProofType, description: 'The `type` of the proof that completes it.' },
    challenge: Type.Optional(AnyObject("For a passkey: the browser's request options.")),
    destination: Type.Optional(
      Type.String({ description: 'For a code: where it was sent, in part, such as `+15…67` or `a…@example.com`.' }),
    ),
    resend_at: Type.Optional(
      Type.Unsafe<string>({ ...Time, description: 'For a code: when the next one may be requested.' }),
    ),
    expires_at: Time,
  },
  {
    title: 'StartedProof',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        type: 'code',
        destination: '+15…67',
        resend_at: '2017-10-19T17:03:03.181879Z',
        expires_at: '2017-10-19T17:07:03.181879Z',
      },
    ],
  },
);
export type StartedProof = Static<typeof StartedProof>;

const Capabilities = Type.Array(Scope, {
  description:
    'What the role allows, as the scopes of API keys: operator has every scope, support has users:read, users:write and notifications:write. Only sessions whose login used a second factor can use them. Empty without an active role.',
});

/** A user's own view of the account. */
export const Account = Type.Object(
  {
    id: Id,
    username: NullableString,
    email: NullableString,
    phone: NullableString,
    name: Type.String(),
    locale: NullableString,
    has_password: Type.Boolean(),
    has_pin: Type.Boolean(),
    pin_recovery: PinRecovery,
    role: Role,
    role_active: RoleActive,
    capabilities: Capabilities,
    second_factors: SecondFactors,
    created_at: Time,
    updated_at: Time,
  },
  {
    title: 'Account',
    examples: [
      {
        id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        username: 'ada',
        email: 'ada@example.com',
        phone: '+15551234567',
        name: 'Ada Lovelace',
        locale: 'en',
        has_password: true,
        has_pin: false,
        pin_recovery: null,
        role: 'user',
        role_active: false,
        capabilities: [],
        second_factors: [],
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Account = Static<typeof Account>;

/** A way to re-authenticate, and what it counts for now. */
export const ProofOption = Type.Object(
  {
    type: ProofType,
    start: Type.Unsafe<ProofStart | null>({
      type: ['string', 'null'],
      enum: [...proofStarts, null],
      title: 'ProofStart',
      description: 'The type to send to POST /v1/account/proofs first. null: the secret alone proves.',
    }),
    destination: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'Where a code goes, in part, such as `+15…67`. null if the account has no such address.',
    }),
    accepted_for: Type.Array(
      Type.Enum(['account', 'pin'], {
        description: 'account: changes of the account, as each operation describes. pin: a new or changed PIN.',
      }),
    ),
    reason: Type.Unsafe<'not_set' | 'not_offered' | 'second_factor_required' | null>({
      type: ['string', 'null'],
      enum: ['not_set', 'not_offered', 'second_factor_required', null],
      title: 'ProofRefusal',
      description:
        'Why it counts for nothing. not_set: the account does not have it. not_offered: this service cannot send such codes. second_factor_required: the account has a second factor, so only totp and passkey count.',
    }),
  },
  {
    title: 'ProofOption',
    examples: [{ type: 'password', start: null, destination: null, accepted_for: ['account', 'pin'], reason: null }],
  },
);
export type ProofOption = Static<typeof ProofOption>;

/** The answer of `GET /v1/account`. */
export const AccountDetails = Type.Object(
  {
    ...Account.properties,
    proofs: Type.Array(ProofOption, { description: 'Every way to re-authenticate, and what it counts for now.' }),
  },
  { title: 'AccountDetails' },
);
export type AccountDetails = Static<typeof AccountDetails>;

const proof = { type: 'password', secret: 'correct horse battery' };

/** Changes only the members that are present; null removes a value. */
export const AccountChange = Type.Object(
  {
    name: UserChange.properties.name,
    locale: UserChange.properties.locale,
    username: UserChange.properties.username,
    proof: Type.Optional(Proof),
  },
  {
    title: 'AccountChange',
    examples: [
      { name: 'Ada King', locale: 'es-MX' },
      { username: 'ada.king', proof },
    ],
  },
);
export type AccountChange = Static<typeof AccountChange>;

export const PasswordChange = Type.Object(
  { password: Text(1024, 1), proof: Proof },
  { title: 'PasswordChange', examples: [{ password: 'nine dull horses', proof }] },
);
export type PasswordChange = Static<typeof PasswordChange>;

/** The account, and the new token of the login that changed the password. */
export const ChangedPassword = Type.Object(
  {
    ...Account.properties,
    token: Type.String({
      description:
        'The new authentication token of the login that made this request. Shown once. The old token cannot get sessions any more.',
    }),
    authentication_id: Type.Unsafe<string>({ ...Id, description: 'The new id of the login that made this request.' }),
  },
  { title: 'ChangedPassword' },
);
export type ChangedPassword = Static<typeof ChangedPassword>;

export const PinChange = Type.Object(
  { pin: Type.String({ pattern: pinPattern }), proof: Proof },
  { title: 'PinChange', examples: [{ pin: '2468', proof: { type: 'pin', secret: '1357' } }] },
);
export type PinChange = Static<typeof PinChange>;

/** A request that needs only a proof. */
export const ProvenRequest = Type.Object({ proof: Proof }, { title: 'ProvenRequest', examples: [{ proof }] });

/** A proof that is recorded for the session. */
export const RecordedProof = Type.Object(
  {
    proven_at: Time,
    expires_at: Type.Unsafe<string>({ ...Time, description: 'Until then the session counts as re-authenticated.' }),
  },
  {
    title: 'RecordedProof',
    examples: [{ proven_at: '2017-10-19T17:02:03.181879Z', expires_at: '2017-10-19T17:17:03.181879Z' }],
  },
);

/** A started operation that a code completes. */
export const BegunChallenge = Type.Object(
  { id: Id, expires_at: Type.Unsafe<string>({ ...Time, description: 'When the code expires.' }) },
  {
    title: 'StartedChallenge',
    examples: [{ id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53', expires_at: '2017-10-19T17:07:03.181879Z' }],
  },
);

const Address = Type.String({ minLength: 1, maxLength: 320 });

export const EmailChange = Type.Object(
  { email: Address, proof: Proof },
  { title: 'EmailChange', examples: [{ email: 'ada@example.com', proof }] },
);
export const PhoneChange = Type.Object(
  { phone: Address, proof: Proof },
  { title: 'PhoneChange', examples: [{ phone: '+15551234567', proof }] },
);

export const CodeAnswer = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 64, description: 'The code.' }) },
  { title: 'CodeAnswer', examples: [{ secret: '271828' }] },
);

const ContactAddress = Type.Object(
  {
    type: Type.Enum(['email', 'phone']),
    value: Address,
  },
  { title: 'ContactAddress' },
);

const Recoverable = Type.Enum(['password', 'pin'] as const, { title: 'RecoverableSecret' });

export const RecoveryRequest = Type.Object(
  {
    identity: ContactAddress,
    purpose: { ...Recoverable, description: 'The forgotten secret.' },
    device: Type.Optional(
      Type.Object(
        { id: Type.Optional(DeviceIdInput) },
        {
          title: 'RecoveryDevice',
          description: 'A device on which the user has logged in before has its own limit of wrong guesses.',
        },
      ),
    ),
  },
  { title: 'RecoveryRequest', examples: [{ identity: { type: 'phone', value: '+15551234567' }, purpose: 'password' }] },
);
export type RecoveryRequest = Static<typeof RecoveryRequest>;

export const RecoveryAnswer = Type.Object(
  {
    ...CodeAnswer.properties,
    password: Type.Optional(Text(1024, 1)),
    pin: Type.Optional(Type.String({ pattern: pinPattern })),
  },
  {
    title: 'RecoveryAnswer',
    description: 'The code, and the new password or PIN.',
    examples: [{ secret: '271828', password: 'nine dull horses' }],
  },
);
export type RecoveryAnswer = Static<typeof RecoveryAnswer>;

export const Recovered = Type.Object(
  {
    id: Id,
    recovered: Recoverable,
    status: Type.Optional(
      Type.Literal('pending', { description: 'A new PIN that takes effect at effective_at. Absent otherwise.' }),
    ),
    effective_at: Type.Optional(Time),
  },
  {
    title: 'Recovered',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        recovered: 'pin',
        status: 'pending',
        effective_at: '2017-10-20T17:02:03.181879Z',
      },
    ],
  },
);
export type Recovered = Static<typeof Recovered>;

export const RecoveryCancellation = Type.Object(
  {
    identity: ContactAddress,
    secret: Type.String({ minLength: 1, maxLength: 64, description: 'The code from the notice about the recovery.' }),
  },
  {
    title: 'RecoveryCancellation',
    examples: [{ identity: { type: 'email', value: 'ada@example.com' }, secret: '7k2m-9xqp-3fjd' }],
  },
);
export type RecoveryCancellation = Static<typeof RecoveryCancellation>;

export const RegistrationRequest = Type.Object(
  { identity: ContactAddress, locale: NewUser.properties.locale },
  { title: 'RegistrationRequest', examples: [{ identity: { type: 'phone', value: '+15551234567' }, locale: 'es-MX' }] },
);
export type RegistrationRequest = Static<typeof RegistrationRequest>;

export const RegistrationAnswer = Type.Object(
  {
    ...CodeAnswer.properties,
    username: Type.Optional(Address),
    password: Type.Optional(Text(1024, 1)),
    pin: Type.Optional(Type.String({ pattern: pinPattern })),
    name: NewUser.properties.name,
    locale: NewUser.properties.locale,
  },
  {
    title: 'RegistrationAnswer',
    examples: [{ secret: '271828', username: 'ada', password: 'correct horse battery', name: 'Ada Lovelace' }],
  },
);
export type RegistrationAnswer = Static<typeof RegistrationAnswer>;

/** An event of the account, in words. */
export const ActivityEntry = Type.Object(
  {
    id: Id,
    type: Type.String({ examples: ['login.approved'] }),
    text: Type.String({
      description: 'What happened, in the language of Accept-Language.',
      examples: ['You logged in.'],
    }),
    by: Type.Enum(['user', 'operator', 'system'], { description: 'Who did it.' }),
    device_id: NullableId,
    address: Type.Unsafe<string | null>({
      ...NullableString,
      description: "The client's address, if the user did it.",
    }),
    created_at: Time,
  },
  {
    title: 'ActivityEntry',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        type: 'login.approved',
        text: 'You logged in.',
        by: 'user',
        device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
        address: '198.51.100.7',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type ActivityEntry = Static<typeof ActivityEntry>;
