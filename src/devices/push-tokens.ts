import { ECDH } from 'node:crypto';
import { type PushChannel, type TokenType, tokenTypes, type WebPushSubscription } from '../contract/push.js';
import type { Database } from '../database/database.js';
import { isJsonObject } from '../lib/json-object.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { claimPushTokens, type PushTokens } from './push-devices.js';

/** Registers the push tokens of clients, for the device of their session. */
export interface DevicePushTokens {
  /**
   * @returns whether the token is new to the device
   * @throws Problem `validation_failed`; `invalid_session_token` when the device was deleted
   */
  register(
    owner: { readonly user_id: string; readonly device_id: string },
    type: TokenType,
    token: unknown,
  ): Promise<boolean>;
  /** Whether pushes are sent to tokens of this type. */
  isEnabled(type: TokenType): boolean;
}

/** Returns the reason why a URL is refused, in words; undefined when it is allowed. */
type CheckUrl = (url: string) => string | undefined;

export interface PushTokensOptions {
  readonly database: Pick<Database, 'user'>;
  readonly checkUrl: CheckUrl;
  /** The configured channels. */
  readonly channels: readonly PushChannel[];
}

/** Creates the registration of push tokens. */
export function createPushTokens({ database, checkUrl, channels }: PushTokensOptions): DevicePushTokens {
  return {
    async register({ user_id, device_id }, type, token) {
      const errors: FieldError[] = [];
      const tokens = readToken(type, token, checkUrl, errors);
      throwIfErrors(errors);
      const isNew = await claimPushTokens(database.user(user_id), user_id, device_id, tokens);
      if (isNew === undefined) throw new Problem('invalid_session_token');
      return isNew;
    },
    isEnabled: (type) => channels.includes(tokenTypes[type]),
  };
}

/**
 * A token of APNs in its only form, because a token in two spellings would be two tokens, and the phone would get each push
 * twice: hexadecimal digits in lower case, without `0x` and the spaces, signs and quotes that apps write around and between
 * them. A text that is no token is only trimmed.
 */
export function canonicalApnsToken(text: string): string {
  const digits = text
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cf}\p{Pd}<>:_"']/gu, '')
    .toLowerCase()
    .replace(/^0x/, '');
  return apnsToken.test(digits) ? digits : text.trim();
}

/**
 * A token of FCM, without the line ends, invisible marks, quotes and outer spaces that come along when it is copied. Upper and lower case
 * are different tokens.
 */
export const canonicalFcmToken = (text: string): string => text.replaceAll(/[\t\r\n\p{Cf}"']/gu, '').trim();

/**
 * The pattern is loose, because Apple's documentation says not to rely on the length of its tokens, and Google's
 * documentation describes no format.
 */
const apnsToken = /^[0-9a-f]{16,400}$/;
const fcmToken = /^[!-~]{1,4096}$/;
const maxSubscription = 4096;

function readToken(type: TokenType, token: unknown, checkUrl: CheckUrl, errors: FieldError[]): PushTokens {
  if (type === 'web') return { web_push_subscription: readSubscription(token, checkUrl, errors) };
  if (typeof token !== 'string') {
    errors.push({ field: 'token', code: 'invalid_type', params: { expected: 'string' } });
    return {};
  }
  const canonical = type === 'ios' ? canonicalApnsToken(token) : canonicalFcmToken(token);
  if (!(type === 'ios' ? apnsToken : fcmToken).test(canonical)) errors.push({ field: 'token', code: 'invalid_format' });
  return type === 'ios' ? { apn_device_token: canonical } : { gcm_device_token: canonical };
}

/** Reads a browser's `PushSubscription`, an object or its JSON text. Keeps only the members that sending needs. */
function readSubscription(token: unknown, checkUrl: CheckUrl, errors: FieldError[]): WebPushSubscription | undefined {
  const subscription = typeof token === 'string' ? parseObject(token) : token;
  if (!isJsonObject(subscription)) {
    errors.push({ field: 'token', code: 'invalid_format' });
    return undefined;
  }
  const { endpoint } = subscription;
  const keys = isJsonObject(subscription.keys) ? subscription.keys : {};
  const before = errors.length;
  if (typeof endpoint !== 'string' || endpoint === '') {
    errors.push({ field: 'token.endpoint', code: 'required' });
    return undefined;
  }
  const reason = checkUrl(endpoint.trim());
  if (reason !== undefined) errors.push({ field: 'token.endpoint', code: 'invalid_url', params: { reason } });
  const p256dh = readKey(keys.p256dh, isPoint);
  if (p256dh === undefined) errors.push({ field: 'token.keys.p256dh', code: 'invalid_format' });
  const auth = readKey(keys.auth, (bytes) => bytes.length === 16);
  if (auth === undefined) errors.push({ field: 'token.keys.auth', code: 'invalid_format' });
  if (errors.length > before || p256dh === undefined || auth === undefined) return undefined;
  // The URL in its only spelling: another case of the host, or its default port, is the same subscription.
  const { href, hash } = new URL(endpoint.trim());
  return { endpoint: href.slice(0, href.length - hash.length), keys: { p256dh, auth } };
}

function parseObject(text: string): unknown {
  try {
    return text.length > maxSubscription ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads base64 of either alphabet. @returns base64url without padding */
function readKey(value: unknown, isValid: (bytes: Buffer) => boolean): string | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]{1,128}={0,2}$/.test(value.trim())) return undefined;
  const bytes = Buffer.from(value, 'base64');
  return isValid(bytes) ? bytes.toString('base64url') : undefined;
}

/** Whether the bytes are an uncompressed point on P-256 (RFC 8291, 3.1). Encryption fails for any other key. */
function isPoint(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}
