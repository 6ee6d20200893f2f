import { createPrivateKey } from 'node:crypto';
import { isJsonObject } from '../lib/json-object.js';
import { readTextOrFile } from '../lib/push-keys.js';
import { isLoopback, parseUrl } from '../lib/urls.js';
import { entryParser, isHttpUrl, isStringList, type Settings, unknownMembers } from './authenticators.js';
import { invalid, ok, type Parsed, Secret } from './parsers.js';

/** A provider whose accounts can log in. */
export interface ProviderSettings {
  /** The name in the configuration, such as `google`. */
  readonly name: string;
  /** The name for people, such as `Google`. */
  readonly title: string;
  /** The vendor whose rules for mail addresses apply, if the provider is one of the presets. */
  readonly preset: Preset | undefined;
  /** Whether `issuer` is that of the preset, or one of its tenants. */
  readonly hasPresetIssuer: boolean;
  /**
   * The value of `iss` of its id_tokens. It contains `{tenantid}` if each tenant has its own issuer. For a provider that issues
   * no id_tokens, the origin of its pages.
   */
  readonly issuer: string;
  /** The endpoints of a provider that issues no id_tokens. Undefined: the provider is an OpenID provider. */
  readonly endpoints: OAuthEndpoints | undefined;
  /** Where the answer of the userinfo endpoint has these members, as dotted paths. */
  readonly map: AccountMap;
  /** The audiences that id_tokens may have. */
  readonly clientIds: readonly string[];
  /** The client of redirect logins. Undefined: the provider only takes id_tokens. */
  readonly clientId: string | undefined;
  readonly clientSecret: Secret | undefined;
  readonly apple: AppleKey | undefined;
  readonly scopes: string;
  /** Whether logins use PKCE (RFC 7636). */
  readonly pkce: boolean;
  /** The ids of the tenants whose accounts are accepted. Undefined: any. */
  readonly tenants: readonly string[] | undefined;
  /** Whether an account that is linked to nobody makes a user. */
  readonly signUp: boolean;
  /** Accepted signature algorithms (JWA). */
  readonly algorithms: readonly string[];
  /** The values of `acr` to ask for and to accept. Undefined: any. */
  readonly acrValues: readonly string[] | undefined;
  /** The most seconds since a person has logged in at the provider. Undefined: any. */
  readonly maxAge: number | undefined;
}

/** The endpoints of a provider that speaks OAuth 2.0 without id_tokens. */
export interface OAuthEndpoints {
  readonly authorization: string;
  readonly token: string;
  readonly userinfo: string;
}

export interface AccountMap {
  readonly subject: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
}

/** What Apple needs instead of a client secret: Postern signs a short one for each request. */
export interface AppleKey {
  readonly teamId: string;
  readonly keyId: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: Secret;
}

export type Preset = 'google' | 'apple' | 'microsoft' | 'github';

/** What a preset fills in where the entry says nothing. */
const presets: Readonly<Record<Preset, Settings>> = {
  google: { title: 'Google', issuer: 'https://accounts.google.com', scopes: 'openid email profile' },
  apple: { title: 'Apple', issuer: 'https://appleid.apple.com', scopes: 'openid email name' },
  microsoft: {
    title: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    scopes: 'openid email profile',
  },
  github: {
    title: 'GitHub',
    authorization_endpoint: 'https://github.com/login/oauth/authorize',
    token_endpoint: 'https://github.com/login/oauth/access_token',
    userinfo_endpoint: 'https://api.github.com/user',
    map: { subject: 'id', email: 'email', name: 'name' },
    scopes: 'read:user user:email',
  },
};

const members = [
  'preset',
  'title',
  'issuer',
  'client_ids',
  'algorithms',
  'client_id',
  'client_secret',
  'apple',
  'scopes',
  'pkce',
  'tenants',
  'sign_up',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'map',
  'acr_values',
  'max_age',
];

/**
 * Asymmetric algorithms only (RFC 8725, sections 3.1 and 3.2). With `none` or HS256, somebody other than the provider
 * could create tokens.
 */
const algorithmPattern = /^(?:[RP]S(?:256|384|512)|ES(?:256|384|512)|EdDSA)$/;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isSeconds = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1;
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isOptional = (value: unknown, test: (value: unknown) => boolean) => value === undefined || test(value);
/** OpenID Connect Discovery 1.0, 3: no query and no fragment. */
const isIssuer = (value: unknown): value is string => isHttpUrl(value) && !/[?#]/.test(value);

/** Reads OIDC_PROVIDERS. */
export const oidcProviders = entryParser<ProviderSettings>((name, entry) => {
  const others = unknownMembers(entry, members);
  if (others !== undefined) return others;
  const { preset } = entry;
  if (!isOptional(preset, isPreset)) return `preset must be one of ${Object.keys(presets).join(', ')}`;
  // An entry with an issuer of its own is an OpenID provider, even if its preset is not (GitHub).
  const settings: Settings = { ...(isPreset(preset) && presets[preset]), ...entry };
  return errorOf(settings) ?? readEntry(name, settings, isPreset(preset) ? preset : undefined);
});

const isPreset = (value: unknown): value is Preset => isText(value) && Object.hasOwn(presets, value);

/** The first error of an entry, in words; undefined if it has none. */
function errorOf(settings: Settings): string | undefined {
  const { issuer, client_ids, client_id, client_secret, algorithms, apple, tenants, scopes, title } = settings;
  const { acr_values, max_age } = settings;
  const wrong: readonly (readonly [isWrong: boolean, error: string])[] = [
    ...issuerErrors(settings),
    [issuer !== undefined && client_ids === undefined && client_id === undefined, 'client_id or client_ids is missing'],
    [issuer === undefined && client_id === undefined, 'client_id is missing'],
    [!isOptional(client_ids, isStringList), 'client_ids must be a list of texts'],
    [!isOptional(client_id, isText), 'client_id must be a text'],
    [!isOptional(client_secret, isText), 'client_secret must be a text'],
    [client_secret !== undefined && apple !== undefined, 'client_secret and apple exclude each other'],
    [!isOptional(apple, isAppleKey), 'apple must have team_id, key_id and private_key (PEM, or the path of its file)'],
    [!isOptional(tenants, isStringList), 'tenants must be a list of the ids of tenants'],
    [!isOptional(scopes, isText), 'scopes must be a text, such as "openid email"'],
    [!isOptional(title, isText), 'title must be a text'],
    [!isOptional(acr_values, isStringList), 'acr_values must be a list of texts'],
    [!isOptional(max_age, isSeconds), 'max_age must be a number of seconds, at least 1'],
    [
      issuer === undefined && (acr_values !== undefined || max_age !== undefined),
      'acr_values and max_age need an issuer: a provider without id_tokens does not say how a person logged in there',
    ],
    ...['sign_up', 'pkce'].map(
      (member) => [!isOptional(settings[member], isBoolean), `${member} must be true or false`] as const,
    ),
    [
      !isOptional(algorithms, (value) => isStringList(value) && value.every((one) => algorithmPattern.test(one))),
      'algorithms must be a list of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA',
    ],
  ];
  return wrong.find(([isWrong]) => isWrong)?.[1];
}

/** The errors of the members that locate the provider: an issuer, or three endpoints and a `map` for their answers. */
function issuerErrors(settings: Settings): readonly (readonly [isWrong: boolean, error: string])[] {
  const { issuer, map } = settings;
  if (issuer !== undefined) {
    return [[!isIssuer(issuer), 'issuer must be a URL that starts with https://, without a query or fragment']];
  }
  const endpoints = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint'] as const;
  if (endpoints.every((member) => settings[member] === undefined)) {
    return [
      [
        true,
        'issuer is missing. A provider without one needs authorization_endpoint, token_endpoint, userinfo_endpoint and map',
      ],
    ];
  }
  const isMap = (value: unknown) =>
    isJsonObject(value) &&
    isText(value.subject) &&
    isOptional(value.email, isText) &&
    isOptional(value.name, isText) &&
    unknownMembers(value, ['subject', 'email', 'name']) === undefined;
  return [
    ...endpoints.map(
      (member) => [!isHttpUrl(settings[member]), `${member} must be a URL that starts with https://`] as const,
    ),
    [
      !isMap(map),
      'map must have subject, and may have email and name: the dotted paths of these in the answer of userinfo_endpoint',
    ],
  ];
}

function isAppleKey(value: unknown): boolean {
  if (!isJsonObject(value) || unknownMembers(value, ['team_id', 'key_id', 'private_key']) !== undefined) return false;
  return isText(value.team_id) && isText(value.key_id) && readPrivateKey(value.private_key) !== undefined;
}

/** A private key of P-256 in PEM, or the path of its file. Undefined for anything else. */
function readPrivateKey(value: unknown): string | undefined {
  const text = isText(value) ? readTextOrFile(value, (key) => key.includes('-----BEGIN')) : undefined;
  try {
    const key = text === undefined ? undefined : createPrivateKey(text);
    return key?.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? text : undefined;
  } catch {
    return undefined;
  }
}

const isOnOriginOf = (issuer: string, other: unknown) =>
  typeof other === 'string' && new URL(issuer).origin === new URL(other).origin;

/** Reads an entry without errors. */
function readEntry(name: string, settings: Settings, preset: Preset | undefined): ProviderSettings {
  const given = settings as Readonly<Record<string, string | undefined>>;
  const clientIds = (settings.client_ids ?? []) as readonly string[];
  const { client_id: clientId, client_secret: secret } = given;
  const apple = settings.apple as { team_id: string; key_id: string; private_key: string } | undefined;
  const endpoints: OAuthEndpoints | undefined =
    given.issuer === undefined
      ? {
          authorization: given.authorization_endpoint ?? '',
          token: given.token_endpoint ?? '',
          userinfo: given.userinfo_endpoint ?? '',
        }
      : undefined;
  const issuer = given.issuer ?? new URL(endpoints?.authorization ?? '').origin;
  return {
    name,
    title: given.title ?? name.replace(/^./, (letter) => letter.toUpperCase()),
    preset,
    hasPresetIssuer: preset !== undefined && isOnOriginOf(issuer, presets[preset].issuer),
    issuer,
    endpoints,
    map: (settings.map ?? { subject: 'sub' }) as unknown as AccountMap,
    clientIds: clientId === undefined || clientIds.includes(clientId) ? clientIds : [...clientIds, clientId],
    clientId,
    clientSecret: secret === undefined ? undefined : new Secret(secret),
    apple: apple && {
      teamId: apple.team_id,
      keyId: apple.key_id,
      privateKey: new Secret(readPrivateKey(apple.private_key) ?? ''),
    },
    scopes: given.scopes ?? 'openid email profile',
    pkce: settings.pkce !== false,
    tenants: settings.tenants as readonly string[] | undefined,
    signUp: settings.sign_up === true,
    algorithms: (settings.algorithms ?? ['RS256']) as readonly string[],
    acrValues: settings.acr_values as readonly string[] | undefined,
    maxAge: settings.max_age as number | undefined,
  };
}

/** Reads REDIRECT_URIS: exact addresses, joined by commas. */
export function redirectUris(text: string): Parsed<readonly string[]> {
  const uris = text.split(',').map((uri) => uri.trim());
  if (uris.some((uri) => uri.includes('*'))) return invalid('must name each address: a * matches nothing');
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  if (wrong === undefined) return ok(uris);
  return invalid(
    `${JSON.stringify(wrong.replace(/\/\/.*@/, '//…@'))} is no address to return to. Use https://…, http:// with localhost, 127.0.0.1 or [::1], or an app's own scheme with a dot, such as com.example.app:/callback, without a fragment`,
  );
}

/** RFC 8252, sections 7.1 to 7.3. A browser reads a backslash as a slash, so a text with one has two meanings. */
function isRedirectUri(text: string): boolean {
  const url = /^[\x21-\x7e]+$/.test(text) && !/[#\\"<>^`{|}]/.test(text) ? parseUrl(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return text.startsWith('https://');
  if (url.protocol === 'http:') return text.startsWith('http://') && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  return /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/.test(text);
}
