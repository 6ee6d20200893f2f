import type { AttemptResult } from '../webhooks/schedule.js';
import type { WebhookSender } from '../webhooks/sender.js';
import type { Outbound, OutboundResponse } from './outbound.js';
import { OutboundError } from './outbound-guard.js';
import { retryAfterSeconds } from './retry-after.js';
import { createWebhookSigner } from './webhook-signature.js';

/** The maximum number of bytes of an answer that are stored. */
const maxAnswerBytes = 1024;

/** Sends events with the headers of Standard Webhooks, through the guarded HTTP client. */
export function createWebhookSender(outbound: Pick<Outbound, 'request'>): WebhookSender {
  return {
    async send({ url, id, body, secrets, key }) {
      const timestamp = new Date();
      const signed = secrets.map((secret) => createWebhookSigner(secret)({ id, timestamp, payload: body }));
      const seconds = String(Math.floor(timestamp.getTime() / 1000));
      const signatures = signed.map((headers) => headers['webhook-signature']);
      if (key !== undefined) signatures.push(`v1a,${key.sign(`${id}.${seconds}.${body}`)}`);
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Postern',
        'webhook-id': id,
        'webhook-timestamp': seconds,
        'webhook-signature': signatures.join(' '),
      };
      const startedAt = performance.now();
      const durationMs = () => Math.round(performance.now() - startedAt);
      try {
        const response = await outbound.request({ url, method: 'POST', headers, body });
        return { ...resultOf(response), durationMs: durationMs() };
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        return { ...failureOf(error), durationMs: durationMs() };
      }
    },
  };
}

function resultOf({ status, headers, body }: OutboundResponse): Omit<AttemptResult, 'durationMs'> {
  const ok = isSuccess(status);
  return {
    ok,
    status,
    // PostgreSQL stores no NUL.
    answer: body.subarray(0, maxAnswerBytes).toString('utf8').replaceAll('\0', ''),
    error: ok ? undefined : `the endpoint answered with the status ${status}`,
    retryAfter: ok ? undefined : retryAfterSeconds(headers['retry-after']),
  };
}

/** If only the body of an answer is too large, its status decides. */
function failureOf({ code, message, status }: OutboundError): Omit<AttemptResult, 'durationMs'> {
  const ok = code === 'too_large' && status !== undefined && isSuccess(status);
  return { ok, status, answer: undefined, error: ok ? undefined : message, retryAfter: undefined };
}

const isSuccess = (status: number) => status >= 200 && status < 300;
