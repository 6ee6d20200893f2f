import { type Static, Type } from 'typebox';
import { Id, NullableTime, Time } from './common.js';

/** The shortest and the longest lifetime of an access token, and the one unless an audience says otherwise. Seconds. */
export const tokenLifetimes = { min: 60, max: 900, default: 300 } as const;

const SigningAlgorithm = Type.Enum(['ES256', 'RS256'] as const, { title: 'SigningAlgorithm' });
export type SigningAlgorithm = Static<typeof SigningAlgorithm>;

const Uri = Type.String({
  pattern: '^[!-~]{1,255}$',
  description: 'What access tokens for the service have in `aud`, such as the URL of its API. Unique.',
});
const Lifetime = Type.Integer({
  minimum: tokenLifetimes.min,
  maximum: tokenLifetimes.max,
  description: 'How long access tokens last, in seconds. A request can ask for less.',
});
const ClaimNames = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 32,
  uniqueItems: true,
  description: 'The names of the members of `claims` of the user that access tokens have.',
});
const HasRoles = Type.Boolean({ description: 'Whether access tokens have the `roles` of the user.' });
const HasSupport = Type.Boolean({ description: 'Whether support logins may get access tokens for the service.' });

/** A service that gets access tokens. */
export const Audience = Type.Object(
  {
    id: Id,
    uri: Uri,
    alg: SigningAlgorithm,
    ttl: Lifetime,
    roles: HasRoles,
    claims: ClaimNames,
    support: HasSupport,
    created_at: Time,
    updated_at: Time,
  },
  {
    title: 'Audience',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        uri: 'https://api.example.com',
        alg: 'ES256',
        ttl: 300,
        roles: true,
        claims: ['plan'],
        support: false,
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Audience = Static<typeof Audience>;

const settings = {
  alg: Type.Optional({ ...SigningAlgorithm, description: 'How access tokens are signed. ES256 unless set.' }),
  ttl: Type.Optional(Lifetime),
  roles: Type.Optional(HasRoles),
  claims: Type.Optional(ClaimNames),
  support: Type.Optional(HasSupport),
};

/** The answer to a request that has saved an audience. */
export const SavedAudience = Type.Object(
  {
    ...Audience.properties,
    too_large_for: Type.Array(Id, {
      maxItems: 10,
      description:
        'A warning: users whose roles and claims do not fit into a token for this audience, so they would get 422 `claims_too_large`. At most 10, of the 10,000 users that were changed last.',
    }),
  },
  {
    title: 'SavedAudience',
    examples: [
      {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        uri: 'https://api.example.com',
        alg: 'ES256',
        ttl: 300,
        roles: true,
        claims: ['plan'],
        support: false,
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
        too_large_for: [],
      },
    ],
  },
);
export type SavedAudience = Static<typeof SavedAudience>;

export const NewAudience = Type.Object(
  { uri: Uri, ...settings },
  { title: 'NewAudience', examples: [{ uri: 'https://api.example.com', roles: true, claims: ['plan'] }] },
);
export type NewAudience = Static<typeof NewAudience>;

/** Changes only the members that are present. */
export const AudienceChange = Type.Object(
  { uri: Type.Optional(Uri), ...settings },
  { title: 'AudienceChange', examples: [{ ttl: 60 }] },
);
export type AudienceChange = Static<typeof AudienceChange>;

/** A key that signs access tokens, without its secret. */
export const SigningKey = Type.Object(
  {
    kid: Type.String({ description: 'The id of the key, as in the header of tokens and in `/.well-known/jwks.json`.' }),
    alg: SigningAlgorithm,
    state: Type.Enum(['next', 'planned', 'current', 'former'] as const, {
      title: 'SigningKeyState',
      description:
        'next: published, and signs after a rotation. planned: signs from `signs_since` on. current: signs. former: signs no more, and stays published until its last token has expired.',
    }),
    created_at: Time,
    signs_since: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'null: a rotation has not planned it yet.',
    }),
  },
  {
    title: 'SigningKey',
    examples: [
      {
        kid: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        alg: 'ES256',
        state: 'current',
        created_at: '2017-10-19T17:02:03.181879Z',
        signs_since: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type SigningKey = Static<typeof SigningKey>;

export const AccessTokenRequest = Type.Object(
  {
    audience: Type.String({ minLength: 1, maxLength: 255, description: 'The `uri` of an audience.' }),
    ttl: Type.Optional(
      Type.Integer({
        description: `Seconds: ${tokenLifetimes.min} to the \`ttl\` of the audience, which is the default.`,
      }),
    ),
  },
  { title: 'AccessTokenRequest', examples: [{ audience: 'https://api.example.com' }] },
);
export type AccessTokenRequest = Static<typeof AccessTokenRequest>;

/** An access token (RFC 9068). Its answer has the names of RFC 6749. */
export const AccessToken = Type.Object(
  {
    access_token: Type.String({
      description: 'A JSON Web Token of the type `at+jwt`. Postern itself does not accept it.',
    }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds. The token never lasts longer than the login.' }),
  },
  {
    title: 'AccessToken',
    examples: [{ access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.…', token_type: 'Bearer', expires_in: 300 }],
  },
);
export type AccessToken = Static<typeof AccessToken>;

const base = { kid: Type.String(), use: Type.String({ description: 'sig' }) };
/** A public key of access tokens. */
export const SigningPublicKey = Type.Union(
  [
    Type.Object(
      {
        kty: Type.Literal('EC'),
        crv: Type.Literal('P-256'),
        ...base,
        alg: Type.Literal('ES256'),
        x: Type.String(),
        y: Type.String(),
      },
      { title: 'EcPublicKey' },
    ),
    Type.Object(
      { kty: Type.Literal('RSA'), ...base, alg: Type.Literal('RS256'), n: Type.String(), e: Type.String() },
      { title: 'RsaPublicKey' },
    ),
  ],
  { title: 'SigningPublicKey' },
);
export type SigningPublicKey = Static<typeof SigningPublicKey>;
