import { type Static, Type } from 'typebox';
import { Id, NullableTime, Time } from './common.js';
import { Act } from './support-login.js';
import { Claims, Roles } from './user-fields.js';

/** How a login was made and proven, by the names of RFC 8176 where it has one. */
export const authenticationMethods = ['pwd', 'sms', 'email', 'otp', 'hwk', 'user', 'fed', 'mfa'] as const;

/** A session, without its token. */
export const Session = Type.Object(
  {
    id: Id,
    user_id: Id,
    device_id: Id,
    created_at: Time,
    expires_at: Time,
    updated_at: Time,
    roles: Roles,
    claims: Claims,
    authenticated_at: Type.Unsafe<string>({
      ...Time,
      description:
        'When the user logged in: the approval of the login of the session. The login of an app that came from the login of the pages has the time of that login.',
    }),
    amr: Type.Array(Type.Enum(authenticationMethods, { title: 'AuthenticationMethod' }), {
      description:
        'How the login was made and proven: pwd (password), sms and email (a code), otp (code of an app, or recovery code), hwk (passkey), user (a passkey that verified its user), fed (account at a provider, or your own service), mfa (two factors).',
    }),
    proven_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'The last re-authentication in this login (PUT /v1/account/session-proof). null: none.',
    }),
    act: Type.Optional(
      Type.Unsafe<Static<typeof Act>>({
        ...Act,
        description: 'Present if an operator uses the session instead of the user (support login).',
      }),
    ),
  },
  {
    title: 'Session',
    examples: [
      {
        id: 'f3a5c1b2-9a0b-4a35-8d77-2b6f4f0b7c55',
        user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        device_id: '582a5abb-1335-4794-4855-11e067b8c55e',
        created_at: '2017-10-19T17:02:03.181879Z',
        expires_at: '2017-10-19T17:17:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
        roles: ['editor'],
        claims: { plan: 'pro' },
        authenticated_at: '2017-10-19T17:02:02.993212Z',
        amr: ['pwd', 'otp', 'mfa'],
        proven_at: null,
      },
    ],
  },
);
export type Session = Static<typeof Session>;

export const NewSession = Type.Object(
  {
    id: Id,
    token: Type.String({ description: 'The session token. Shown once.' }),
    user_id: Id,
    device_id: Id,
    created_at: Time,
    expires_at: Time,
    updated_at: Time,
  },
  { title: 'NewSession' },
);
export type NewSession = Static<typeof NewSession>;

/** The header of answers with a nonce for DPoP proofs, for the OpenAPI document. */
export const nonceHeader = {
  'DPoP-Nonce': Type.String({ description: 'The nonce for the next DPoP proof, if the token is bound to a key.' }),
};

/**
 * The headers of `GET /v1/sessions/verify` for reverse proxies. Names of roles contain no comma. A user without roles has an
 * empty `Postern-Roles`, and a login of the user's own an empty `Postern-Act`: a proxy then replaces what the client has sent.
 */
export function sessionHeadersOf(session: Session): Record<string, string> {
  return {
    'postern-user-id': session.user_id,
    'postern-device-id': session.device_id,
    'postern-session-id': session.id,
    'postern-session-expires-at': session.expires_at,
    'postern-roles': session.roles.join(','),
    'postern-act': session.act === undefined ? '' : `${session.act.sub};${session.act.write ? 'write' : 'read'}`,
  };
}
