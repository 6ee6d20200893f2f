import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import ipaddr from 'ipaddr.js';
import { getCountries, isSupportedCountry } from 'libphonenumber-js';
import { type NoticeChannel, noticeChannels } from './contract/administration.js';
import { roles, secondFactorPolicies } from './contract/user.js';
import { parseDuration } from './lib/durations.js';
import { beginsLikeHashList } from './lib/hash-list.js';
import { availableCores } from './lib/machine.js';
import { isBase64Url, readPrivateKey, readServiceAccount, textOrFile } from './lib/push-keys.js';
import { parseSmtpUrl } from './lib/smtp-url.js';

/** How the text of one variable becomes a value, or a fault that completes the sentence "NAME …". */

type Role = (typeof roles)[number];
type SecondFactorPolicy = (typeof secondFactorPolicies)[number];

/** A configured secret: printing, logging or serialising it shows nothing. */
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

export type Parsed<T> = { value: T } | { fault: string };
export interface Setting<T> {
  /** How a value is read; `fault` completes the sentence "NAME …". */
  readonly parse: (text: string) => Parsed<T>;
  /** The text that is parsed when the variable is unset; absent: the setting has no value. */
  readonly fallback?: string;
  /** For docs/configuration.md. */
  readonly about: string;
}

export const ok = <T>(value: T): Parsed<T> => ({ value });
export const fault = (message: string): { fault: string } => ({ fault: message });

export const anyText = (text: string) => ok(text);
export const choice =
  <const T extends string>(...allowed: readonly T[]) =>
  (text: string): Parsed<T> => {
    const found = allowed.find((value) => value === text);
    return found === undefined ? fault(`must be one of: ${allowed.join(', ')}`) : ok(found);
  };
export const flag = (text: string): Parsed<boolean> =>
  text === 'true' || text === 'false' ? ok(text === 'true') : fault('must be true or false');
export const integer =
  (min: number, max: number) =>
  (text: string): Parsed<number> =>
    /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? ok(Number(text))
      : fault(`must be a whole number from ${min} to ${max}`);
export const duration =
  (min: string, max: string) =>
  (text: string): Parsed<number> => {
    const value = parseDuration(text);
    const inRange = value !== undefined && value >= (parseDuration(min) ?? 0) && value <= (parseDuration(max) ?? 0);
    return inRange ? ok(value) : fault(`must be a duration from ${min} to ${max}, such as 30s, 15m, 1h or 365d`);
  };
/** The same, or `0`. */
export const orZero =
  (parse: (text: string) => Parsed<number>) =>
  (text: string): Parsed<number> => {
    if (text === '0') return ok(0);
    const parsed = parse(text);
    return 'fault' in parsed ? fault(`${parsed.fault}, or 0`) : parsed;
  };
export const url =
  (...protocols: readonly string[]) =>
  (text: string): Parsed<string> =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? ok(text)
      : fault(`must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
export const secret =
  (min: number) =>
  (text: string): Parsed<Secret> =>
    text.length >= min ? ok(new Secret(text)) : fault(`must have at least ${min} characters`);

export function secretList(text: string): Parsed<readonly Secret[]> {
  const keys = text.split(',').map((key) => key.trim());
  return keys.every((key) => key.length >= 32)
    ? ok(keys.map((key) => new Secret(key)))
    : fault('must be one key, or several joined by commas (the newest first), each of at least 32 characters');
}

export function signingSecret(text: string): Parsed<Secret> {
  const encoded = text.startsWith('whsec_') ? text.slice(6) : '';
  const strong = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && Buffer.from(encoded, 'base64').length >= 24;
  return strong ? ok(new Secret(text)) : fault('must be whsec_ followed by base64 of at least 24 bytes');
}

/** With more, their connections would be too many for one database; several instances share one as well. */
export const mostWorkers = 16;

export function workerCount(text: string): Parsed<number> {
  if (text === 'auto') return ok(Math.min(mostWorkers, availableCores()));
  const count = integer(1, mostWorkers)(text);
  return 'fault' in count ? fault(`must be auto, or a whole number from 1 to ${mostWorkers}`) : count;
}

/** Hops to trust, counted from this server, or the addresses of trusted proxies. */
export function trustProxy(text: string): Parsed<number | readonly string[]> {
  if (/^\d{1,2}$/.test(text)) return ok(Number(text));
  const ranges = text.split(',').map((range) => range.trim());
  const valid = ranges.every((range) => ipaddr.isValid(range) || ipaddr.isValidCIDR(range));
  return valid ? ok(ranges) : fault('must be a number of hops, or addresses and CIDR ranges joined by commas');
}

export function region(text: string): Parsed<string> {
  return isSupportedCountry(text)
    ? ok(text)
    : fault(`must be one of the regions ${getCountries().slice(0, 3).join(', ')}, …`);
}

export function origins(text: string): Parsed<readonly string[]> {
  const list = text.split(',').map((origin) => origin.trim());
  return list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
    ? ok(list)
    : fault('must be origins such as https://app.example.com, joined by commas');
}

/** Web origins, and those of Android apps: the digest of the certificate that signed them. */
export function passkeyOrigins(text: string): Parsed<readonly string[]> {
  const list = text.split(',').map((origin) => origin.trim());
  const isApp = (origin: string) => /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/.test(origin);
  return list.every((origin) => isApp(origin) || 'value' in origins(origin))
    ? ok(list)
    : fault('must be origins such as https://app.example.com or android:apk-key-hash:…, joined by commas');
}

export const factorPolicy = choice(...secondFactorPolicies);

export function factorPolicyByRole(text: string): Parsed<Readonly<Partial<Record<Role, SecondFactorPolicy>>>> {
  const policies: Partial<Record<Role, SecondFactorPolicy>> = {};
  for (const rule of text.split(',')) {
    const [name, policy = ''] = rule.trim().split(':');
    const role = roles.find((one) => one === name);
    const parsed = factorPolicy(policy);
    if (role === undefined || role in policies || 'fault' in parsed) {
      return fault(`must be different roles (${roles.join(', ')}) with a policy each, such as operator:required`);
    }
    policies[role] = parsed.value;
  }
  return ok(policies);
}

export function notificationTypes(text: string): Parsed<readonly string[]> {
  const list = text.split(',').map((type) => type.trim());
  return list.every((type) => /^[a-z][a-z0-9_]{0,31}$/.test(type)) && new Set(list).size === list.length
    ? ok(list)
    : fault('must be different lower-case words joined by commas');
}

/** Modules: relative paths become URLs of files, other names are those of packages. */
export function modules(text: string): Parsed<readonly string[]> {
  const list = text.split(',').map((module) => module.trim());
  if (list.includes('') || new Set(list).size < list.length) {
    return fault('must be different paths or package names, joined by commas');
  }
  return ok(list.map((module) => (/^\.{0,2}\//.test(module) ? pathToFileURL(resolve(module)).href : module)));
}

/** Milliseconds by notification type; `*` is every other type. */
export function retention(text: string): Parsed<Readonly<Record<string, number>>> {
  const ages: Record<string, number> = {};
  for (const rule of text.split(',')) {
    const [, type = '', age = ''] = /^\s*([a-z][a-z0-9_]{0,31}|\*)\s*:\s*(\w+)\s*$/.exec(rule) ?? [];
    const parsed = duration('1d', '36500d')(age);
    if (type === '' || Object.hasOwn(ages, type) || 'fault' in parsed) {
      return fault('must be different types with durations from 1d to 36500d, such as pool:90d,*:365d');
    }
    ages[type] = parsed.value;
  }
  return ok(ages);
}

/** How users are told of what happens to their accounts; the words are checked in the order in which they are given. */
export function notices(text: string): Parsed<readonly NoticeChannel[]> {
  if (text === 'none') return ok([]);
  const words = text.split(',').map((word) => word.trim());
  const list = noticeChannels.filter((channel) => words.includes(channel));
  return list.length === words.length
    ? ok(list)
    : fault(`must be none, or of ${noticeChannels.join(', ')}, joined by commas`);
}

/** The password of a relay stays a secret; the rest may be shown. */
export function smtpUrl(text: string) {
  const target = parseSmtpUrl(text);
  if (target === undefined) return fault('must be smtp://… or smtps://[user:password@]host[:port][?tls=required|none]');
  const { password, ...rest } = target;
  return ok({ ...rest, password: password === undefined ? undefined : new Secret(password) });
}

/** An address, alone or in angle brackets behind a name: plain characters, so that nothing of it is read as more. */
export function mailFrom(text: string) {
  const [, name = '', inBrackets, alone] = /^(?:([^\p{Cc}<>"]*)<([^<>]*)>|([^<>]*))$/u.exec(text.trim()) ?? [];
  const address = inBrackets ?? alone ?? '';
  if (!/^[^\s\p{Cc}@,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/u.test(address)) {
    return fault('must be an address such as no-reply@example.com, or Example <no-reply@example.com>');
  }
  return ok({ name: name.trim(), address });
}

export function vapidPublicKey(text: string): Parsed<string> {
  return isBase64Url(text, 65) ? ok(text) : fault('must be a public key of 65 bytes in base64url');
}

export function vapidPrivateKey(text: string): Parsed<Secret> {
  return isBase64Url(text, 32) ? ok(new Secret(text)) : fault('must be a private key of 32 bytes in base64url');
}

export function serviceAccount(value: string) {
  const text = textOrFile(value, (json) => json.trimStart().startsWith('{'));
  if (text === undefined) return fault('must be JSON, or name a file that can be read');
  const account = readServiceAccount(text);
  return account === undefined ? fault('must be the JSON of a service account with its private key') : ok(account);
}

export function apnsKey(value: string) {
  const text = textOrFile(value, (pem) => pem.includes('-----BEGIN'));
  if (text === undefined) return fault('must be a key in PEM, or name a file that can be read');
  const key = readPrivateKey(text, 'ec');
  return key === undefined ? fault('must be a private key on P-256, as in the .p8 file of Apple') : ok(key);
}

export function hashList(path: string): Parsed<string> {
  return beginsLikeHashList(path)
    ? ok(resolve(path))
    : fault('must name a file of lines HASH:count, with SHA-1 hashes in their own order');
}

export const pattern = (form: RegExp, about: string) => (text: string) => (form.test(text) ? ok(text) : fault(about));
