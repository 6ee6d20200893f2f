import { type Static, Type } from 'typebox';
import { DeviceIdInput, HumanCheckToken, Id, pinPattern, Text, Time } from '../common.js';
import { CheckedCode, CodeAnswer, ContactAddress, checkMember } from './code.js';

const RecoverableSecret = Type.Enum(['password', 'pin'] as const, { title: 'RecoverableSecret' });

export const RecoveryRequest = Type.Object(
  {
    identity: ContactAddress,
    human_check: HumanCheckToken,
    purpose: { ...RecoverableSecret, description: 'Which secret the user has forgotten.' },
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
    check: checkMember,
    password: Type.Optional(Text(1024, 1)),
    pin: Type.Optional(Type.String({ pattern: pinPattern })),
  },
  {
    title: 'RecoveryAnswer',
    description:
      'The request that completes a recovery: the code as `secret`, and the new password or PIN. A recovery through an address that nobody had proven needs no password.',
    examples: [{ secret: '271828', password: 'nine dull horses' }],
  },
);
export type RecoveryAnswer = Static<typeof RecoveryAnswer>;

export const Recovered = Type.Object(
  {
    id: Id,
    recovered: RecoverableSecret,
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

/** The answer to a code: the recovery, or only that the code is correct. */
export const RecoveryResult = Type.Union([Recovered, CheckedCode], { title: 'RecoveryResult' });
export type RecoveryResult = Static<typeof RecoveryResult>;

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
