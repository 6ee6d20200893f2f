import { type Static, Type } from 'typebox';
import { Id, NullableString, NullableText, NullableTime, Text, Time } from './common.js';

/** A blocked address or range. */
export const Block = Type.Object(
  {
    id: Id,
    address: Type.String({ description: 'An address, or a range in CIDR notation.' }),
    reason: NullableString,
    ends_at: Type.Unsafe<string | null>({ ...NullableTime, description: 'null: until it is deleted.' }),
    created_by: Type.String({ description: 'The API key or the operator, as in audit events.' }),
    created_at: Time,
  },
  {
    title: 'Block',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        address: '203.0.113.0/24',
        reason: 'Guesses passwords',
        ends_at: '2030-01-01T00:00:00.000000Z',
        created_by: 'user:0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Block = Static<typeof Block>;

export const NewBlock = Type.Object(
  {
    address: {
      ...Text(64, 1),
      description:
        'An IPv4 or IPv6 address, or a range in CIDR notation. Bits after the prefix become zero. IPv4-mapped IPv6 becomes IPv4.',
    },
    reason: Type.Optional(NullableText(1024)),
    ends_at: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        maxLength: 64,
        description: 'A time in the future. null or absent: until it is deleted.',
      }),
    ),
    allow_own: Type.Optional(
      Type.Boolean({
        description:
          'Allows a range that contains the address of this request. Without it, such a range is refused (own_address).',
      }),
    ),
  },
  {
    title: 'NewBlock',
    examples: [{ address: '203.0.113.0/24', reason: 'Guesses passwords', ends_at: '2030-01-01T00:00:00Z' }],
  },
);
export type NewBlock = Static<typeof NewBlock>;
