import { type Static, Type } from 'typebox';
import { MessageChannel } from './administration.js';
import { Id, Text, Time } from './common.js';
import { userFieldsWith } from './user-fields.js';

export const User = Type.Object(userFieldsWith('answer'), {
  title: 'User',
  examples: [
    {
      id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
      username: 'ada',
      email: null,
      email_verified: false,
      phone: '+15551234567',
      phone_verified: true,
      external_id: 'customer-4711',
      name: 'Ada Lovelace',
      locale: 'en',
      status: 'active',
      role: 'user',
      is_guest: false,
      role_active: false,
      lock: null,
      guess_locks: [],
      has_password: true,
      has_pin: false,
      pin_recovery: null,
      second_factor: null,
      second_factors: [{ type: 'totp', created_at: '2017-10-19T17:02:03.181879Z' }],
      metadata: {},
      roles: ['editor'],
      claims: { plan: 'pro' },
      last_login_at: '2017-10-20T09:31:47.023410Z',
      created_at: '2017-10-19T17:02:03.181879Z',
      updated_at: '2017-10-19T17:02:03.181879Z',
    },
  ],
});
export type User = Static<typeof User>;

export const NewUser = Type.Object(userFieldsWith('create'), {
  title: 'NewUser',
  examples: [{ username: 'ada', phone: '+15551234567', password: 'correct horse battery', name: 'Ada Lovelace' }],
});
export type NewUser = Static<typeof NewUser>;

/** Changes only the members that are present; null removes a value. */
export const UserChange = Type.Object(userFieldsWith('change'), {
  title: 'UserChange',
  examples: [{ name: 'Ada King', email: 'ada@example.com' }],
});
export type UserChange = Static<typeof UserChange>;

export const LockRequest = Type.Object(
  {
    permanent: Type.Optional(Type.Boolean()),
    until: Type.Optional(Type.String({ maxLength: 64, description: 'End of a temporary lock, a time in the future.' })),
    reason: Type.Optional(Text(1024)),
  },
  {
    title: 'LockRequest',
    examples: [{ until: '2030-01-01T00:00:00Z', reason: 'Reported stolen' }, { permanent: true }],
  },
);
export type LockRequest = Static<typeof LockRequest>;

/** How many logins (authentication tokens) an operator's logout ended. */
export const LogoutResult = Type.Object({ ended: Type.Integer() }, { title: 'LogoutResult' });

/** How a user gets a code to set a password. */
export const PasswordCodeRequest = Type.Object(
  { channel: { ...MessageChannel, description: 'How to send the code.' } },
  { title: 'PasswordCodeRequest', examples: [{ channel: 'email' }] },
);

export const SentPasswordCode = Type.Object(
  {
    channel: MessageChannel,
    destination: Type.String({ description: 'A part of the address, such as `+15…67` or `a…@example.com`.' }),
  },
  { title: 'SentPasswordCode', examples: [{ channel: 'email', destination: 'a…@example.com' }] },
);
export type SentPasswordCode = Static<typeof SentPasswordCode>;

/** A link with which a user enrols a second factor and activates a role. */
export const EnrollmentLink = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: 'The id of the link in audit events.' }),
    url: Type.String({
      description:
        'The link, which the user opens in a browser. Other clients send the part after `#` as `enrollment_secret` when they enrol a factor or activate the role.',
    }),
    secret: Type.String({
      description: 'The part of the link after `#`, for other clients. Shown once. Valid for one enrolment.',
    }),
    expires_at: Time,
  },
  {
    title: 'EnrollmentLink',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        url: 'https://auth.example.com/console/setup#psl_4Nn0mYqk2v1o0fJH8xv3p7Wc6bq5s9TtZr2LdQeXaUk',
        secret: 'psl_4Nn0mYqk2v1o0fJH8xv3p7Wc6bq5s9TtZr2LdQeXaUk',
        expires_at: '2017-10-19T17:32:03.181879Z',
      },
    ],
  },
);
export type EnrollmentLink = Static<typeof EnrollmentLink>;
