import { type Static, Type } from 'typebox';
import { AddressType } from '../account/code.js';
import { Id, NullableId, Time } from '../common.js';

const members = {
  id: Id,
  identity: Type.Object({ type: AddressType, value: Type.String() }, { title: 'TestAddress' }),
  user_id: Type.Unsafe<string | null>({
    ...NullableId,
    description:
      'The user who logs in with it. null: no user has the address, or it moved to another user since the creation.',
  }),
  expires_at: Type.Unsafe<string>({ ...Time, description: 'When the test identity stops working.' }),
  created_by: Type.String({ description: 'The API key or the operator, as in audit events.' }),
  created_at: Time,
};

const example = {
  id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
  identity: { type: 'phone', value: '+15551234567' },
  user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
  expires_at: '2030-01-01T00:00:00.000000Z',
  created_by: 'user:582a5abb-1335-4794-4855-11e067b8c55e',
  created_at: '2017-10-19T17:02:03.181879Z',
} as const;

/** An address for which Postern accepts a fixed code. */
export const TestIdentity = Type.Object(members, { title: 'TestIdentity', examples: [example] });
export type TestIdentity = Static<typeof TestIdentity>;

export const IssuedTestIdentity = Type.Object(
  { ...members, code: Type.String({ description: 'The fixed code. Only this response shows it.' }) },
  { title: 'IssuedTestIdentity', examples: [{ ...example, code: '424242' }] },
);
export type IssuedTestIdentity = Static<typeof IssuedTestIdentity>;

/** The longest lifetime of a test identity. */
export const maxTestIdentityDays = 90;

export const NewTestIdentity = Type.Object(
  {
    identity: Type.Object(
      {
        type: AddressType,
        value: Type.String({ minLength: 1, maxLength: 320, description: 'A phone number or a mail address.' }),
      },
      { title: 'NewTestAddress' },
    ),
    code: Type.Optional(
      Type.String({ pattern: '^[0-9]{6}$', description: 'Six digits. If it is missing, Postern creates one.' }),
    ),
    expires_at: Type.String({
      maxLength: 64,
      description: `A time in the future, at most ${maxTestIdentityDays} days from now.`,
    }),
  },
  {
    title: 'NewTestIdentity',
    examples: [
      { identity: { type: 'phone', value: '+1 555 123 4567' }, code: '424242', expires_at: '2030-01-01T00:00:00Z' },
    ],
  },
);
export type NewTestIdentity = Static<typeof NewTestIdentity>;
