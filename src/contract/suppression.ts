import { type Static, Type } from 'typebox';
import { Id, Text, Time } from './common.js';

/** Why an address gets no mail except codes. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'soft_bounces', 'manual'] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

export const Suppression = Type.Object(
  {
    id: Id,
    reason: Type.Enum(suppressionReasons, {
      description:
        'hard_bounce: the mailbox does not exist. complaint: its owner has reported a mail as spam. soft_bounces: 5 mails within 14 days did not arrive. manual: an operator has added it.',
    }),
    created_at: Time,
  },
  {
    title: 'Suppression',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        reason: 'hard_bounce',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Suppression = Static<typeof Suppression>;

/** A mail address in a body: URLs are written to logs. */
export const SuppressedAddress = Type.Object(
  { email: Text(320, 1) },
  { title: 'SuppressedAddress', examples: [{ email: 'ada@example.com' }] },
);
export type SuppressedAddress = Static<typeof SuppressedAddress>;
