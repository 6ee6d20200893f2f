import { type Static, Type } from 'typebox';
import { Id, NullableTime, Text, Time } from './common.js';

/**
 * The states of a support login.
 * - `pending`: the user has not answered yet.
 * - `allowed`: the operator can get the token.
 * - `active`: the operator has the token.
 * - `refused`, `ended`, `expired`: nobody can use it any more.
 */
const supportLoginStatuses = ['pending', 'allowed', 'active', 'refused', 'ended', 'expired'] as const;
const Status = Type.Enum(supportLoginStatuses, { title: 'SupportLoginStatus' });

/** Who uses a session instead of its user. */
export const Act = Type.Object(
  {
    sub: Type.Unsafe<string>({ ...Id, description: 'The id of the operator.' }),
    write: Type.Boolean({ description: 'false: the operator may only read. Refuse everything else.' }),
  },
  {
    title: 'Act',
    examples: [{ sub: '6f1d2f64-3c1a-4b9e-8a55-0d5b9f3c7e10', write: false }],
  },
);

export const NewSupportLogin = Type.Object(
  {
    reason: Type.Unsafe<string>({ ...Text(500, 1), description: 'Why. The user and the audit log see it.' }),
    write: Type.Optional(
      Type.Boolean({ description: 'Whether the login may change something. false unless set: it only reads.' }),
    ),
  },
  { title: 'NewSupportLogin', examples: [{ reason: 'Ticket 4711: the invoice is missing' }] },
);
export type NewSupportLogin = Static<typeof NewSupportLogin>;

const base = {
  id: Id,
  status: Type.Unsafe<Static<typeof Status>>({
    ...Status,
    description:
      'pending: the user has not answered. allowed: the operator can get the token. active: the operator has it. refused, ended and expired: it can no longer be used.',
  }),
  reason: Type.String(),
  write: Type.Boolean({ description: 'Whether it may change something.' }),
};
const times = {
  created_at: Time,
  expires_at: Type.Unsafe<string>({
    ...Time,
    description: 'While it is pending: the last moment for the answer. Then the end of the login.',
  }),
  ended_at: Type.Unsafe<string | null>({
    ...NullableTime,
    description: 'When it was refused or ended before its time.',
  }),
};
const example = {
  id: '2f5e1c7a-6a0d-4c0e-9a43-5d6c1f0b7e21',
  status: 'active' as const,
  reason: 'Ticket 4711: the invoice is missing',
  write: false,
  created_at: '2017-10-19T17:02:03.181879Z',
  expires_at: '2017-10-19T17:32:03.181879Z',
  ended_at: null,
};

/** A support login as its user sees it: without the operator. */
export const OwnSupportLogin = Type.Object({ ...base, ...times }, { title: 'OwnSupportLogin', examples: [example] });
export type OwnSupportLogin = Static<typeof OwnSupportLogin>;

const operator = {
  operator_id: Type.Unsafe<string>({ ...Id, description: 'The operator who asked for it.' }),
  operator_name: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The name of the operator. null: the operator was deleted.',
  }),
};

/** A support login as operators see it. */
export const SupportLogin = Type.Object(
  { ...base, ...operator, ...times },
  {
    title: 'SupportLogin',
    examples: [{ ...example, operator_id: '6f1d2f64-3c1a-4b9e-8a55-0d5b9f3c7e10', operator_name: 'Grace' }],
  },
);
export type SupportLogin = Static<typeof SupportLogin>;

const token = Type.String({ description: 'The authentication token of the login. Shown once.' });

/** The answer to the operator who asks: with the token, or without it while the user has not answered. */
export const IssuedSupportLogin = Type.Object(
  { ...SupportLogin.properties, token: Type.Optional(token) },
  {
    title: 'IssuedSupportLogin',
    examples: [
      {
        ...example,
        operator_id: '6f1d2f64-3c1a-4b9e-8a55-0d5b9f3c7e10',
        operator_name: 'Grace',
        token: 'psa_…',
      },
    ],
  },
);
export type IssuedSupportLogin = Static<typeof IssuedSupportLogin>;
