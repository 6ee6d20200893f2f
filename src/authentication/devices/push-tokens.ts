import { ECDH } from 'node:crypto';
import { type PushChannel, type TokenType, tokenTypes, type WebPushSubscription } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import { type FieldError, Problem, refuseFaults } from '../../lib/problem.js';
import { claimPushTokens, type PushTokens } from './push-devices.js';

/** The push tokens that clients register for the device of their session. */
export interface DevicePushTokens {
  /**
   * @returns whether the token is new to the device
   * @throws Problem `validation_failed`; `invalid_session_token` when the device was deleted meanwhile
   */
  register(
    owner: { readonly user_id: string; readonly device_id: string },
    type: TokenType,
    token: unknown,
  ): Promise<boolean>;
  /** Whether pushes are sent to tokens of this type. */
  isEnabled(type: TokenType): boolean;
}

/** Says for people why a URL may not be called; undefined when it may. */
type CheckUrl = (url: string) => string | undefined;

export interface PushTokensOptions {
  readonly database: Pick<Database, 'lane'>;
  readonly checkUrl: CheckUrl;
  /** Those that are configured. */
  readonly channels: readonly PushChannel[];
}

export function createPushTokens({ database, checkUrl, channels }: PushTokensOptions): DevicePushTokens {
  return {
    async register({ user_id, device_id }, type, token) {
      const faults: FieldError[] = [];
      const tokens = readToken(type, token, checkUrl, faults);
      refuseFaults(faults);
      const changed = await claimPushTokens(database.lane(user_id), user_id, device_id, tokens);
      if (changed === undefined) throw new Problem('invalid_session_token');
      return changed;
    },
    isEnabled: (type) => channels.includes(tokenTypes[type]),
  };
}

/** Apple says not to rely on the length of its tokens, which end in a path; Google nothing at all. */
const apnsToken = /^[0-9A-Fa-f]{16,400}$/;
const fcmToken = /^[!-~]{1,4096}$/;
const maxSubscription = 4096;

function readToken(type: TokenType, token: unknown, checkUrl: CheckUrl, faults: FieldError[]): PushTokens {
  if (type === 'web') return { web_push_subscription: readSubscription(token, checkUrl, faults) };
  const form = type === 'ios' ? apnsToken : fcmToken;
  if (typeof token !== 'string') {
    faults.push({ field: 'token', code: 'invalid_type', params: { expected: 'string' } });
    return {};
  }
  if (!form.test(token)) faults.push({ field: 'token', code: 'invalid_format' });
  return type === 'ios' ? { apn_device_token: token } : { gcm_device_token: token };
}

/** What a browser's `PushSubscription` says, as an object or as its JSON text. Only what is needed is kept. */
function readSubscription(token: unknown, checkUrl: CheckUrl, faults: FieldError[]): WebPushSubscription | undefined {
  const given = typeof token === 'string' ? parseObject(token) : token;
  if (!isObject(given)) {
    faults.push({ field: 'token', code: 'invalid_format' });
    return undefined;
  }
  const { endpoint } = given;
  const keys = isObject(given.keys) ? given.keys : {};
  const before = faults.length;
  if (typeof endpoint !== 'string' || endpoint === '') {
    faults.push({ field: 'token.endpoint', code: 'required' });
    return undefined;
  }
  const reason = checkUrl(endpoint);
  if (reason !== undefined) faults.push({ field: 'token.endpoint', code: 'invalid_url', params: { reason } });
  const p256dh = readKey(keys.p256dh, isPoint);
  if (p256dh === undefined) faults.push({ field: 'token.keys.p256dh', code: 'invalid_format' });
  const auth = readKey(keys.auth, (bytes) => bytes.length === 16);
  if (auth === undefined) faults.push({ field: 'token.keys.auth', code: 'invalid_format' });
  if (faults.length > before || p256dh === undefined || auth === undefined) return undefined;
  return { endpoint, keys: { p256dh, auth } };
}

function parseObject(text: string): unknown {
  try {
    return text.length > maxSubscription ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Bytes in base64 of either alphabet, as base64url without padding. */
function readKey(value: unknown, isRight: (bytes: Buffer) => boolean): string | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]{1,128}={0,2}$/.test(value)) return undefined;
  const bytes = Buffer.from(value, 'base64');
  return isRight(bytes) ? bytes.toString('base64url') : undefined;
}

/** An uncompressed point that lies on P-256 (RFC 8291, 3.1): nothing can be encrypted for another. */
function isPoint(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}
