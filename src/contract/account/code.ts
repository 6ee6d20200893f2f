import { type Static, Type } from 'typebox';
import { Id, Time } from '../common.js';

/** An operation that has started. A code completes it. */
export const StartedChallenge = Type.Object(
  { id: Id, expires_at: Type.Unsafe<string>({ ...Time, description: 'When the code expires.' }) },
  {
    title: 'StartedChallenge',
    examples: [{ id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53', expires_at: '2017-10-19T17:07:03.181879Z' }],
  },
);

/** A code that was sent without a session. */
export const SentCode = Type.Object(
  {
    ...StartedChallenge.properties,
    destination: Type.String({
      description: 'Where the code was sent, shortened as in `+15…67` or `a…@example.com`: the address of the request.',
    }),
    resend_at: Type.Unsafe<string>({
      ...Time,
      description: 'When this address may request the next code: by the same request again, which has another `id`.',
    }),
  },
  {
    title: 'SentCode',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        destination: 'a…@example.com',
        resend_at: '2017-10-19T17:03:03.181879Z',
        expires_at: '2017-10-19T17:07:03.181879Z',
      },
    ],
  },
);
export type SentCode = Static<typeof SentCode>;

/** A mail address, phone number or username, as a user types it. */
export const IdentityText = Type.String({ minLength: 1, maxLength: 320 });

export const CodeAnswer = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 64, description: 'The code.' }) },
  { title: 'CodeAnswer', examples: [{ secret: '271828' }] },
);

/** Asks only whether a code is correct. */
export const checkMember = Type.Optional(
  Type.Boolean({
    description:
      'true: only checks the code, and answers with its end. It counts as a guess, and the code stays valid. So a form can ask for the code first.',
  }),
);

/** A correct code that was not used up. */
export const CheckedCode = Type.Object(
  { expires_at: Type.Unsafe<string>({ ...Time, description: 'When the code expires.' }) },
  { title: 'CheckedCode', examples: [{ expires_at: '2017-10-19T17:07:03.181879Z' }] },
);
export type CheckedCode = Static<typeof CheckedCode>;

export const AddressType = Type.Enum(['email', 'phone'] as const, { title: 'AddressType' });

export const ContactAddress = Type.Object(
  {
    type: AddressType,
    value: IdentityText,
  },
  { title: 'ContactAddress' },
);
