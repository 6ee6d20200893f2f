import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { getCountries, isSupportedCountry } from 'libphonenumber-js';
import { type NoticeChannel, noticeChannels } from '../contract/administration.js';
import { secondFactorPolicies } from '../contract/user-fields.js';
import { asciiLabels } from '../lib/domain-labels.js';
import { looksLikeHashList } from '../lib/hash-list.js';
import { availableCores } from '../lib/machine.js';
import { hostsError, withoutEmptyHost } from '../lib/postgres-hosts.js';
import { isBase64Url, readPrivateKey, readServiceAccount, readTextOrFile } from '../lib/push-keys.js';
import { parseSchedule, type Schedule } from '../lib/schedule.js';
import { isTimeZone, parseDuration } from '../lib/times.js';
import { parseSmtpUrl, parseUrl } from '../lib/urls.js';

/** A configured secret. Printing, logging or serialising it does not reveal it. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return '[redacted]';
  }
  toJSON(): string {
    return '[redacted]';
  }
  [inspect.custom](): string {
    return '[redacted]';
  }
}

/** Configured names with secret values. */
export class SecretPairs extends Secret {
  readonly #pairs: Readonly<Record<string, string>>;
  constructor(pairs: Readonly<Record<string, string>>) {
    super('');
    this.#pairs = pairs;
  }
  revealPairs(): Readonly<Record<string, string>> {
    return this.#pairs;
  }
}

/** A value, or an error that completes the sentence "NAME …". */
export type Parsed<T> = { value: T } | { error: string };

/** A setting: how to read the text of its variable. */
export interface Setting<T> {
  readonly parse: (text: string) => Parsed<T>;
  /** The default text. Absent: an unset setting has no value. */
  readonly fallback?: string;
  /** The value is a secret or contains one, so it can also be in a file that the variable NAME_FILE names. */
  readonly isSecret?: true;
  /** The meaning, for docs/configuration.md. */
  readonly about: string;
}

export const ok = <T>(value: T): Parsed<T> => ({ value });
export const invalid = (message: string): { error: string } => ({ error: message });

export const anyText = (text: string) => ok(text);
/** Words separated by commas. */
export const words = (text: string) =>
  ok(
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  );
/** Names of authenticators, separated by commas. */
export function loginMethods(text: string): Parsed<readonly string[]> {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = names.find(
    (name) => !/^(?:password|sms|email|passkey|(?:oidc|oauth|custom):[a-z][a-z0-9_-]{0,31})$/.test(name),
  );
  return unknown === undefined
    ? ok(names)
    : invalid(
        `has the unknown name ${JSON.stringify(unknown)}; allowed are password, sms, email, passkey, oidc:<name>, oauth:<name> and custom:<name>`,
      );
}
export const choice =
  <const T extends string>(...allowed: readonly T[]) =>
  (text: string): Parsed<T> => {
    const found = allowed.find((value) => value === text);
    return found === undefined ? invalid(`must be one of: ${allowed.join(', ')}`) : ok(found);
  };
export const flag = (text: string): Parsed<boolean> =>
  text === 'true' || text === 'false' ? ok(text === 'true') : invalid('must be true or false');
export const integer =
  (min: number, max: number) =>
  (text: string): Parsed<number> =>
    /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? ok(Number(text))
      : invalid(`must be a whole number from ${min} to ${max}`);
export const duration =
  (min: string, max: string) =>
  (text: string): Parsed<number> => {
    const value = parseDuration(text);
    const isInRange = value !== undefined && value >= (parseDuration(min) ?? 0) && value <= (parseDuration(max) ?? 0);
    return isInRange ? ok(value) : invalid(`must be a duration from ${min} to ${max}, such as 30s, 15m, 1h or 365d`);
  };
export function schedule(text: string): Parsed<Schedule> {
  const parsed = parseSchedule(text);
  return parsed === undefined
    ? invalid('must be a duration of at least 5m, such as 6h, or a cron expression of five fields, such as 30 3 * * *')
    : ok(parsed);
}
/** Accepts `0` too. */
export const orZero =
  (parse: (text: string) => Parsed<number>) =>
  (text: string): Parsed<number> => {
    if (text === '0') return ok(0);
    const parsed = parse(text);
    return 'error' in parsed ? invalid(`${parsed.error}, or 0`) : parsed;
  };
/** A number of requests in a time, such as 100/10s. A number alone is per minute. `0`: no limit. */
export function rate(text: string): Parsed<{ readonly size: number; readonly windowMs: number } | undefined> {
  if (text === '0') return ok(undefined);
  const [, size = '', window = '1m'] = /^(\d{1,7})(?:\/(\w+))?$/.exec(text) ?? [];
  const parsed = duration('1s', '1d')(window);
  return Number(size) > 0 && 'value' in parsed
    ? ok({ size: Number(size), windowMs: parsed.value })
    : invalid('must be a number of requests per minute, or in a time from 1s to 1d (such as 100/10s), or 0');
}
/** A colour. Its lines must be visible on white (WCAG 2.2, 1.4.11). */
export function color(text: string): Parsed<string> {
  const [, ...parts] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text) ?? [];
  if (parts.length === 0) return invalid('must be a colour such as #0f766e');
  const ratio = 1.05 / (relativeLuminance(parts.map((part) => Number.parseInt(part, 16) / 255)) + 0.05);
  return ratio >= 3
    ? ok(text.toLowerCase())
    : invalid(
        `has a contrast of ${(Math.floor(ratio * 10) / 10).toFixed(1)} to 1 to white; choose a darker colour, of at least 3 to 1`,
      );
}

/** The luminance of a colour of sRGB, from 0 (black) to 1 (white), as WCAG 2.2 defines it. */
function relativeLuminance(parts: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export const url =
  (...protocols: readonly string[]) =>
  (text: string): Parsed<string> =>
    protocols.includes(parseUrl(text)?.protocol ?? '')
      ? ok(text)
      : invalid(
          `must be a URL that starts with ${protocols.map((protocol) => (protocol === 'mailto:' ? protocol : `${protocol}//`)).join(' or ')}`,
        );

/** The first parts of the paths of Postern. If PUBLIC_URL began with one, a proxy that removes its path would be ambiguous. */
const ownPaths = ['v1', 'admin', 'console', 'docs', 'images', 'u', 'livez', 'readyz', 'metrics', '.well-known'];

/** The URL of this service for clients: links, paths and headers are built from it. */
export function publicUrl(text: string): Parsed<string> {
  const parsed = url('http:', 'https:')(text);
  if ('error' in parsed) return parsed;
  const { username, password, pathname } = new URL(text);
  if (/[?#]/.test(text)) return invalid('must not have a query or a fragment, because paths are added to it');
  const [, first = ''] = pathname.split('/');
  if (ownPaths.includes(first)) return invalid(`must not have a path below /${first}, which is a path of Postern`);
  if (pathname.includes('//')) return invalid('must not have two slashes in a row in its path');
  return username === '' && password === '' ? parsed : invalid('must not have a user name or a password');
}

/** A connection string of PostgreSQL, with one host or several. Postern always connects to the one that accepts writes. */
export function databaseUrl(text: string): Parsed<string> {
  const url = withoutEmptyHost(text);
  const error = hostsError(url);
  return error === undefined ? ok(url) : invalid(error);
}

export const secret =
  (min: number) =>
  (text: string): Parsed<Secret> =>
    text.length >= min ? ok(new Secret(text)) : invalid(`must have at least ${min} characters`);

/** The names that OpenTelemetry defines for OTEL_TRACES_SAMPLER. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export function ratio(text: string): Parsed<number> {
  const isShare = /^(?:0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1;
  return isShare ? ok(Number(text)) : invalid('must be a number from 0 to 1, such as 0.05');
}

/** Names with percent-encoded values, as `name=value,name=value`. */
export function pairs(text: string): Parsed<Readonly<Record<string, string>>> {
  const matches = text.split(',').map((pair) => /^\s*([A-Za-z0-9._-]{1,255})=([^\s,][^,]*?)\s*$/.exec(pair));
  try {
    const entries = matches.map((match) => [match?.[1] ?? '', decodeURIComponent(match?.[2] ?? '')] as const);
    const isValid = entries.every(([name, value]) => name !== '' && !/\p{Cc}/u.test(value));
    return isValid ? ok(Object.fromEntries(entries)) : invalid(pairsError);
  } catch {
    return invalid(pairsError);
  }
}
const pairsError = 'must be pairs name=value with percent-encoded values, joined by commas';

/** As `pairs`, for values that are secrets. */
export function secretPairs(text: string): Parsed<SecretPairs> {
  const parsed = pairs(text);
  return 'error' in parsed ? parsed : ok(new SecretPairs(parsed.value));
}

/** A bucket and a prefix for the keys of its objects. The prefix is empty or ends with a slash. */
export function bucketUrl(text: string): Parsed<{ readonly bucket: string; readonly prefix: string }> {
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9._-]+)*)\/?$/.exec(text) ?? [];
  if (bucket === undefined) return invalid('must be s3://bucket or s3://bucket/prefix');
  return ok({ bucket, prefix: path === '' ? '' : `${path.slice(1)}/` });
}

/**
 * Whether a place is a bucket, and not the path of a folder. Everything that looks like a URL counts as a bucket, also after a quotation
 * mark or a space: it may contain a key, and errors show the paths of folders.
 */
export const isBucketUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/|^\W*s3:|:[/\\]{2}/i.test(text);

/** A folder as its full path, or a bucket as `s3://bucket/prefix`. */
export function backupPlace(text: string): Parsed<string> {
  if (!isBucketUrl(text)) return ok(resolve(text));
  const parsed = bucketUrl(text);
  return 'value' in parsed ? ok(text) : parsed;
}

/** Several secrets, joined by commas. Each has at least 32 characters. */
export function secretList(text: string): Parsed<readonly Secret[]> {
  const keys = text.split(',').map((key) => key.trim());
  return keys.every((key) => key.length >= 32)
    ? ok(keys.map((key) => new Secret(key)))
    : invalid('must be one key, or several joined by commas (the newest first), each of at least 32 characters');
}

/** A secret of Standard Webhooks: `whsec_` and base64 of at least 24 bytes. */
export function signingSecret(text: string): Parsed<Secret> {
  const encoded = text.startsWith('whsec_') ? text.slice(6) : '';
  const isStrong = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && Buffer.from(encoded, 'base64').length >= 24;
  return isStrong ? ok(new Secret(text)) : invalid('must be whsec_ followed by base64 of at least 24 bytes');
}

/** Several secrets of Standard Webhooks, joined by commas. */
export function signingSecrets(text: string): Parsed<readonly Secret[]> {
  const secrets: Secret[] = [];
  for (const part of text.split(',')) {
    const parsed = signingSecret(part.trim());
    if ('error' in parsed) return invalid(`${parsed.error}, or several of these joined by commas`);
    secrets.push(parsed.value);
  }
  return ok(secrets);
}

/** More workers would open too many connections for one database, which several instances may share. */
export const maxWorkers = 16;

/** A number of workers. `auto` is the number of cores. */
export function workerCount(text: string): Parsed<number> {
  if (text === 'auto') return ok(Math.min(maxWorkers, availableCores()));
  const count = integer(1, maxWorkers)(text);
  return 'error' in count ? invalid(`must be auto, or a whole number from 1 to ${maxWorkers}`) : count;
}

/** The number of trusted proxies in a row, counted from this server, or the addresses of trusted proxies. */
export function trustProxy(text: string): Parsed<number | readonly string[]> {
  if (/^\d{1,2}$/.test(text)) return ok(Number(text));
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isAddressOrRange)
    ? ok(ranges)
    : invalid('must be the number of proxies, or addresses and CIDR ranges joined by commas');
}

/** Strict: other spellings of IPv4, such as `10/8`, `010.0.0.2` or `100`, are other addresses than they seem to be. */
function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** A region of phone numbers (ISO 3166-1 alpha-2). */
export function region(text: string): Parsed<string> {
  return isSupportedCountry(text)
    ? ok(text)
    : invalid(`must be one of the regions ${getCountries().slice(0, 3).join(', ')}, …`);
}

/** Regions of phone numbers (ISO 3166-1 alpha-2), joined by commas. */
export function regions(text: string): Parsed<readonly string[]> {
  const list = [...new Set(text.split(',').map((name) => name.trim().toUpperCase()))];
  return list.every((name) => isSupportedCountry(name))
    ? ok(list)
    : invalid(`must be regions such as ${getCountries().slice(0, 3).join(', ')}, joined by commas`);
}

/** Origins of web pages, joined by commas. */
export function origins(text: string): Parsed<readonly string[]> {
  return originList(text, isWebOrigin, 'https://app.example.com');
}

/** Origins of pages, also of pages in apps: Capacitor, Ionic and Tauri have schemes of their own, and so have extensions of browsers. */
export function pageOrigins(text: string): Parsed<readonly string[]> {
  return originList(text, isPageOrigin, 'https://app.example.com or capacitor://localhost');
}

/** Origins of pages and of Android apps, which contain the digest of the app's signing certificate. */
export function passkeyOrigins(text: string): Parsed<readonly string[]> {
  const isApp = (origin: string) => /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/.test(origin);
  const example = 'https://app.example.com, capacitor://localhost or android:apk-key-hash:…';
  return originList(text, (origin) => isApp(origin) || isPageOrigin(origin), example);
}

function originList(text: string, accepts: (origin: string) => boolean, example: string): Parsed<readonly string[]> {
  const list = text.split(',').map((origin) => origin.trim());
  if (list.some((origin) => origin.includes('*'))) return invalid('must name each origin: a * matches nothing');
  return list.every(accepts) ? ok(list) : invalid(`must be origins such as ${example}, joined by commas`);
}

/** Whether the text is an origin as browsers write it (RFC 6454, 6.2). */
const isWebOrigin = (text: string): boolean => parseUrl(text)?.origin === text && /^https?:/.test(text);

/** The schemes that no page has, or whose pages have the origin `null`. */
const otherSchemes = /^(?:https?|wss?|ftp|file|data|blob|javascript|about|android|null):/;

const isPageOrigin = (text: string): boolean =>
  isWebOrigin(text) ||
  (/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?$/.test(text) && !otherSchemes.test(text));

export const factorPolicy = choice(...secondFactorPolicies);

/**
 * Roles, each with a value, such as `operator:30m,billing:admin:1h`: roles of operators, and roles that the app gives.
 * @param parse reads the value of a role
 * @param what the name of a value
 */
export const byRole =
  <T>(parse: (text: string) => Parsed<T>, what: string, example: string) =>
  (text: string): Parsed<Readonly<Record<string, T>>> => {
    const values = new Map<string, T>();
    for (const rule of text.split(',')) {
      // The name of a role may contain colons.
      const [, role, value = ''] = /^([a-z0-9:._-]{1,64}):([^:]*)$/.exec(rule.trim()) ?? [];
      const parsed = parse(value);
      if (role === undefined || values.has(role) || 'error' in parsed) {
        return invalid(`must be different roles with a ${what} each, such as ${example}`);
      }
      values.set(role, parsed.value);
    }
    return ok(Object.fromEntries(values));
  };

/** The names of notification types, joined by commas. */
export function notificationTypes(text: string): Parsed<readonly string[]> {
  const list = text.split(',').map((type) => type.trim());
  return list.every((type) => /^[a-z][a-z0-9_]{0,31}$/.test(type)) && new Set(list).size === list.length
    ? ok(list)
    : invalid('must be different lower-case words joined by commas');
}

/** Milliseconds by notification type. `*` is every other type. */
export function retention(text: string): Parsed<Readonly<Record<string, number>>> {
  const ages: Record<string, number> = {};
  for (const rule of text.split(',')) {
    const [, type = '', age = ''] = /^\s*([a-z][a-z0-9_]{0,31}|\*)\s*:\s*(\w+)\s*$/.exec(rule) ?? [];
    const parsed = duration('1d', '36500d')(age);
    if (type === '' || Object.hasOwn(ages, type) || 'error' in parsed) {
      return invalid('must be different types with durations from 1d to 36500d, such as pool:90d,*:365d');
    }
    ages[type] = parsed.value;
  }
  return ok(ages);
}

/** The channels of notices about an account, in the order of `noticeChannels`. */
export function notices(text: string): Parsed<readonly NoticeChannel[]> {
  if (text === 'none') return ok([]);
  const words = text.split(',').map((word) => word.trim());
  const list = noticeChannels.filter((channel) => words.includes(channel));
  return list.length === words.length
    ? ok(list)
    : invalid(`must be none, or some of ${noticeChannels.join(', ')}, joined by commas`);
}

/** The password of the mail server is a secret. The rest may be shown. */
export function smtpUrl(text: string) {
  const target = parseSmtpUrl(text);
  if (target === undefined)
    return invalid('must be smtp://… or smtps://[user:password@]host[:port][?tls=required|none]');
  const { password, ...rest } = target;
  return ok({ ...rest, password: password === undefined ? undefined : new Secret(password) });
}

/**
 * An address, or a name and an address in angle brackets. The name may be quoted (RFC 5322, 3.2.4); only a quoted name
 * may contain characters with a special meaning in a header. A domain with other letters than ASCII becomes an A-label.
 */
export function mailFrom(text: string) {
  const [, quoted, plain = '', inBrackets, alone] =
    /^(?:(?:"((?:[^\p{Cc}"\\]|\\[^\p{Cc}])*)"\s*|([^\p{Cc}<>"]*))<([^<>]*)>|([^<>]*))$/u.exec(text.trim()) ?? [];
  const [, local, domain = ''] =
    /^([^\s\p{Cc}@,;:"()[\]\\]{1,64})@([\p{L}\p{M}\p{N}.-]{1,253})$/u.exec((inBrackets ?? alone ?? '').trim()) ?? [];
  const labels = asciiLabels(domain);
  if (local === undefined || labels === undefined) {
    return invalid('must be an address such as no-reply@example.com, or Example <no-reply@example.com>');
  }
  const name = quoted === undefined ? plain.trim() : quoted.replaceAll(/\\(.)/gu, '$1');
  return ok({ name, address: `${local}@${labels.join('.')}` });
}

/** A public key on P-256: 65 bytes in base64url. */
export function vapidPublicKey(text: string): Parsed<string> {
  return isBase64Url(text, 65) ? ok(text) : invalid('must be a public key of 65 bytes in base64url');
}

/** A private key on P-256: 32 bytes in base64url. */
export function vapidPrivateKey(text: string): Parsed<Secret> {
  return isBase64Url(text, 32) ? ok(new Secret(text)) : invalid('must be a private key of 32 bytes in base64url');
}

/** A service account of Google: its JSON, or the path of a file that contains it. */
export function serviceAccount(value: string) {
  const text = readTextOrFile(value, (json) => json.trimStart().startsWith('{'));
  if (text === undefined) return invalid('must be JSON, or the path of a readable file');
  const account = readServiceAccount(text);
  return account === undefined ? invalid('must be the JSON of a service account with its private key') : ok(account);
}

/** A key of Apple: PEM, or the path of a file that contains it. */
export function apnsKey(value: string) {
  const text = readTextOrFile(value, (pem) => pem.includes('-----BEGIN'));
  if (text === undefined) return invalid('must be a key in PEM, or the path of a readable file');
  const key = readPrivateKey(text, 'ec');
  return key === undefined ? invalid('must be a private key on P-256, as in a .p8 file of Apple') : ok(key);
}

/** The path of a file of `HASH:count` lines that is sorted by hash. */
export function hashList(path: string): Parsed<string> {
  return looksLikeHashList(path)
    ? ok(resolve(path))
    : invalid('must be the path of a file of lines HASH:count, in the order of the SHA-1 hashes');
}

export const pattern = (form: RegExp, error: string) => (text: string) => (form.test(text) ? ok(text) : invalid(error));

/** A name of the time zone database. A name that PostgreSQL does not know counts as UTC there. */
export function timeZone(text: string): Parsed<string> {
  return isTimeZone(text) ? ok(text) : invalid('must be the name of a time zone such as Europe/Madrid');
}
