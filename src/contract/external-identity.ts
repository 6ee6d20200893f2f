import { type Static, Type } from 'typebox';
import { Id, Text, Time } from './common.js';

const provider = Text(32, 1);
/** OpenID Connect Core 1.0, 2: at most 255 ASCII characters, told apart by their case. */
const subject = Type.String({ pattern: '^[\\x20-\\x7e]{1,255}$' });

/** An account at an OpenID provider that lets its owner in here. */
export const ExternalIdentity = Type.Object(
  {
    id: Id,
    provider: Type.String({ description: 'The name of the provider: a login says `oidc:` and this.' }),
    issuer: Type.String(),
    subject: Type.String({ description: 'What the provider calls the account: `sub` of its id_tokens.' }),
    created_at: Time,
  },
  {
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        provider: 'google',
        issuer: 'https://accounts.google.com',
        subject: '110169484474386276334',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type ExternalIdentity = Static<typeof ExternalIdentity>;

export const ExternalIdentityLink = Type.Object(
  { provider, subject },
  { examples: [{ provider: 'google', subject: '110169484474386276334' }] },
);
