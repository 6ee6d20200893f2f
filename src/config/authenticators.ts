import { isJsonObject, type JsonObject, parseJsonObject } from '../lib/json-object.js';
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

/** The members of one entry. */
export type Settings = Readonly<JsonObject>;

const namePattern = /^[a-z][a-z0-9_-]{0,31}$/;

/** Reads `{"<name>": {…}}`, as JSON or from a file. Reports the errors of all entries. */
export function entryParser<T>(read: (name: string, settings: Settings) => T | string) {
  return (value: string): Parsed<readonly T[]> => {
    const text = readTextOrFile(value, (json) => json.trimStart().startsWith('{'));
    const parsed = text === undefined ? undefined : parseJsonObject(text);
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

/** Whether a value is the text of a URL with http or https. */
export const isHttpUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? '');

/** Whether a value is a list with texts that are not empty. */
export const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '');

/** @returns an error with the unknown members; undefined when there are none */
export function unknownMembers(settings: Settings, knownNames: readonly string[]): string | undefined {
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
