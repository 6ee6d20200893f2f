import { type Static, Type } from 'typebox';
import { DeviceInput } from '../authentication.js';
import { AnyObject, Id, Text, Time } from '../common.js';
import { NewSession } from '../session.js';
import { NewUser } from '../user.js';
import { SecondFactorType } from '../user-fields.js';

/** The roles that a set-up link can give. */
export const setUpRoles = ['support', 'operator'] as const;
export type SetUpRole = (typeof setUpRoles)[number];

const secret = 'psu_4Nn0mYqk2v1o0fJH8xv3p7Wc6bq5s9TtZr2LdQeXaUk';

const LinkSecret = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The secret of the link: the part after `#`.',
});

export const SetUpLinkRequest = Type.Object(
  { secret: LinkSecret },
  { title: 'SetUpLinkRequest', examples: [{ secret }] },
);

const Role = Type.Enum(setUpRoles, { title: 'SetUpRole', description: 'The role of the new user.' });

export const NewSetUpLinkRequest = Type.Object(
  { role: Role },
  { title: 'NewSetUpLinkRequest', examples: [{ role: 'support' }] },
);

/** A new set-up link. Its secret is shown once. */
export const IssuedSetUpLink = Type.Object(
  {
    role: Role,
    url: Type.String({ description: 'The link, which the person opens in a browser. Shown once. Valid for one user.' }),
    expires_at: Time,
  },
  {
    title: 'IssuedSetUpLink',
    examples: [
      {
        role: 'support',
        url: `https://auth.example.com/console/setup#${secret}`,
        expires_at: '2017-10-19T17:32:03.181879Z',
      },
    ],
  },
);
export type IssuedSetUpLink = Static<typeof IssuedSetUpLink>;

/** The role that a set-up link gives, and the rules for its form. */
export const SetUpLink = Type.Object(
  {
    role: Role,
    expires_at: Time,
    app_name: Type.String({ description: 'APP_NAME of this installation.' }),
    password_min: Type.Integer({ description: 'The minimum length of the password.' }),
  },
  {
    title: 'SetUpLink',
    examples: [{ role: 'operator', expires_at: '2017-10-19T17:32:03.181879Z', app_name: 'Postern', password_min: 8 }],
  },
);
export type SetUpLink = Static<typeof SetUpLink>;

/** What the form sends about the new operator. At least one of `username` and `email` is required. */
const operator = {
  secret: LinkSecret,
  name: Text(255, 1),
  username: NewUser.properties.username,
  email: NewUser.properties.email,
  password: Text(1024, 1),
  locale: NewUser.properties.locale,
};

const exampleOperator = { secret, name: 'Ada Lovelace', username: 'ada', password: 'nine dull horses' };

export const SetUpFactorRequest = Type.Object(
  {
    ...operator,
    factor: SecondFactorType,
  },
  { title: 'SetUpFactorRequest', examples: [{ ...exampleOperator, factor: 'totp' }] },
);
export type SetUpFactorRequest = Static<typeof SetUpFactorRequest>;

/** A second factor to enrol. It has either `totp` or `passkey`. */
export const SetUpFactor = Type.Object(
  {
    id: Id,
    totp: Type.Optional(
      Type.Object(
        {
          secret: Type.String({ description: 'Base32, to type into the app.' }),
          uri: Type.String({ description: 'The secret as an otpauth URI, for a QR code.' }),
        },
        { title: 'SetUpTotp' },
      ),
    ),
    passkey: Type.Optional(
      Type.Object(
        { options: AnyObject('WebAuthn creation options as JSON, for navigator.credentials.create().') },
        { title: 'SetUpPasskey' },
      ),
    ),
    expires_at: Time,
  },
  {
    title: 'SetUpFactor',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        totp: {
          secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
          uri: 'otpauth://totp/Postern:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Postern&algorithm=SHA1&digits=6&period=30',
        },
        expires_at: '2017-10-19T17:12:03.181879Z',
      },
    ],
  },
);
export type SetUpFactor = Static<typeof SetUpFactor>;

export const SetUpCompletion = Type.Object(
  {
    ...operator,
    factor_id: Type.Unsafe<string>({ ...Id, maxLength: 36, description: '`id` of the factor.' }),
    code: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'For an authenticator app: the code that it shows.' }),
    ),
    response: Type.Optional(
      AnyObject("For a passkey: the browser's RegistrationResponseJSON for the options.", 'SetUpPasskeyResponse'),
    ),
    device: Type.Optional(DeviceInput),
  },
  {
    title: 'SetUpCompletion',
    description: 'The same details as for the factor, and the answer that confirms the factor: code or response.',
    examples: [{ ...exampleOperator, factor_id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53', code: '271828' }],
  },
);
export type SetUpCompletion = Static<typeof SetUpCompletion>;

/** The result of a set-up: the new user is signed in to the console. */
export const SetUpResult = Type.Object(
  {
    session: NewSession,
    recovery_codes: Type.Array(Type.String(), {
      description: 'Each replaces the second factor in one login. Shown once.',
    }),
  },
  { title: 'SetUpResult' },
);
export type SetUpResult = Static<typeof SetUpResult>;
