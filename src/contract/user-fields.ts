import { type TSchema, Type } from 'typebox';
import { AnyObject, Id, maxExternalIdLength, NullableString, NullableTime, pinPattern, Text, Time } from './common.js';

const userStatuses = ['active', 'deactivated'] as const;
/** The roles, in order of increasing rights. */
export const roles = ['user', 'support', 'operator'] as const;
/** The most roles of the app that a user can have. */
export const maxRoles = 32;
/** When a login needs a second factor: never, for users with an authenticator app, for users with any second factor. The stricter comes later. */
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
    'When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey, which the login enrols if the user has none). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies.',
});

const Metadata = AnyObject('Your own data: any JSON object of up to 16 KiB.', 'Metadata');
const rolesOf = (description: string) => ({
  type: 'array',
  items: { type: 'string', pattern: '^[a-z0-9:._-]{1,64}$' },
  maxItems: maxRoles,
  uniqueItems: true,
  description,
});
/** The roles that your app gives, as answers show them. */
export const Roles = Type.Unsafe<string[]>(
  rolesOf(
    "The roles that your app gives, in alphabetical order. They mean what your app says. Not the operators' role.",
  ),
);
const NewRoles = Type.Unsafe<string[]>(rolesOf('The roles that your app gives: at most 32, in any order.'));
const RolesChange = Type.Unsafe<string[] | { readonly add?: string[]; readonly remove?: string[] }>({
  ...rolesOf('All roles of the user from now on, or roles to add and to remove. At most 32.'),
  type: ['array', 'object'],
  properties: { add: rolesOf('Roles that the user gets.'), remove: rolesOf('Roles that the user loses.') },
  additionalProperties: false,
  title: 'RolesChange',
});
export const Claims = AnyObject(
  'What other services may know of the user: any JSON object of up to 2 KiB. Checks of sessions show it to the app.',
  'Claims',
);
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

export const IsGuest = Type.Boolean({
  description:
    'Whether the user is a guest: without any credential, until the first address, passkey or account at a provider.',
});

const IdentityValue = Type.String({ minLength: 1, maxLength: 320 });
const NullableIdentity = Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 320 });
const externalId = {
  minLength: 1,
  maxLength: maxExternalIdLength,
  description:
    'The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it.',
};
const yesOrNo = { kind: 'enum', values: ['true', 'false'] } as const;
/** The field that says whether an address is proven. */
const verified = (address: string) => {
  const description = `Whether the ${address} is proven: by a code, or because the operator vouches for it. Codes and notices go only to proven addresses. false without a ${address}.`;
  const input = Type.Optional(
    Type.Boolean({ description: `Whether the ${address} is proven. The default for a new ${address} is true.` }),
  );
  return {
    answer: Type.Boolean({ description }),
    create: input,
    change: input,
    stored: 'boolean',
    filter: yesOrNo,
    isInEvents: true,
  } as const;
};
const Locale = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$',
  description: 'BCP 47 tag, such as en or es-MX.',
});
const Pin = Type.String({ pattern: pinPattern });
const MustChange = Type.Boolean({
  description:
    'With a password: whether it is for one use. A login with it asks for a new password. Passwords that an operator sets with a session are always for one use.',
});

/** What differs from field to field of a user. */
interface UserField {
  /** The member of answers. */
  readonly answer?: TSchema;
  /** The member of requests that create or import a user. All are optional. */
  readonly create?: TSchema;
  /** The member of requests that change a user. */
  readonly change?: TSchema;
  /** How the column of the same name is written when a user is created. */
  readonly stored?: 'text' | 'jsonb' | 'boolean';
  /**
   * The column of the same name: answers show it as it is, and requests that have the field write it. The answer of a field
   * without it is computed.
   */
  readonly isColumn?: true;
  /** The value of a new user whose request has none. The default is null. */
  readonly initial?: unknown;
  /** How filters of lists of users read values. A field without it cannot be used in filters. */
  readonly filter?: {
    readonly kind: 'id' | 'string' | 'enum' | 'key' | 'time';
    /** The values of a field of kind `enum`. */
    readonly values?: readonly string[];
    /** Whether a `string` field has the operator `like`. */
    readonly like?: true;
  };
  /** Whether audit events show the values before and after a change. */
  readonly isInEvents?: true;
}

const like = { kind: 'string', like: true } as const;
const stored = { stored: 'text', isColumn: true } as const;
const identity = {
  answer: NullableString,
  create: Type.Optional(IdentityValue),
  change: Type.Optional(NullableIdentity),
  ...stored,
  filter: like,
  isInEvents: true,
} as const;

/**
 * The fields of a user, in the order of answers. The schemas and types of answers and of requests that create, import
 * and change users derive from this table, and so do the columns, the statements, the filters and the values in events.
 * What the table cannot say is in `users/queries.ts` (computed columns), `users/values.ts` (secrets and addresses) and
 * `users/search/fields.ts` (computed filters).
 */
const userFields = {
  id: { answer: Id, isColumn: true, filter: { kind: 'id' } },
  username: identity,
  email: identity,
  email_verified: verified('mail address'),
  phone: identity,
  phone_verified: verified('phone number'),
  external_id: {
    answer: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The external id: the id of the user in your other systems, or null.',
    }),
    create: Type.Optional(Type.String(externalId)),
    change: Type.Optional(Type.Unsafe<string | null>({ ...externalId, type: ['string', 'null'] })),
    ...stored,
    filter: { kind: 'string' },
    isInEvents: true,
  },
  name: {
    answer: Type.String(),
    create: Type.Optional(Text(255)),
    change: Type.Optional(Text(255)),
    ...stored,
    initial: '',
    filter: like,
    isInEvents: true,
  },
  locale: {
    answer: NullableString,
    create: Type.Optional(Locale),
    change: Type.Optional(Locale),
    ...stored,
    filter: { kind: 'key' },
    isInEvents: true,
  },
  password: {
    create: Type.Optional(Text(1024, 1)),
    change: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 1024,
        description: 'Ends every login of the user.',
      }),
    ),
  },
  must_change: {
    create: Type.Optional(MustChange),
    change: Type.Optional(MustChange),
    stored: 'boolean',
  },
  password_hash: {
    create: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'A hash from another system, instead of password: argon2, bcrypt, scrypt, PBKDF2, phpass, sha256-crypt, sha512-crypt or SSHA, also as WordPress, Firebase, Keycloak and ASP.NET write it.',
      }),
    ),
    stored: 'text',
  },
  pin: {
    create: Type.Optional(Pin),
    change: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: pinPattern })),
  },
  pin_hash: { stored: 'text' },
  status: {
    answer: Status,
    change: Type.Optional({ ...Status, description: 'deactivated ends every login of the user.' }),
    isColumn: true,
    filter: { kind: 'enum', values: userStatuses },
  },
  role: {
    answer: Role,
    create: Type.Optional(Role),
    change: Type.Optional(Role),
    ...stored,
    initial: 'user',
    filter: { kind: 'enum', values: roles },
    isInEvents: true,
  },
  is_guest: { answer: IsGuest, stored: 'boolean', isColumn: true, filter: yesOrNo },
  role_active: { answer: RoleActive },
  lock: { answer: Lock },
  /** Whether an operator's lock is in effect. */
  locked: { filter: yesOrNo },
  guess_locks: { answer: GuessLocks },
  guess_locked: { filter: yesOrNo },
  // The key of a topic to which the user is subscribed.
  topic: { filter: { kind: 'key' } },
  has_password: { answer: Type.Boolean() },
  has_pin: { answer: Type.Boolean() },
  pin_recovery: { answer: PinRecovery },
  second_factor: { answer: NullablePolicy, change: Type.Optional(NullablePolicy), isColumn: true, isInEvents: true },
  second_factors: { answer: SecondFactors },
  /** A user with an app and a passkey matches both. */
  factor: { filter: { kind: 'enum', values: ['totp', 'passkey', 'none'] } },
  metadata: {
    answer: Metadata,
    create: Type.Optional(Metadata),
    change: Type.Optional(Metadata),
    stored: 'jsonb',
    isColumn: true,
    initial: {},
  },
  roles: {
    answer: Roles,
    create: Type.Optional(NewRoles),
    change: Type.Optional(RolesChange),
    stored: 'jsonb',
    isColumn: true,
    initial: [],
    // A role may contain colons. The clause compares with each role of the user.
    filter: { kind: 'string' },
    isInEvents: true,
  },
  claims: {
    answer: Claims,
    create: Type.Optional(Claims),
    change: Type.Optional(Claims),
    stored: 'jsonb',
    isColumn: true,
    initial: {},
  },
  last_login_at: {
    answer: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'The last login on a device that is not removed. null: none.',
    }),
    filter: { kind: 'time' },
  },
  created_at: { answer: Time, isColumn: true, filter: { kind: 'time' } },
  updated_at: { answer: Time, isColumn: true, filter: { kind: 'time' } },
} as const satisfies Record<string, UserField>;

type Fields = typeof userFields;

/** The names of the fields that have this property. */
export type UserFieldsWith<Property extends keyof UserField> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly [Key in Property]: unknown } ? Name : never;
}[keyof Fields];

/** The values of a property, by the names of the fields that have it, in the order of the table. */
export function userFieldsWith<Property extends keyof UserField>(property: Property) {
  const found = Object.entries<UserField>(userFields).filter(([, field]) => property in field);
  return Object.fromEntries(found.map(([name, field]) => [name, field[property]])) as {
    readonly [Name in UserFieldsWith<Property>]: Fields[Name] extends { readonly [Key in Property]: infer Value }
      ? Value
      : never;
  };
}
