import { type Static, Type } from 'typebox';
import { Scope } from '../administration.js';
import { HumanCheckToken, Id, NullableString, pinPattern, Text, Time } from '../common.js';
import { UserChange } from '../user.js';
import { IsGuest, PinRecovery, Role, RoleActive, SecondFactors, userFieldsWith } from '../user-fields.js';
import { IdentityText } from './code.js';
import { AddressProof, Proof, ProofOption, proofExample } from './proof.js';

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
    email_verified: userFieldsWith('answer').email_verified,
    phone: NullableString,
    phone_verified: userFieldsWith('answer').phone_verified,
    name: Type.String(),
    locale: NullableString,
    has_password: Type.Boolean(),
    has_pin: Type.Boolean(),
    pin_recovery: PinRecovery,
    role: Role,
    is_guest: IsGuest,
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
        email_verified: true,
        phone: '+15551234567',
        phone_verified: true,
        name: 'Ada Lovelace',
        locale: 'en',
        has_password: true,
        has_pin: false,
        pin_recovery: null,
        role: 'user',
        is_guest: false,
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

/** The answer of `GET /v1/account`. */
export const AccountDetails = Type.Object(
  {
    ...Account.properties,
    proofs: Type.Array(ProofOption, {
      description: 'Every way to re-authenticate, and the changes for which it is accepted now.',
    }),
  },
  { title: 'AccountDetails' },
);
export type AccountDetails = Static<typeof AccountDetails>;

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
      { username: 'ada.king', proof: proofExample },
    ],
  },
);
export type AccountChange = Static<typeof AccountChange>;

export const PasswordChange = Type.Object(
  {
    password: Text(1024, 1),
    current_password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'The password that the account has now. Required if the account has a password, unless the proof is of the type password.',
      }),
    ),
    proof: Proof,
  },
  {
    title: 'PasswordChange',
    examples: [
      { password: 'nine dull horses', proof: proofExample },
      {
        password: 'nine dull horses',
        current_password: 'correct horse battery',
        proof: { type: 'totp', secret: '271828' },
      },
    ],
  },
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

export const LogoutRequest = Type.Object(
  { all: Type.Optional(Type.Boolean({ description: 'true: end the calling login too.' })) },
  { title: 'LogoutRequest', examples: [{ all: false }] },
);
export type LogoutRequest = Static<typeof LogoutRequest>;

export const PinChange = Type.Object(
  { pin: Type.String({ pattern: pinPattern }), proof: Proof },
  { title: 'PinChange', examples: [{ pin: '2468', proof: { type: 'pin', secret: '1357' } }] },
);
export type PinChange = Static<typeof PinChange>;

export const EmailChange = Type.Object(
  { email: IdentityText, proof: AddressProof, human_check: HumanCheckToken },
  { title: 'EmailChange', examples: [{ email: 'ada@example.com', proof: proofExample }] },
);
export const PhoneChange = Type.Object(
  { phone: IdentityText, proof: AddressProof, human_check: HumanCheckToken },
  { title: 'PhoneChange', examples: [{ phone: '+15551234567', proof: proofExample }] },
);

/** Moves the inbox of a guest into the account of the caller. */
export const GuestMerge = Type.Object(
  { token: Text(512, 1) },
  {
    title: 'GuestMerge',
    description: 'The authentication token of the guest.',
    examples: [{ token: 'psa_…' }],
  },
);

export const MergedGuest = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: 'The id of the guest, who no longer exists.' }),
    moved: Type.Integer({ description: 'How many notifications were moved.' }),
  },
  { title: 'MergedGuest', examples: [{ id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53', moved: 3 }] },
);
export type MergedGuest = Static<typeof MergedGuest>;
