import { SignJWT } from 'jose';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import type { ServiceAccount } from '../../lib/push-keys.js';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Outbound, OutboundResponse } from '../outbound.js';
import { retryAfterSeconds } from '../retry-after.js';
import { failureOutcome, isTransientStatus, plainWord } from './responses.js';

export interface FcmOptions {
  readonly account: ServiceAccount;
  /** The base URL of the FCM API. */
  readonly url: string;
  readonly outbound: Outbound;
}

interface AccessToken {
  readonly value: string;
  /** A time of `performance.now()`. */
  readonly expiresAt: number;
}

/** An access token is replaced this many milliseconds before it expires. */
const renewalMarginMs = 60_000;
const scope = 'https://www.googleapis.com/auth/firebase.messaging';

/**
 * Sends with the HTTP v1 API of Firebase Cloud Messaging
 * (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages), with access tokens of a service account
 * (RFC 7523; https://developers.google.com/identity/protocols/oauth2/service-account).
 */
export function createFcm({ account, url, outbound }: FcmOptions): PushSender {
  const endpoint = `${url.replace(/\/$/, '')}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  let cachedToken: AccessToken | undefined;
  let pending: Promise<AccessToken | PushOutcome> | undefined;

  /** All waiting pushes share one request for an access token. After a failure, the next push sends a new request. */
  function accessToken(): Promise<AccessToken | PushOutcome> {
    if (cachedToken !== undefined && cachedToken.expiresAt > performance.now()) return Promise.resolve(cachedToken);
    pending ??= requestAccess(account, outbound)
      .then((result) => {
        cachedToken = 'value' in result ? result : undefined;
        return result;
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  return {
    channel: 'fcm',
    async send(token, message) {
      try {
        const access = await accessToken();
        if (!('value' in access)) return access;
        const response = await outbound.request({
          url: endpoint,
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${access.value}` },
          body: JSON.stringify({ message: messageOf(token, message) }),
        });
        const error = errorOf(response.body);
        // The token was revoked, or the clocks differ: the next attempt uses a new one.
        if (response.status === 401 && errorCode(error) !== 'THIRD_PARTY_AUTH_ERROR') cachedToken = undefined;
        return outcomeOf(response.status, response.headers, error);
      } catch (error) {
        return failureOutcome(error);
      }
    },
    close: async () => undefined,
  };
}

/** The assertion's times are for Google, so they come from the system clock, not from the database. */
async function requestAccess(account: FcmOptions['account'], outbound: Outbound): Promise<AccessToken | PushOutcome> {
  const requestedAt = performance.now();
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.privateKeyId && { kid: account.privateKeyId }) })
    .setIssuer(account.clientEmail)
    .setAudience(account.tokenUri)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(account.privateKey);
  const { status, headers, body } = await outbound.request({
    url: account.tokenUri,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
  });
  const answer = parseJsonObject(body.toString()) ?? {};
  const { access_token: value, expires_in: lifetime } = answer;
  if (status !== 200 || typeof value !== 'string' || !/^[!-~]+$/.test(value)) {
    const reason = ['no access token: answered', status, plainWord(answer.error)].filter(Boolean).join(' ');
    // This is a retry even if the account was refused, because an operator can correct that before the push expires.
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  const milliseconds = (typeof lifetime === 'number' ? lifetime : 3600) * 1000;
  return { value, expiresAt: requestedAt + Math.max(0, milliseconds - renewalMarginMs) };
}

/**
 * The system shows `notification` even if the app does not run; `data` is for the app. A notification with the same tag
 * replaces the shown one. A pending message with the same collapse key is replaced before delivery.
 */
function messageOf(token: string, { content, collapseId, ttl, urgency }: PushMessage): object {
  // Values of `data` are texts.
  if ('clears' in content) {
    return { token, data: { clears: content.clears.join(',') }, android: { ttl: `${ttl}s`, priority: 'NORMAL' } };
  }
  const { id, notification_type, notification_key, title, body, sequence } = content;
  return {
    token,
    notification: { ...(title !== null && { title }), body },
    data: {
      id,
      notification_type,
      ...(sequence !== null && { sequence: String(sequence) }),
      ...(notification_key !== null && { notification_key }),
    },
    android: {
      collapse_key: collapseId,
      ttl: `${ttl}s`,
      priority: urgency === 'high' ? 'HIGH' : 'NORMAL',
      notification: { tag: collapseId },
    },
  };
}

function outcomeOf(status: number, headers: OutboundResponse['headers'], error: JsonObject): PushOutcome {
  if (status === 200) return { outcome: 'sent' };
  const code = errorCode(error);
  const reason = ['fcm answered', status, code].filter(Boolean).join(' ');
  if (isTokenGone(status, error)) return { outcome: 'gone', reason };
  // The token is one of another project: neither the message nor a later attempt can change that, but an operator can.
  if (code === 'SENDER_ID_MISMATCH') return { outcome: 'failed', reason };
  // 401, 403 and 404: the access token, the credentials for APNs (`THIRD_PARTY_AUTH_ERROR`), the rights or the URL. An
  // operator can correct them before the push expires.
  if (isTransientStatus(status) || status === 401 || status === 403 || status === 404) {
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  return { outcome: 'failed', reason };
}

/**
 * Whether FCM says that it does not know the token: `UNREGISTERED`, a `NOT_FOUND` without details, or an
 * `INVALID_ARGUMENT` about nothing but the token. A 404 of a wrong URL, and an error about the project or the message, must
 * not remove the tokens of all devices.
 */
function isTokenGone(status: number, error: JsonObject): boolean {
  const code = errorCode(error);
  const details = detailsOf(error);
  if (code === 'UNREGISTERED') return true;
  if (status === 404) return code === 'NOT_FOUND' && details.length === 0;
  if (status !== 400 || code !== 'INVALID_ARGUMENT') return false;
  const violations = details.flatMap(({ fieldViolations: list }) =>
    Array.isArray(list) ? list.filter(isJsonObject) : [],
  );
  if (violations.length > 0) return violations.every(({ field }) => field === 'message.token');
  return typeof error.message === 'string' && /\bnot a valid FCM registration token\b/i.test(error.message);
}

/** FCM's error code (google.firebase.fcm.v1.FcmError) if there is one, otherwise the status of google.rpc.Status. */
function errorCode(error: JsonObject): string | undefined {
  const fcmCodes = detailsOf(error).map(({ errorCode: code }) => plainWord(code));
  return fcmCodes.find((code) => code !== undefined) ?? plainWord(error.status);
}

function detailsOf({ details }: JsonObject): JsonObject[] {
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}

/** The error of an answer; empty if it has none. */
function errorOf(body: Buffer): JsonObject {
  const { error } = parseJsonObject(body.toString()) ?? {};
  return isJsonObject(error) ? error : {};
}
