import { Type } from 'typebox';
import { Id, Time } from '../common.js';

/** An operation that has started. A code completes it. */
export const StartedChallenge = Type.Object(
  { id: Id, expires_at: Type.Unsafe<string>({ ...Time, description: 'When the code expires.' }) },
  {
    title: 'StartedChallenge',
    examples: [{ id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53', expires_at: '2017-10-19T17:07:03.181879Z' }],
  },
);

/** A mail address, phone number or username, as a user types it. */
export const IdentityText = Type.String({ minLength: 1, maxLength: 320 });

export const CodeAnswer = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 64, description: 'The code.' }) },
  { title: 'CodeAnswer', examples: [{ secret: '271828' }] },
);

export const AddressType = Type.Enum(['email', 'phone'] as const, { title: 'AddressType' });

export const ContactAddress = Type.Object(
  {
    type: AddressType,
    value: IdentityText,
  },
  { title: 'ContactAddress' },
);
