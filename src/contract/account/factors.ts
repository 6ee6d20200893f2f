import { type Static, Type } from 'typebox';
import { AnyObject, Id, NullableTime, Text, Time } from '../common.js';
import { Proof, ProofUnlessGuest, proofExample } from './proof.js';

const EnrollmentSecret = Text(100, 1);

/** A request to enrol a second factor. */
export const EnrollmentRequest = Type.Object(
  {
    proof: Proof,
    enrollment_secret: Type.Optional(
      Type.Unsafe<string>({
        ...EnrollmentSecret,
        description:
          'For users with a role: the secret of a link that an operator created. The enrolment activates the role.',
      }),
    ),
  },
  { title: 'EnrollmentRequest', examples: [{ proof: proofExample }] },
);
export type EnrollmentRequest = Static<typeof EnrollmentRequest>;

/** Activates a role with an existing second factor. */
export const RoleActivation = Type.Object(
  { enrollment_secret: EnrollmentSecret, proof: Proof },
  {
    title: 'RoleActivation',
    examples: [
      {
        enrollment_secret: 'psl_4Nn0mYqk2v1o0fJH8xv3p7Wc6bq5s9TtZr2LdQeXaUk',
        proof: { type: 'totp', secret: '271828' },
      },
    ],
  },
);
export type RoleActivation = Static<typeof RoleActivation>;

/** The data for the enrolment of an authenticator app. */
export const NewTotp = Type.Object(
  {
    id: Id,
    secret: Type.String({ description: 'Base32, to type into the app.' }),
    uri: Type.String({ description: 'The secret as an otpauth URI, for a QR code.' }),
    expires_at: Time,
  },
  {
    title: 'NewTotp',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
        uri: 'otpauth://totp/Postern:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Postern&algorithm=SHA1&digits=6&period=30',
        expires_at: '2017-10-19T17:12:03.181879Z',
      },
    ],
  },
);
export type NewTotp = Static<typeof NewTotp>;

export const TotpConfirmation = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 64, description: 'The code that the app shows.' }) },
  { title: 'TotpConfirmation', examples: [{ secret: '271828' }] },
);

export const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(Type.String(), {
      description: 'New codes. Each replaces the second factor in one login. Shown once.',
    }),
  },
  { title: 'RecoveryCodes', examples: [{ recovery_codes: ['7k2m-q9xw-03tf', 'b6hn-4yrc-8zjp'] }] },
);
export type RecoveryCodes = Static<typeof RecoveryCodes>;

const PasskeyName = Text(100, 1);

export const Passkey = Type.Object(
  {
    id: Id,
    name: Type.String(),
    transports: Type.Array(Type.String()),
    backed_up: Type.Boolean({ description: "Whether it is synchronised between the user's devices." }),
    created_at: Time,
    last_used_at: NullableTime,
  },
  {
    title: 'Passkey',
    examples: [
      {
        id: '6c84fb90-12c4-41b2-9f0c-6f1a6f4b7d11',
        name: 'Phone',
        transports: ['hybrid', 'internal'],
        backed_up: true,
        created_at: '2017-10-19T17:02:03.181879Z',
        last_used_at: null,
      },
    ],
  },
);
export type Passkey = Static<typeof Passkey>;

export const PasskeyRequest = Type.Object(
  { ...EnrollmentRequest.properties, proof: ProofUnlessGuest, name: Type.Optional(PasskeyName) },
  { title: 'PasskeyRequest', examples: [{ proof: proofExample, name: 'Phone' }] },
);
export type PasskeyRequest = Static<typeof PasskeyRequest>;

/** The data for the enrolment of a passkey. */
export const NewPasskey = Type.Object(
  {
    id: Id,
    options: AnyObject('WebAuthn creation options as JSON, for navigator.credentials.create().'),
    expires_at: Time,
  },
  {
    title: 'NewPasskey',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        options: {
          challenge: 'Zm9yIHlvdXIgZXllcyBvbmx5LCBmb3IgdGhpcyBvbmNl',
          rp: { id: 'example.com', name: 'Postern' },
          user: { id: 'CwukHFovTFOhuC9fCpwaEQ', name: 'ada', displayName: 'Ada Lovelace' },
          pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
        },
        expires_at: '2017-10-19T17:07:03.181879Z',
      },
    ],
  },
);
export type NewPasskey = Static<typeof NewPasskey>;

export const PasskeyAnswer = Type.Object(
  { response: AnyObject("The browser's RegistrationResponseJSON for these options.") },
  {
    title: 'PasskeyAnswer',
    examples: [
      {
        response: {
          id: 'q7Vb5lqJ0cE',
          rawId: 'q7Vb5lqJ0cE',
          type: 'public-key',
          response: { clientDataJSON: 'eyJ0eXBlIjoi…', attestationObject: 'o2NmbXRk…', transports: ['internal'] },
          clientExtensionResults: {},
        },
      },
    ],
  },
);

export const PasskeyChange = Type.Object(
  { name: PasskeyName },
  { title: 'PasskeyChange', examples: [{ name: 'Work laptop' }] },
);
