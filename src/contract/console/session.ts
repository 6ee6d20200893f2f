import { type Static, Type } from 'typebox';
import { NullableId } from '../common.js';

/** Signs in to the console: the authentication token of a login that used a second factor. */
export const ConsoleSignIn = Type.Object(
  {
    authentication_token: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The token of an approved login. Postern stores it in a cookie that scripts cannot read.',
    }),
  },
  {
    title: 'ConsoleSignIn',
    examples: [
      {
        authentication_token:
          'psa_WCpau6ozR5RIVRHgZ7jFXgsLpBxaL0xTobgvXwqcGhFwSmz1o0Ew2yNq3cR7uXk8bVd5tHsZ9aQeLw4mJpYtU6rC',
      },
    ],
  },
);
export type ConsoleSignIn = Static<typeof ConsoleSignIn>;

/** Facts about this installation for the console. It says nothing about users, so it is public. */
export const ConsoleEntry = Type.Object(
  {
    app_name: Type.String({ description: 'APP_NAME of this installation.' }),
    takes_pin: Type.Boolean({ description: 'Whether a login with a password can have a PIN, by PIN_POLICY.' }),
    notification_types: Type.Array(Type.String(), { description: 'NOTIFICATION_TYPES of this installation.' }),
    device_id: Type.Unsafe<string | null>({
      ...NullableId,
      description:
        'The device on which this browser last signed in. Send it as `device.id` of the login, so that the login counts as one on a known device.',
    }),
  },
  {
    title: 'ConsoleEntry',
    examples: [
      {
        app_name: 'Postern',
        takes_pin: true,
        notification_types: ['payment', 'pool', 'request'],
        device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
      },
    ],
  },
);
export type ConsoleEntry = Static<typeof ConsoleEntry>;
