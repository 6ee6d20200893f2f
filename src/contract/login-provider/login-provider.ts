import { type Static, Type } from 'typebox';
import { Id, NullableId, NullableString, NullableTime, Time } from '../common.js';
import {
  type ProviderGap,
  type ProviderProblemCode,
  providerGaps,
  providerProblems,
  providerSteps,
} from './problems.js';

const codes = Object.keys(providerProblems) as ProviderProblemCode[];
const NullableSetting = Type.Unsafe<string | null>({
  ...NullableString,
  description: 'The setting that may be wrong.',
});

/** Something that went wrong in a login at a provider. */
const ProviderProblem = Type.Object(
  {
    code: Type.Enum(codes, { title: 'ProviderProblemCode' }),
    is_fault: Type.Boolean({
      description:
        'True: the cause is the provider or the configuration, so other logins fail too. False: the problem concerns one login.',
    }),
    message: Type.String({ description: 'What happened, in the language of Accept-Language.' }),
    remedy: Type.String({ description: 'What to do, in the language of Accept-Language.' }),
    detail: Type.Unsafe<string | null>({ ...NullableString, description: 'What is known about it. Never a secret.' }),
    setting: NullableSetting,
    happened_at: Time,
  },
  { title: 'ProviderProblem' },
);
export type ProviderProblem = Static<typeof ProviderProblem>;

/** A provider of OIDC_PROVIDERS, and whether logins with it work. */
export const LoginProvider = Type.Object(
  {
    name: Type.String({ description: 'The name in OIDC_PROVIDERS.' }),
    authenticator: Type.String({ description: 'The authenticator of its logins: `oidc:` or `oauth:` and the name.' }),
    title: Type.String({ description: 'The name for people.' }),
    issuer: Type.String(),
    redirect_uri: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The address to add to your app at the provider. null without PUBLIC_URL.',
    }),
    sign_up: Type.Boolean({ description: 'Whether an account that no user has linked makes a user.' }),
    state: Type.Enum(['works', 'fails', 'unused', 'incomplete'] as const, {
      title: 'LoginProviderState',
      description:
        'works: the last login that reached the provider worked. fails: after the last login that worked, a problem with `is_fault` happened. unused: no login has been tried. incomplete: `missing` says what to configure.',
    }),
    missing: Type.Array(
      Type.Object(
        {
          code: Type.Enum(Object.keys(providerGaps) as ProviderGap[], { title: 'LoginProviderGapCode' }),
          message: Type.String(),
        },
        { title: 'LoginProviderGap' },
      ),
      { description: 'What to configure so that people can log in by redirect.' },
    ),
    worked_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'When a login at the provider last succeeded. null: never.',
    }),
    problems: Type.Array(ProviderProblem, { description: 'The last problem of each kind, the newest first.' }),
  },
  { title: 'LoginProvider' },
);
export type LoginProvider = Static<typeof LoginProvider>;

/** A test of a provider that an operator goes through in a browser. It logs nobody in. */
export const StartedProviderTest = Type.Object(
  {
    id: Id,
    url: Type.String({ description: 'Open it in a browser: it leads to the provider and back.' }),
    expires_at: Time,
  },
  { title: 'StartedProviderTest' },
);

export const ProviderTest = Type.Object(
  {
    id: Id,
    state: Type.Enum(['waiting', 'passed', 'failed'] as const, { title: 'ProviderTestState' }),
    step: Type.Enum(providerSteps, {
      title: 'ProviderStep',
      description:
        'The step that is next, or at which it failed. start: the provider says where its pages are. login: you log in there. return: the browser comes back. exchange: the provider exchanges its code. account: the account is read.',
    }),
    problem: Type.Unsafe<ProviderProblem | null>({
      ...ProviderProblem,
      title: 'ProviderTestProblem',
      type: ['object', 'null'],
    }),
    account: Type.Unsafe<{
      issuer: string;
      subject: string;
      email: string | null;
      name: string | null;
      runs_mailbox: boolean;
    } | null>({
      title: 'ProviderTestAccount',
      type: ['object', 'null'],
      properties: {
        issuer: { type: 'string' },
        subject: { type: 'string' },
        email: NullableString,
        name: NullableString,
        runs_mailbox: {
          type: 'boolean',
          description: 'Whether the provider runs the mailbox, so that no code of ours has to prove the address.',
        },
      },
      required: ['issuer', 'subject', 'email', 'name', 'runs_mailbox'],
      description: 'What the provider said. null until the test has passed.',
    }),
    outcome: Type.Unsafe<'logs_in' | 'creates_user' | 'asks_for_code' | 'asks_for_link' | 'not_linked' | null>({
      type: ['string', 'null'],
      enum: ['logs_in', 'creates_user', 'asks_for_code', 'asks_for_link', 'not_linked', null],
      title: 'ProviderTestOutcome',
      description: 'What a login with this account would do now. null until the test has passed.',
    }),
    user_id: Type.Unsafe<string | null>({ ...NullableId, description: 'The user who has linked the account.' }),
    expires_at: Time,
  },
  { title: 'ProviderTest' },
);
export type ProviderTest = Static<typeof ProviderTest>;
