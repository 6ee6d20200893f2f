import { type Static, Type } from 'typebox';
import { AnyObject, Id, NullableString, Text, Time } from './common.js';

const provider = Text(32, 1);
/** OpenID Connect Core 1.0, 2: at most 255 ASCII characters, case-sensitive. */
const subject = Type.String({ pattern: '^[\\x20-\\x7e]{1,255}$' });

/** An account at an OpenID provider with which a user can log in. */
export const ExternalIdentity = Type.Object(
  {
    id: Id,
    provider: Type.String({
      description: 'The name of the provider. The authenticator of a login is `oidc:` or `oauth:` and this name.',
    }),
    issuer: Type.String(),
    subject: Type.String({ description: "The provider's id of the account: `sub` of its id_tokens." }),
    email: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The mail address that the provider last named, or null. It opens no account.',
    }),
    created_at: Time,
  },
  {
    title: 'ExternalIdentity',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        provider: 'google',
        issuer: 'https://accounts.google.com',
        subject: '110169484474386276334',
        email: 'ada@example.com',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type ExternalIdentity = Static<typeof ExternalIdentity>;

export const ExternalIdentityLink = Type.Object(
  {
    provider,
    subject,
    tenant: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description:
          'The id of the tenant of the account (`tid`). Required for a provider of any tenant, such as Microsoft with the issuer of `common`: there each tenant has its own issuer.',
      }),
    ),
  },
  {
    title: 'ExternalIdentityLink',
    examples: [
      { provider: 'google', subject: '110169484474386276334' },
      {
        provider: 'microsoft',
        subject: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
        tenant: '9188040d-6c67-4c5b-b112-36a304b66dad',
      },
    ],
  },
);
export type ExternalIdentityLink = Static<typeof ExternalIdentityLink>;

/** A link that has started. An id_token completes it, or the code with which a browser comes back from the provider. */
export const StartedExternalIdentity = Type.Object(
  {
    id: Id,
    challenge: AnyObject(
      '`type` oidc: the issuer, the client ids, and the nonce that the id_token must contain. `type` redirect: the `url` to which you send the browser.',
    ),
    expires_at: Type.Unsafe<string>({ ...Time, description: 'When the started link expires.' }),
  },
  {
    title: 'StartedExternalIdentity',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        challenge: {
          type: 'oidc',
          issuer: 'https://accounts.google.com',
          client_ids: ['1234.apps.googleusercontent.com'],
          nonce: 'mZDxo0w6vT8xEwq3GxqZKpN0sGm1E1S2m0C0y3N4b5A',
        },
        expires_at: '2017-10-19T17:12:03.181879Z',
      },
    ],
  },
);

export const ExternalIdentityAnswer = Type.Object(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        'The id_token. After a redirect: JSON as a text, with the `code` that the browser brought back and your `code_verifier`.',
    }),
  },
  {
    title: 'ExternalIdentityAnswer',
    examples: [
      { secret: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxMTAifQ.c2lnbmF0dXJl' },
      {
        secret:
          '{"code": "2yFm7QDx0e1Yq0xWw4Wl9h3GkqzvKp3d", "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}',
      },
    ],
  },
);
