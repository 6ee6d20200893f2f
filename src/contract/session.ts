import { type Static, Type } from 'typebox';
import { Id, Time } from './common.js';

/** A session, without its token. */
export const Session = Type.Object(
  {
    id: Id,
    user_id: Id,
    device_id: Id,
    created_at: Time,
    expires_at: Time,
    updated_at: Time,
  },
  { title: 'Session' },
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

/** The headers of `GET /v1/sessions/verify` for reverse proxies, with the member of the session that each contains. */
const sessionHeaders = {
  'postern-user-id': 'user_id',
  'postern-device-id': 'device_id',
  'postern-session-id': 'id',
  'postern-session-expires-at': 'expires_at',
} as const satisfies Readonly<Record<string, keyof Session>>;

/** The headers of a session with their values, in the order of `sessionHeaders`. */
export function sessionHeadersOf(session: Session): Record<string, string> {
  return Object.fromEntries(Object.entries(sessionHeaders).map(([name, member]) => [name, session[member]]));
}
