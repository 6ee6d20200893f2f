import { type Static, Type } from 'typebox';
import { AnyObject, Id, IdInput, Time } from './common.js';

export const proofTypes = ['password', 'code', 'passkey', 'totp', 'pin'] as const;
export type ProofType = (typeof proofTypes)[number];

/** Shows afresh who is asking: a session alone may be a phone that was left on a table. */
export const Proof = Type.Object(
  {
    type: Type.Enum(proofTypes),
    id: Type.Optional(
      Type.Unsafe<string>({ ...IdInput, description: 'Of the proof that was started: for a code and a passkey.' }),
    ),
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description: "The password, the code, the PIN, or a passkey's assertion as JSON text.",
    }),
  },
  {
    description: 'A fresh proof of who one is. The operation says which types it takes.',
    examples: [{ type: 'password', secret: 'correct horse battery' }],
  },
);
export type Proof = Static<typeof Proof>;

export const proofStarts = ['sms', 'email', 'passkey'] as const;
export type ProofStart = (typeof proofStarts)[number];

export const ProofRequest = Type.Object(
  {
    type: Type.Enum(proofStarts, {
      description: "sms and email send a code to the account's own phone or mail address; passkey answers a challenge.",
    }),
  },
  { examples: [{ type: 'sms' }] },
);

export const StartedProof = Type.Object(
  {
    id: Id,
    type: Type.Enum(proofTypes, { description: 'The type that the proof has when it is used.' }),
    challenge: Type.Optional(AnyObject("For a passkey: the browser's request options.")),
    expires_at: Time,
  },
  {
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        type: 'code',
        expires_at: '2017-10-19T17:07:03.181879Z',
      },
    ],
  },
);
export type StartedProof = Static<typeof StartedProof>;
