import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Outbound, OutboundResponse } from '../outbound.js';
import { failureOutcome, isTransientStatus, plainWord, retryAfterSeconds } from './responses.js';

export interface FcmOptions {
  readonly account: {
    readonly projectId: string;
    readonly clientEmail: string;
    readonly privateKey: KeyObject;
    readonly privateKeyId: string | undefined;
    /** The token endpoint. */
    readonly tokenUri: string;
  };
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
        // The token was revoked, or the clocks differ: the next attempt uses a new one.
        if (response.status === 401) cachedToken = undefined;
        return outcomeOf(response);
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
function messageOf(token: string, { content, ttl, urgency }: PushMessage): object {
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
      collapse_key: id,
      ttl: `${ttl}s`,
      priority: urgency === 'high' ? 'HIGH' : 'NORMAL',
      notification: { tag: id },
    },
  };
}

function outcomeOf({ status, headers, body }: OutboundResponse): PushOutcome {
  if (status === 200) return { outcome: 'sent' };
  const { error } = parseJsonObject(body.toString()) ?? {};
  const code = errorCode(error);
  const reason = ['fcm answered', status, code].filter(Boolean).join(' ');
  // Only errors about the token itself remove it: a 404 because of a wrong URL must not remove the token of every
  // device.
  if (code === 'UNREGISTERED' || (status === 400 && isAboutToken(error))) return { outcome: 'gone', reason };
  if (isTransientStatus(status) || status === 401 || status === 403 || (status === 404 && code === undefined)) {
    if (code === 'SENDER_ID_MISMATCH') return { outcome: 'failed', reason };
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  return { outcome: 'failed', reason };
}

/** FCM's error code (google.firebase.fcm.v1.FcmError) if there is one, otherwise the status of google.rpc.Status. */
function errorCode(error: unknown): string | undefined {
  if (!isJsonObject(error)) return undefined;
  const fcmCodes = detailsOf(error).map(({ errorCode: code }) => plainWord(code));
  return fcmCodes.find((code) => code !== undefined) ?? plainWord(error.status);
}

/** Whether a google.rpc.BadRequest names the token as invalid. */
function isAboutToken(error: unknown): boolean {
  if (!isJsonObject(error)) return false;
  const violations = detailsOf(error).flatMap(({ fieldViolations: list }) => (Array.isArray(list) ? list : []));
  return violations.some((violation) => isJsonObject(violation) && violation.field === 'message.token');
}

function detailsOf({ details }: JsonObject): JsonObject[] {
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}
