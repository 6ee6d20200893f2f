import { type Static, Type } from 'typebox';
import { Id, NullableId, NullableString, Time } from '../common.js';

/** An event of the account, described for the user. */
export const ActivityEntry = Type.Object(
  {
    id: Id,
    type: Type.String({ examples: ['login.approved'] }),
    text: Type.String({
      description: 'What happened, in the language of Accept-Language.',
      examples: ['You signed in.'],
    }),
    params: Type.Object(
      {
        fields: Type.Optional(Type.String({ description: 'The changed fields, separated by a comma and a space.' })),
        field: Type.Optional(Type.String({ examples: ['email'] })),
        recovers: Type.Optional(Type.String({ examples: ['password'] })),
        provider: Type.Optional(Type.String({ examples: ['google'] })),
        left: Type.Optional(Type.String({ description: 'The number of recovery codes that are left.' })),
      },
      { title: 'ActivityParams', description: 'What the text names, for clients with texts of their own.' },
    ),
    by: Type.Enum(['user', 'operator', 'system'], { description: 'Who caused the event.' }),
    device_id: NullableId,
    address: Type.Unsafe<string | null>({
      ...NullableString,
      description: "The client's address, if the user caused the event.",
    }),
    created_at: Time,
  },
  {
    title: 'ActivityEntry',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        type: 'login.approved',
        text: 'You signed in.',
        params: {},
        by: 'user',
        device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
        address: '198.51.100.7',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type ActivityEntry = Static<typeof ActivityEntry>;
