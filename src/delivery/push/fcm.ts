import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Outbound, OutboundResponse } from '../outbound.js';
import { isPassing, outcomeOfFailure, plainWord, retryAfterSeconds } from './answers.js';

export interface FcmOptions {
  readonly account: {
    readonly projectId: string;
    readonly clientEmail: string;
    readonly privateKey: KeyObject;
    readonly privateKeyId: string | undefined;
    /** Where access tokens are had. */
    readonly tokenUri: string;
  };
  /** Where messages go, without the path. */
  readonly url: string;
  readonly outbound: Outbound;
}

interface AccessToken {
  readonly value: string;
  /** In milliseconds of this process's clock that only goes forward. */
  readonly goodUntil: number;
}

/** Got anew this long before its end. */
const margin = 60_000;
const scope = 'https://www.googleapis.com/auth/firebase.messaging';

/** Firebase Cloud Messaging, HTTP v1, with access tokens of a service account (RFC 7523). */
export function createFcm({ account, url, outbound }: FcmOptions): PushSender {
  const endpoint = `${url.replace(/\/$/, '')}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  let access: AccessToken | undefined;
  let asking: Promise<AccessToken | PushOutcome> | undefined;

  /** One request for however many pushes wait for it; what fails is asked for again by the next push. */
  function accessToken(): Promise<AccessToken | PushOutcome> {
    if (access !== undefined && access.goodUntil > performance.now()) return Promise.resolve(access);
    asking ??= requestAccess(account, outbound)
      .then((result) => {
        access = 'value' in result ? result : undefined;
        return result;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  return {
    channel: 'fcm',
    async send(token, message) {
      try {
        const granted = await accessToken();
        if (!('value' in granted)) return granted;
        const response = await outbound.request({
          url: endpoint,
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${granted.value}` },
          body: JSON.stringify({ message: messageOf(token, message) }),
        });
        // Revoked, or the clocks differ: the next attempt gets a new one.
        if (response.status === 401) access = undefined;
        return outcomeOf(response);
      } catch (error) {
        return outcomeOfFailure(error);
      }
    },
    close: async () => undefined,
  };
}

/** The times of an assertion are Google's business, so they are of this machine's clock. */
async function requestAccess(account: FcmOptions['account'], outbound: Outbound): Promise<AccessToken | PushOutcome> {
  const asked = performance.now();
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
  const answer = parseObject(body);
  const { access_token: value, expires_in: lifetime } = answer;
  if (status !== 200 || typeof value !== 'string' || !/^[!-~]+$/.test(value)) {
    const reason = ['no access token: answered', status, plainWord(answer.error)].filter(Boolean).join(' ');
    // Also when the account was refused: an operator can mend that while the push is still fresh.
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  const milliseconds = (typeof lifetime === 'number' ? lifetime : 3600) * 1000;
  return { value, goodUntil: asked + Math.max(0, milliseconds - margin) };
}

/**
 * The `notification` is shown by the phone itself, also when the app does not run; `data` is for the app. What has the
 * same tag replaces what is shown; the collapse key is heeded by Apple's phones and browsers behind FCM.
 */
function messageOf(token: string, { content, ttl, urgency }: PushMessage): object {
  const { id, notification_type, notification_key, title, body, sequence } = content;
  return {
    token,
    notification: { ...(title !== null && { title }), body },
    data: {
      ...{ id, notification_type, ...(sequence !== null && { sequence: String(sequence) }) },
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
  const { error } = parseObject(body);
  const code = errorCode(error);
  const reason = ['fcm answered', status, code].filter(Boolean).join(' ');
  // Only what is said of the token: a 404 of a wrong address must not cost every device its token.
  if (code === 'UNREGISTERED' || (status === 400 && namesToken(error))) return { outcome: 'gone', reason };
  if (isPassing(status) || status === 401 || status === 403 || (status === 404 && code === undefined)) {
    if (code === 'SENDER_ID_MISMATCH') return { outcome: 'failed', reason };
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  return { outcome: 'failed', reason };
}

/** FCM's own code where there is one (google.firebase.fcm.v1.FcmError), else that of all Google APIs. */
function errorCode(error: unknown): string | undefined {
  if (!isObject(error)) return undefined;
  const own = detailsOf(error).map(({ errorCode: code }) => plainWord(code));
  return own.find((code) => code !== undefined) ?? plainWord(error.status);
}

/** Whether a google.rpc.BadRequest finds fault with the token. */
function namesToken(error: unknown): boolean {
  if (!isObject(error)) return false;
  const violations = detailsOf(error).flatMap(({ fieldViolations: list }) => (Array.isArray(list) ? list : []));
  return violations.some((violation) => isObject(violation) && violation.field === 'message.token');
}

function detailsOf({ details }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(details) ? details.filter(isObject) : [];
}

function parseObject(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
