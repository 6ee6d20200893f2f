import { isJsonObject, type JsonObject } from '../lib/json-object.js';
import { readTextOrFile } from '../lib/push-keys.js';
import { parseUrl } from '../lib/urls.js';
import { invalid, ok, type Parsed, type Secret, signingSecret } from './parsers.js';

/** A service of the operator that checks secrets. */
export interface CustomAuthenticator {
  /** The name, without `custom:`. */
  readonly name: string;
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: Secret;
  readonly steps: 1 | 2;
}

/** An OpenID provider whose id_tokens are accepted. */
export interface OidcProvider {
  /** The name, without `oidc:`. */
  readonly name: string;
  readonly issuer: string;
  readonly clientIds: readonly string[];
  /** Accepted signature algorithms (JWA). */
  readonly algorithms: readonly string[];
}

type Settings = Readonly<JsonObject>;

const namePattern = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * Asymmetric algorithms only (RFC 8725, sections 3.1 and 3.2). With `none` or HS256, somebody other than the provider
 * could create tokens.
 */
const algorithmPattern = /^(?:[RP]S(?:256|384|512)|ES(?:256|384|512)|EdDSA)$/;

/** Reads `{"<name>": {…}}`, as JSON or from a file. Reports the errors of all entries. */
function entryParser<T>(read: (name: string, settings: Settings) => T | string) {
  return (value: string): Parsed<readonly T[]> => {
    const text = readTextOrFile(value, (json) => json.trimStart().startsWith('{'));
    const parsed = text === undefined ? undefined : parseObject(text);
    if (parsed === undefined) return invalid('must be a JSON object, or the path of a file that contains one');
    const entries = Object.entries(parsed).map(([key, settings]) => {
      if (!namePattern.test(key)) return `${JSON.stringify(key)}: the name must match ${namePattern.source}`;
      const entry = isJsonObject(settings) ? read(key, settings) : 'must be an object';
      return typeof entry === 'string' ? `${key}: ${entry}` : entry;
    });
    const errors = entries.filter((entry) => typeof entry === 'string');
    if (errors.length > 0) return invalid(`has errors: ${errors.join('; ')}`);
    return ok(entries.filter((entry): entry is Exclude<typeof entry, string> => typeof entry !== 'string'));
  };
}

function parseObject(text: string): Settings | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isHttpUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? '');

const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '');

/** @returns an error with the unknown members; undefined when there are none */
function unknownMembers(settings: Settings, knownNames: readonly string[]): string | undefined {
  const others = Object.keys(settings).filter((member) => !knownNames.includes(member));
  return others.length === 0 ? undefined : `unknown members: ${others.join(', ')}`;
}

export const customAuthenticators = entryParser<CustomAuthenticator>((name, settings) => {
  const { url, secret, steps = 1 } = settings;
  const others = unknownMembers(settings, ['url', 'secret', 'steps']);
  if (others !== undefined) return others;
  if (!isHttpUrl(url)) return 'url must be a URL that starts with https://';
  const key = typeof secret === 'string' ? signingSecret(secret) : invalid('must be a text');
  if ('error' in key) return `secret ${key.error}`;
  if (steps !== 1 && steps !== 2) return 'steps must be 1 or 2';
  return { name, url, secret: key.value, steps };
});

export const oidcProviders = entryParser<OidcProvider>((name, settings) => {
  const { issuer, client_ids: clientIds, algorithms = ['RS256'] } = settings;
  const others = unknownMembers(settings, ['issuer', 'client_ids', 'algorithms']);
  if (others !== undefined) return others;
  // OpenID Connect Discovery 1.0, 3: no query and no fragment.
  if (!isHttpUrl(issuer) || /[?#]/.test(issuer))
    return 'issuer must be a URL that starts with https://, without a query or fragment';
  if (!isStringList(clientIds)) return 'client_ids must be a list of texts';
  if (!isStringList(algorithms) || !algorithms.every((algorithm) => algorithmPattern.test(algorithm))) {
    return 'algorithms must be a list of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA';
  }
  return { name, issuer, clientIds, algorithms };
});
