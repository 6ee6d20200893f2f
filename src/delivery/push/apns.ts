import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { PushMessage, PushOutcome, PushSender } from '../../notifications/push/sender.js';
import type { Guard } from '../outbound.js';
import { isPassing, outcomeOfFailure, plainWord, retryAfterSeconds } from './answers.js';
import { type ApnsAnswer, type ApnsTimeouts, createApnsConnection } from './apns-connection.js';

export interface ApnsOptions {
  /** An EC key on P-256. */
  readonly key: KeyObject;
  readonly keyId: string;
  readonly teamId: string;
  /** The app's bundle id. */
  readonly topic: string;
  readonly url: string;
  readonly guard: Guard;
  readonly timeouts?: Partial<ApnsTimeouts>;
}

/** Apple wants provider tokens younger than an hour, and refuses new ones more often than every 20 minutes. */
const tokenLifetime = 50 * 60_000;

/** Says that the device token is no more; the others of a 400 are faults of ours. */
const deadToken = ['BadDeviceToken', 'Unregistered', 'ExpiredToken'];

/** Apple Push Notification service, over one HTTP/2 connection that is kept. */
export function createApns({ key, keyId, teamId, topic, url, guard, timeouts }: ApnsOptions): PushSender {
  const connection = createApnsConnection({ url, guard, timeouts });
  let provider: { readonly token: Promise<string>; readonly since: number } | undefined;

  function providerToken(): Promise<string> {
    if (provider === undefined || performance.now() - provider.since > tokenLifetime) {
      const token = new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: keyId })
        .setIssuer(teamId)
        .setIssuedAt()
        .sign(key);
      provider = { token, since: performance.now() };
    }
    return provider.token;
  }

  return {
    channel: 'apns',
    async send(token, message) {
      // It ends in the path. A login may have given anything.
      if (!/^[0-9A-Fa-f]+$/.test(token)) return { outcome: 'gone', reason: 'not a device token' };
      try {
        const answer = await connection.post(`/3/device/${token}`, await headersOf(message), bodyOf(message));
        const outcome = outcomeOf(answer);
        if (answer.status === 403 && reasonOf(answer) === 'ExpiredProviderToken') provider = undefined;
        return outcome;
      } catch (error) {
        return outcomeOfFailure(error);
      }
    },
    close: () => connection.close(),
  };

  async function headersOf({ deliveryId, content, ttl, urgency }: PushMessage): Promise<Record<string, string>> {
    return {
      authorization: `bearer ${await providerToken()}`,
      'content-type': 'application/json',
      'apns-id': deliveryId,
      'apns-topic': topic,
      'apns-push-type': 'alert',
      'apns-priority': urgency === 'high' ? '10' : '5',
      'apns-expiration': String(Math.floor(Date.now() / 1000) + ttl),
      'apns-collapse-id': content.id,
    };
  }
}

function bodyOf({ content }: PushMessage): string {
  const { id, notification_type, notification_key, title, body, sequence } = content;
  const alert = { ...(title !== null && { title }), body };
  return JSON.stringify({ aps: { alert, sound: 'default' }, id, notification_type, notification_key, sequence });
}

function outcomeOf(answer: ApnsAnswer): PushOutcome {
  const { status, headers } = answer;
  if (status === 200) return { outcome: 'sent' };
  const code = reasonOf(answer);
  const reason = ['apns answered', status, code].filter(Boolean).join(' ');
  if ((status === 410 || status === 400) && code !== undefined && deadToken.includes(code)) {
    return { outcome: 'gone', reason };
  }
  // 403: the provider token or its key is refused, which an operator can mend while the push is still fresh.
  if (isPassing(status) || status === 403) {
    return { outcome: 'retry', reason, afterSeconds: retryAfterSeconds(headers['retry-after']) };
  }
  return { outcome: 'failed', reason };
}

function reasonOf({ body }: ApnsAnswer): string | undefined {
  try {
    return plainWord((JSON.parse(body) as { reason?: unknown } | null)?.reason);
  } catch {
    return undefined;
  }
}
