import { parseUrl } from '../lib/urls.js';
import type { Setting } from './parsers.js';
import { settingGroups } from './settings.js';

/** A setting as operators may see it. */
export interface EffectiveSetting {
  readonly group: string;
  readonly name: string;
  /** Null if it has no value or must not be shown. */
  readonly value: string | null;
  readonly is_set: boolean;
  readonly is_hidden: boolean;
}

/** Settings whose values are objects without a secret. */
const plainObjects = [
  'MAIL_FROM',
  'NOTIFICATION_RETENTION',
  'SECOND_FACTOR_BY_ROLE',
  'SMS_SENDERS',
  'IMAGE_STORAGE',
  'AUTHENTICATION_TTL_BY_ROLE',
  'IDLE_TTL_BY_ROLE',
  'MAX_DEVICES_BY_ROLE',
  'OTEL_RESOURCE_ATTRIBUTES',
  'REQUEST_LIMIT_PER_ADDRESS',
  'REQUEST_LIMIT_PER_SESSION',
  'OUTBOUND_ALLOWLIST',
  'MAIL_RATE',
  'SMS_RATE',
];

/**
 * The settings with their texts. Only values that cannot hold a secret are shown: numbers, flags, words and lists of
 * them. Of a URL, only the protocol and the host are shown, because the rest may contain a password or a token.
 * @param texts the given texts by name
 * @param values the parsed values by name
 */
export function effectiveSettings(
  texts: Readonly<Record<string, string | undefined>>,
  values: Readonly<Record<string, unknown>>,
): EffectiveSetting[] {
  return Object.entries(settingGroups).flatMap(([group, settings]) =>
    Object.entries<Setting<unknown>>(settings).map(([name, { fallback }]) => {
      const configured = texts[name] || undefined;
      const text = configured ?? fallback;
      const value = text === undefined ? null : publicText(name, text, values[name]);
      return {
        group,
        name,
        value,
        is_set: configured !== undefined,
        is_hidden: text !== undefined && value === null,
      };
    }),
  );
}

function publicText(name: string, text: string, value: unknown): string | null {
  if (plainObjects.includes(name) || typeof value === 'number' || typeof value === 'boolean') return text;
  if (typeof value === 'string') return protocolAndHost(value);
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? value.map(protocolAndHost).join(', ') : null;
}

/** Returns the text. If it is a URL with a host, returns only the protocol and the host. */
function protocolAndHost(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = parseUrl(text);
  if (url === undefined) return '…';
  const { protocol, host, pathname, search, hash, username } = url;
  const isCut = !['', '/'].includes(pathname) || search !== '' || hash !== '' || username !== '';
  return `${protocol}//${host}${isCut ? '/…' : ''}`;
}
