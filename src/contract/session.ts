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
