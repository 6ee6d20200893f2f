import { type Static, Type } from 'typebox';
import { scopes } from '../administration.js';
import { authenticationStatuses, identityTypes } from '../authentication.js';
import { AnyObject, DeviceIdInput, NullableId, NullableString, NullableTime, Time } from '../common.js';
import { secondFactorPolicies } from '../user-fields.js';
import { loginReasons, loginVerdicts } from './texts.js';

/** The actions that can remove the reason for which a login is refused. */
const remedyActions = [
  'unlock',
  'reset_budget',
  'reactivate',
  'create_user',
  'create_enrollment_link',
  'remove_second_factors',
  'set_password',
  'set_phone',
  'set_email',
  'verify_phone',
  'verify_email',
  'set_pin',
  'remove_pin',
  'link_external_identity',
  'enrol_passkey',
  'configure',
  'retry_message',
] as const;

const Remedy = Type.Object(
  {
    action: Type.Enum(remedyActions, { title: 'LoginRemedyAction' }),
    by: Type.Enum(['operator', 'user', 'administrator'] as const, {
      title: 'LoginRemedyActor',
      description: 'operator: through the route. user: only the user can. administrator: a setting of the service.',
    }),
    method: NullableString,
    path: Type.Unsafe<string | null>({ ...NullableString, description: 'The path of the route, with its ids.' }),
    scope: Type.Unsafe<string | null>({
      title: 'Scope',
      type: ['string', 'null'],
      enum: [...scopes, null],
      description: 'The scope that the route needs for this user.',
    }),
    body: Type.Unsafe<Record<string, unknown> | null>({
      title: 'LoginRemedyBody',
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Members of the body that are known. null: the route takes no body.',
    }),
    fields: Type.Array(Type.String(), { description: 'Members of the body that the caller adds.' }),
    setting: Type.Unsafe<string | null>({ ...NullableString, description: 'The name of the setting.' }),
  },
  { title: 'LoginRemedy' },
);
export type Remedy = Static<typeof Remedy>;

const Reason = Type.Object(
  {
    code: Type.Enum(Object.keys(loginReasons) as (keyof typeof loginReasons)[], { title: 'LoginReasonCode' }),
    effect: Type.Enum(['blocks', 'note'] as const, {
      title: 'LoginReasonEffect',
      description: 'blocks: while this reason applies, no login succeeds. note: the login may succeed.',
    }),
    message: Type.String({ description: 'The reason in the language of Accept-Language.' }),
    since: Type.Unsafe<string | null>({ ...NullableTime, description: 'null: not known.' }),
    until: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'When it ends by itself. null: it does not end by itself, or the time is not known.',
    }),
    data: AnyObject('Details of the reason.', 'LoginReasonData'),
    remedies: Type.Array(Remedy),
  },
  { title: 'LoginReason' },
);
export type Reason = Static<typeof Reason>;

const Answer = Type.Object(
  {
    step: Type.Enum(['start', 'secret', 'second_factor'] as const, {
      title: 'LoginStep',
      description: 'start: POST /v1/tokens. secret and second_factor: POST /v1/tokens/{id}/secret.',
    }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    authentication_status: Type.Unsafe<(typeof authenticationStatuses)[number] | null>({
      title: 'AuthenticationStatus',
      type: ['string', 'null'],
      enum: [...authenticationStatuses, null],
      description: 'The status of the authentication; null for a problem.',
    }),
    code: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The code of the problem, or `error_code` of a rejected authentication. null: no error.',
    }),
  },
  { title: 'LoginAnswer' },
);
export type Answer = Static<typeof Answer>;

const NullableIdentity = Type.Unsafe<{ type: (typeof identityTypes)[number]; value: string } | null>({
  title: 'DiagnosedIdentity',
  type: ['object', 'null'],
  properties: { type: Type.Enum(identityTypes, { title: 'IdentityType' }), value: { type: 'string' } },
  required: ['type', 'value'],
});

const wayVerdicts = ['yes', 'maybe', 'blocked', 'no', 'not_set_up'] as const;

const Way = Type.Object(
  {
    authenticator: Type.String({ examples: ['password'] }),
    verdict: Type.Enum(wayVerdicts, {
      title: 'LoginWayVerdict',
      description:
        'blocked: only a reason for all authenticators refuses it. no: a reason of this authenticator refuses it. not_set_up: the user or the installation does not have it.',
    }),
    until: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'When the refusal ends by itself; null if it does not, or if nothing refuses it.',
    }),
    identity: Type.Unsafe<{ type: (typeof identityTypes)[number]; value: string } | null>({
      ...NullableIdentity,
      description: 'The identity of the login. null for an authenticator that identifies the user itself.',
    }),
    pin: Type.Enum(['ignored', 'any', 'own'] as const, {
      title: 'LoginPinRule',
      description:
        'Which PIN the login accepts. ignored: none is needed. any: any PIN of the right form. own: the PIN of the user.',
    }),
    answers: Type.Array(Answer, {
      description: 'What each step of a login with the right secrets would answer now, until the first refusal.',
    }),
    reasons: Type.Array(Reason, { description: 'The reasons of this authenticator alone.' }),
  },
  { title: 'LoginWay' },
);
export type Way = Static<typeof Way>;

const NullableSecondFactor = Type.Unsafe<{
  policy: (typeof secondFactorPolicies)[number];
  required: boolean;
  types: readonly string[];
} | null>({
  title: 'DiagnosedSecondFactor',
  type: ['object', 'null'],
  description: 'The policy of this user, whether a login must answer a second factor, and the factors. null: no user.',
  properties: {
    policy: Type.Enum(secondFactorPolicies, { title: 'SecondFactorPolicy' }),
    required: { type: 'boolean' },
    types: { type: 'array', items: Type.Enum(['totp', 'passkey'] as const, { title: 'SecondFactorType' }) },
  },
  required: ['policy', 'required', 'types'],
});

export const LoginDiagnosis = Type.Object(
  {
    user_id: Type.Unsafe<string | null>({ ...NullableId, description: 'null: nobody has the identity.' }),
    identity: NullableIdentity,
    device: Type.Object(
      {
        id: NullableId,
        known: Type.Boolean({ description: 'Whether the user has logged in on the device before.' }),
      },
      { title: 'DiagnosedDevice' },
    ),
    address: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The network address whose limits are included. null: none.',
    }),
    checked_at: Time,
    verdict: Type.Enum(['yes', 'maybe', 'no'] as const, { title: 'LoginVerdict' }),
    message: Type.String({ description: 'The verdict in the language of Accept-Language.' }),
    since: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'Since when every authenticator is refused, if known.',
    }),
    until: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'When the first authenticator works again by itself. null: none does, or one works now.',
    }),
    reasons: Type.Array(Reason, { description: 'The reasons for all authenticators. Reasons that block come first.' }),
    second_factor: NullableSecondFactor,
    ways: Type.Array(Way, { description: 'One entry for each authenticator.' }),
  },
  {
    title: 'LoginDiagnosis',
    examples: [
      {
        user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        identity: null,
        device: { id: null, known: false },
        address: null,
        checked_at: '2017-10-19T17:02:03.181879Z',
        verdict: 'no',
        // Without the part in brackets, which says `until`.
        message: `${loginVerdicts.no.en.split('[')[0]?.trim()} It works again by itself at 2017-10-19T17:10:12.000000Z.`,
        since: '2017-10-19T17:02:01.000000Z',
        until: '2017-10-19T17:10:12.000000Z',
        reasons: [
          {
            code: 'new_devices_locked_by_guesses',
            effect: 'blocks',
            message:
              'Wrong secrets locked all new devices until 2017-10-19T17:10:12.000000Z. Wrong secrets since the last success: 25. After 75 more the lock is permanent.',
            since: '2017-10-19T17:02:01.000000Z',
            until: '2017-10-19T17:10:12.000000Z',
            data: { failures: 25, locks: 5, failures_to_permanent: 75 },
            remedies: [
              {
                action: 'reset_budget',
                by: 'operator',
                method: 'POST',
                path: '/admin/v1/users/0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11/unlock',
                scope: 'users:write',
                body: null,
                fields: [],
                setting: null,
              },
            ],
          },
        ],
        second_factor: { policy: 'own', required: false, types: [] },
        ways: [
          {
            authenticator: 'password',
            verdict: 'blocked',
            until: '2017-10-19T17:10:12.000000Z',
            identity: { type: 'username', value: 'ada' },
            pin: 'any',
            answers: [{ step: 'start', status: 423, authentication_status: null, code: 'account_temporarily_locked' }],
            reasons: [],
          },
        ],
      },
    ],
  },
);
export type LoginDiagnosis = Static<typeof LoginDiagnosis>;

const DeviceId = { description: 'The device of the login. Without it: a device on which the user never logged in.' };
const Address = Type.String({
  maxLength: 64,
  description: 'The IP address of the client, to include the limits of its network.',
  examples: ['203.0.113.77'],
});

/** The query of the diagnosis of a user. */
export const DiagnosisQuery = Type.Object({
  device_id: Type.Optional(Type.Unsafe<string>({ ...DeviceIdInput, ...DeviceId, type: 'string' })),
  address: Type.Optional(Address),
});

export const DiagnosisRequest = Type.Object(
  {
    identity: Type.Object(
      {
        type: Type.Enum([...identityTypes, 'external_id'] as const, {
          title: 'DiagnosisIdentityType',
          description:
            'external_id: names the user, who cannot log in with it. Each authenticator is checked with the identity that the user would usually log in with.',
        }),
        value: Type.String({ minLength: 1, maxLength: 320, description: 'Used to look up the user.' }),
      },
      { title: 'LoginIdentity' },
    ),
    authenticator: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Only this authenticator. Without it: all.' }),
    ),
    device_id: Type.Optional(Type.Unsafe<string | null>({ ...DeviceIdInput, ...DeviceId })),
    address: Type.Optional(Address),
  },
  {
    title: 'LoginDiagnosisRequest',
    examples: [{ identity: { type: 'username', value: 'ada' }, authenticator: 'password' }],
  },
);
export type DiagnosisRequest = Static<typeof DiagnosisRequest>;
