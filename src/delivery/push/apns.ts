import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { parseJsonObject } from '../../lib/json-object.js';
import type { Tracing } from '../../lib/tracing.js';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Guard } from '../outbound-guard.js';
import { retryAfterSeconds } from '../retry-after.js';
import { traceCall } from '../traced-call.js';
import { type ApnsResponse, type ApnsTimeouts, createApnsConnection } from './apns-connection.js';
import { failureOutcome, isTransientStatus, plainWord } from './responses.js';

export interface ApnsOptions {
  /** An EC key on P-256: the `.p8` file. */
  readonly key: KeyObject;
  readonly keyId: string;
  readonly teamId: string;
  /** The app's bundle id. */
  readonly topic: string;
  readonly url: string;
  readonly guard: Guard;
  readonly timeouts?: Partial<ApnsTimeouts>;
  /** Undefined: calls are not traced. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Milliseconds. APNs refuses provider tokens that are older than one hour or replaced more than once in 20 minutes (Apple,
 * "Establishing a token-based connection to APNs").
 */
const tokenLifetimeMs = 50 * 60_000;

/** The reasons for an invalid device token (Apple, "Handling notification responses from APNs"). */
const invalidToken = ['BadDeviceToken', 'Unregistered', 'ExpiredToken'];

/**
 * Sends to the Apple Push Notification service, over one persistent HTTP/2 connection. Headers and payload follow Apple's pages
 * "Sending notification requests to APNs" and "Generating a remote notification".
 */
export function createApns({ key, keyId, teamId, topic, url, guard, timeouts, tracing }: ApnsOptions): PushSender {
  const connection = createApnsConnection({ url, guard, timeouts });
  let cachedToken: { readonly token: Promise<string>; readonly since: number } | undefined;

  function providerToken(): Promise<string> {
    if (cachedToken === undefined || performance.now() - cachedToken.since > tokenLifetimeMs) {
      const token = new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: keyId })
        .setIssuer(teamId)
        .setIssuedAt()
        .sign(key);
      cachedToken = { token, since: performance.now() };
    }
    return cachedToken.token;
  }

  return {
    channel: 'apns',
    async send(token, message) {
      // The token becomes part of the path, and clients can register any text.
      if (!/^[0-9A-Fa-f]+$/.test(token)) return { outcome: 'gone', reason: 'not a device token' };
      try {
        const headers = await headersOf(message);
        const answer = await traceCall(tracing, { url, method: 'POST' }, (traceHeaders) =>
          connection.post(`/3/device/${token}`, { ...headers, ...traceHeaders }, bodyOf(message)),
        );
        const outcome = outcomeOf(answer);
        if (answer.status === 403 && reasonOf(answer) === 'ExpiredProviderToken') cachedToken = undefined;
        return outcome;
      } catch (error) {
        return failureOutcome(error);
      }
    },
    close: () => connection.close(),
  };

  async function headersOf(message: PushMessage): Promise<Record<string, string>> {
    const { deliveryId, content, collapseId, ttl, urgency } = message;
    // Apple refuses background pushes of high priority.
    const isSilent = 'clears' in content;
    return {
      authorization: `bearer ${await providerToken()}`,
      'content-type': 'application/json',
      'apns-id': deliveryId,
      'apns-topic': topic,
      'apns-push-type': isSilent ? 'background' : 'alert',
      'apns-priority': urgency === 'high' && !isSilent ? '10' : '5',
      'apns-expiration': String(Math.floor(Date.now() / 1000) + ttl),
      ...(!isSilent && { 'apns-collapse-id': collapseId }),
    };
  }
}

function bodyOf({ content }: PushMessage): string {
  if ('clears' in content) return JSON.stringify({ aps: { 'content-available': 1 }, clears: content.clears });
  const { id, notification_type, notification_key, title, body, sequence } = content;
  const alert = { ...(title !== null && { title }), body };
  return JSON.stringify({ aps: { alert, sound: 'default' }, id, notification_type, notification_key, sequence });
}

function outcomeOf(answer: ApnsResponse): PushOutcome {
  const { status, headers } = answer;
  if (status === 200) return { outcome: 'sent' };
  const code = reasonOf(answer);
  const reason = ['apns answered', status, code].filter(Boolean).join(' ');
  if (status === 410 || (status === 400 && code !== undefined && invalidToken.includes(code))) {
    const { timestamp } = parseJsonObject(answer.body) ?? {};
    return { outcome: 'gone', reason, ...(typeof timestamp === 'number' && { since: timestamp }) };
  }
  // 403: APNs refused the provider token or its key. An operator can correct that before the push expires.
  if (isTransientStatus(status) || status === 403) {
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  return { outcome: 'failed', reason };
}

function reasonOf({ body }: ApnsResponse): string | undefined {
  return plainWord(parseJsonObject(body)?.reason);
}
