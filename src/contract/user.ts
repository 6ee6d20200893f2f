import { type Static, Type } from 'typebox';
import { AnyObject, Id, maxExternalIdLength, NullableString, NullableTime, pinPattern, Text, Time } from './common.js';

export const userStatuses = ['active', 'deactivated'] as const;
/** The roles, in order of increasing rights. */
export const roles = ['user', 'support', 'operator'] as const;
/** When a login needs a second factor: never, for users with an authenticator app, for users with any second factor. */
export const secondFactorPolicies = ['off', 'own', 'required'] as const;

/** The kinds of second factor that a user can enrol. */
export const SecondFactorType = Type.Enum(['totp', 'passkey'] as const, { title: 'SecondFactorType' });

/** A second factor of a user. */
const SecondFactor = Type.Object(
  {
    type: SecondFactorType,
    created_at: Time,
  },
  { title: 'SecondFactor' },
);
/** @public part of the contract */
export const SecondFactors = Type.Array(SecondFactor, { description: 'The enrolled second factors, oldest first.' });

const NullablePolicy = Type.Unsafe<(typeof secondFactorPolicies)[number] | null>({
  title: 'SecondFactorPolicy',
  type: ['string', 'null'],
  enum: [...secondFactorPolicies, null],
  description:
    'When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies.',
});

const Metadata = AnyObject('Your own data: any JSON object of up to 16 KiB.', 'Metadata');
const Status = Type.Enum(userStatuses, { title: 'UserStatus' });
export const Role = Type.Enum(roles, { title: 'Role' });

const Lock = Type.Unsafe<{ permanent: boolean; until: string | null; reason: string | null } | null>({
  title: 'OperatorLock',
  type: ['object', 'null'],
  description: "An operator's lock, or null. A temporary lock that has ended is null.",
  properties: { permanent: { type: 'boolean' }, until: NullableTime, reason: NullableString },
  required: ['permanent', 'until', 'reason'],
});

const GuessLocks = Type.Array(
  Type.Object(
    {
      device_id: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'uuid',
        description:
          'The known device whose logins are locked. null: all devices on which the user has never logged in.',
      }),
      since: Time,
      until: Type.Unsafe<string | null>({ ...NullableTime, description: 'null: until an operator unlocks the user.' }),
      permanent: Type.Boolean(),
    },
    { title: 'GuessLock' },
  ),
  { description: 'The active locks by wrong secrets, oldest first. Existing tokens and sessions keep working.' },
);

/** @public part of the contract */
export const PinRecovery = Type.Unsafe<{ started_at: string; effective_at: string } | null>({
  title: 'PinRecovery',
  type: ['object', 'null'],
  description:
    'A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none.',
  properties: { started_at: Time, effective_at: Time },
  required: ['started_at', 'effective_at'],
});

export const RoleActive = Type.Boolean({
  description:
    "Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role.",
});

export const User = Type.Object(
  {
    id: Id,
    username: NullableString,
    email: NullableString,
    phone: NullableString,
    external_id: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The external id: the id of the user in your other systems, or null.',
    }),
    name: Type.String(),
    locale: NullableString,
    status: Status,
    role: Role,
    role_active: RoleActive,
    lock: Lock,
    guess_locks: GuessLocks,
    has_password: Type.Boolean(),
    has_pin: Type.Boolean(),
    pin_recovery: PinRecovery,
    second_factor: NullablePolicy,
    second_factors: SecondFactors,
    metadata: Metadata,
    last_login_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'The last login on a device that is not removed. null: none.',
    }),
    created_at: Time,
    updated_at: Time,
  },
  {
    title: 'User',
    examples: [
      {
        id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        username: 'ada',
        email: null,
        phone: '+15551234567',
        external_id: 'customer-4711',
        name: 'Ada Lovelace',
        locale: 'en',
        status: 'active',
        role: 'user',
        role_active: false,
        lock: null,
        guess_locks: [],
        has_password: true,
        has_pin: false,
        pin_recovery: null,
        second_factor: null,
        second_factors: [{ type: 'totp', created_at: '2017-10-19T17:02:03.181879Z' }],
        metadata: {},
        last_login_at: '2017-10-20T09:31:47.023410Z',
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type User = Static<typeof User>;

const IdentityValue = Type.String({ minLength: 1, maxLength: 320 });
const NullableIdentity = Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 320 });
const externalId = {
  minLength: 1,
  maxLength: maxExternalIdLength,
  description:
    'The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it.',
};
const Locale = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$',
  description: 'BCP 47 tag, such as en or es-MX.',
});
const Pin = Type.String({ pattern: pinPattern });

export const NewUser = Type.Object(
  {
    username: Type.Optional(IdentityValue),
    email: Type.Optional(IdentityValue),
    phone: Type.Optional(IdentityValue),
    external_id: Type.Optional(Type.String(externalId)),
    name: Type.Optional(Text(255)),
    locale: Type.Optional(Locale),
    password: Type.Optional(Text(1024, 1)),
    password_hash: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'A hash from another system, instead of password: argon2, bcrypt, scrypt, PBKDF2, phpass, sha256-crypt, sha512-crypt or SSHA, also as WordPress, Firebase, Keycloak and ASP.NET write it.',
      }),
    ),
    pin: Type.Optional(Pin),
    role: Type.Optional(Role),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'NewUser',
    examples: [{ username: 'ada', phone: '+15551234567', password: 'correct horse battery', name: 'Ada Lovelace' }],
  },
);
export type NewUser = Static<typeof NewUser>;

/** Changes only the members that are present; null removes a value. */
export const UserChange = Type.Object(
  {
    username: Type.Optional(NullableIdentity),
    email: Type.Optional(NullableIdentity),
    phone: Type.Optional(NullableIdentity),
    external_id: Type.Optional(Type.Unsafe<string | null>({ ...externalId, type: ['string', 'null'] })),
    name: Type.Optional(Text(255)),
    locale: Type.Optional(Locale),
    password: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 1024,
        description: 'Ends every login of the user.',
      }),
    ),
    pin: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: pinPattern })),
    status: Type.Optional({ ...Status, description: 'deactivated ends every login of the user.' }),
    role: Type.Optional(Role),
    second_factor: Type.Optional(NullablePolicy),
    metadata: Type.Optional(Metadata),
  },
  { title: 'UserChange', examples: [{ name: 'Ada King', email: 'ada@example.com' }] },
);
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
