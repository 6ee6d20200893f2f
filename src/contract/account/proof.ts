import { type Static, Type } from 'typebox';
import { redirectMembers } from '../authentication.js';
import { AnyObject, Id, IdInput, NullableString, Time } from '../common.js';

export const proofTypes = ['password', 'code', 'passkey', 'totp', 'pin', 'provider'] as const;
export type ProofType = (typeof proofTypes)[number];
const ProofType = Type.Enum(proofTypes, { title: 'ProofType' });

/** Re-authentication in a session. The session alone does not prove that the person at the device is the user. */
export const Proof = Type.Object(
  {
    type: ProofType,
    id: Type.Optional(
      Type.Unsafe<string>({
        ...IdInput,
        description: 'For a code, a passkey or a provider: the `id` that POST /v1/account/proofs returned.',
      }),
    ),
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        "The password, the code, the PIN, or a passkey's assertion as JSON text. For a provider: JSON as a text, with the `code` that the browser brought back and your `code_verifier`.",
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

/** A proof that only a guest may omit: a guest has nothing to prove yet. */
export const ProofUnlessGuest = Type.Optional({
  ...Proof,
  description: 'Required, unless the user is a guest (`is_guest`).',
});
/** The proof of a new address. A fresh login at a provider can take its place. */
export const AddressProof = Type.Optional({
  ...Proof,
  description:
    'Required, except in two cases: the user is a guest (`is_guest`), or the user has only accounts at providers, adds the first address, and logged in at the provider at most ten minutes ago. This login must be the one that created the user, or the provider has no id_tokens.',
});

export const proofStartTypes = ['sms', 'email', 'passkey', 'provider'] as const;
export type ProofStart = (typeof proofStartTypes)[number];

export const ProofRequest = Type.Object(
  {
    type: Type.Enum(proofStartTypes, {
      title: 'ProofStart',
      description:
        "sms and email send a code to the account's own phone or mail address. passkey returns a challenge. provider sends the browser to a provider, where the user logs in again.",
    }),
    provider: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'For `provider`: the name of the provider. An account there must be linked to the user.',
      }),
    ),
    ...redirectMembers,
  },
  { title: 'ProofRequest', examples: [{ type: 'sms' }] },
);
export type ProofRequest = Static<typeof ProofRequest>;

export const StartedProof = Type.Object(
  {
    id: Id,
    type: { ...ProofType, description: 'The `type` of the proof to send.' },
    challenge: Type.Optional(
      AnyObject(
        "For a passkey: the browser's request options. For a provider: the `url` to which you send the browser.",
      ),
    ),
    destination: Type.Optional(
      Type.String({
        description: 'For a code: a part of the address to which it was sent, such as `+15…67` or `a…@example.com`.',
      }),
    ),
    resend_at: Type.Optional(
      Type.Unsafe<string>({ ...Time, description: 'For a code: the time from which the next code can be requested.' }),
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

/** A way to re-authenticate, and the changes for which it is accepted now. */
export const ProofOption = Type.Object(
  {
    type: ProofType,
    start: Type.Unsafe<ProofStart | null>({
      type: ['string', 'null'],
      enum: [...proofStartTypes, null],
      title: 'ProofStart',
      description:
        'The `type` to send to POST /v1/account/proofs first. null: the proof needs only a secret, and no such request.',
    }),
    provider: Type.Optional(Type.String({ description: 'Only for `provider`: its name.' })),
    destination: Type.Unsafe<string | null>({
      ...NullableString,
      description:
        'For a code: a part of the address to which it goes, such as `+15…67`. null if the account has no such address, and for other proofs.',
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
        'Why it is not accepted for any change. null: it is accepted. not_set: the account does not have it. not_offered: this service cannot send such codes. second_factor_required: the account has a second factor, so only totp and passkey are accepted.',
    }),
  },
  {
    title: 'ProofOption',
    examples: [{ type: 'password', start: null, destination: null, accepted_for: ['account', 'pin'], reason: null }],
  },
);
export type ProofOption = Static<typeof ProofOption>;

/** The proof in the examples of requests. */
export const proofExample = { type: 'password', secret: 'correct horse battery' };

/** A request that needs only a proof. */
export const ProvenRequest = Type.Object(
  { proof: Proof },
  { title: 'ProvenRequest', examples: [{ proof: proofExample }] },
);

/** A proof that is recorded for the session, and the token of the session that replaces the calling one. */
export const RecordedProof = Type.Object(
  {
    proven_at: Time,
    expires_at: Type.Unsafe<string>({
      ...Time,
      description: 'The session counts as re-authenticated until this time.',
    }),
    token: Type.String({
      description:
        'The token of a new session, which replaces the calling one and expires at the same time. Use it from now on: the old token is valid until the new one is first used, for 60 seconds at most.',
    }),
  },
  {
    title: 'RecordedProof',
    examples: [{ proven_at: '2017-10-19T17:02:03.181879Z', expires_at: '2017-10-19T17:17:03.181879Z', token: 'pss_…' }],
  },
);
