import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConsoleSms } from '../../../src/delivery/console-messages.js';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { createWebhookSms } from '../../../src/delivery/sms/webhook.js';
import type { SmsMessage } from '../../../src/messages/sms-sender.js';
import { type ReceivedRequest, startHttp, startTcp } from '../local-server.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

const message: SmsMessage = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  kind: 'sms.code',
  to: '+15551234567',
  text: 'Your code is 482913. Grüße',
  code: '482913',
  authenticationId: '0b9d5d9c-8f3e-4a53-9b57-0a4f0d2f6f11',
  expiresAt: '2017-10-19T17:02:03.181879Z',
};

function sender(
  url: string,
  options: { totalTimeoutMs?: number; allowPrivateNetworkTargets?: boolean; now?: () => Date } = {},
) {
  const { now, ...rest } = options;
  const outbound = createOutbound({ allowPrivateNetworkTargets: true, ...rest });
  onTestFinished(() => outbound.close());
  return createWebhookSms({ url, secret, outbound, ...(now && { now }) });
}

function verified({ body, headers }: ReceivedRequest, key = secret) {
  return new Webhook(key).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
}

/** Returns a failure as a log would show it. */
async function failureOf(sending: Promise<unknown>): Promise<string> {
  const error = await sending.then(
    () => expect.unreachable('the message was sent'),
    (reason: Error) => reason,
  );
  return `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
}

describe('the SMS webhook', () => {
  it('posts the message as JSON with a signature that the Standard Webhooks library verifies', async () => {
    const server = await startHttp((_request, response) => response.end('{}'));
    await sender(`${server.url}/sms?tenant=1`).send(message);
    const [request] = server.received;
    if (request === undefined) return expect.unreachable('nothing arrived');
    expect(request).toMatchObject({
      method: 'POST',
      url: '/sms?tenant=1',
      headers: { 'content-type': 'application/json', 'webhook-id': message.id },
    });
    expect(verified(request)).toEqual({
      type: 'sms.code',
      id: message.id,
      to: message.to,
      text: message.text,
      code: message.code,
      authentication_id: message.authenticationId,
      expires_at: message.expiresAt,
    });
    expect(() => verified({ ...request, body: request.body.replace('482913', '482914') })).toThrow();
    expect(() => verified(request, `whsec_${Buffer.from('another secret').toString('base64')}`)).toThrow();
  });

  it('names the notification of a step, which has no code', async () => {
    const server = await startHttp((_request, response) => response.end());
    const notificationId = 'c5a7e1f4-9a0b-4c58-8a2e-2f1f6d0c9b77';
    const step = { ...message, kind: 'sms.notification', code: null, authenticationId: null, notificationId };
    await sender(server.url).send(step);
    const [request] = server.received;
    if (request === undefined) return expect.unreachable('nothing arrived');
    expect(verified(request)).toMatchObject({ type: 'sms.notification', code: null, notification_id: notificationId });
  });

  it('keeps the id and updates the timestamp in a retry', async () => {
    const server = await startHttp((_request, response) => response.end());
    const times = [new Date('2026-01-02T03:04:05.999Z'), new Date('2026-01-02T03:04:35.000Z')];
    const sms = sender(server.url, { now: () => times.shift() ?? expect.unreachable('asked for a third time') });
    await sms.send(message);
    await sms.send(message);
    expect(server.received.map(({ headers }) => [headers['webhook-id'], headers['webhook-timestamp']])).toEqual([
      [message.id, '1767323045'],
      [message.id, '1767323075'],
    ]);
  });

  it.each([200, 201, 202, 204])('treats %i as success', async (status) => {
    const server = await startHttp((_request, response) => response.writeHead(status).end());
    await expect(sender(server.url).send(message)).resolves.toEqual({ provider: 'webhook', reference: null });
  });

  it.each([301, 302, 307, 308, 304, 400, 401, 404, 410, 429, 500, 503])(
    'treats %i as failure, follows no redirect, and keeps code, text, secret and response out of the error',
    async (status) => {
      const server = await startHttp((request, response) => {
        response.writeHead(status, { location: '/elsewhere' });
        response.end(status === 304 ? '' : `echo ${request.headers['webhook-signature']} 482913 ${secret}`);
      });
      const failure = await failureOf(sender(`${server.url}/secret-path`).send(message));
      expect(failure).toContain(`the SMS webhook answered ${status}`);
      for (const forbidden of ['482913', '+15551234567', 'Grüße', secret, 'echo', 'v1,', 'secret-path']) {
        expect(failure).not.toContain(forbidden);
      }
      expect(server.received).toHaveLength(1);
    },
  );

  it.each([
    ['is invalid', 'text/html', Buffer.from([0, 255, 254, 10, 13, 0])],
    ['is broken JSON', 'application/json', Buffer.from('{"a":')],
    ['claims to be compressed', 'application/json', Buffer.from('not gzip')],
    ['is far too large', 'text/plain', Buffer.alloc(1_000_000, 'x')],
  ])('treats a 2xx as success although its body %s', async (_what, type, body) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(body);
    });
    await expect(sender(server.url).send(message)).resolves.toEqual({ provider: 'webhook', reference: null });
  });

  it('treats a 2xx as success although its body never ends', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200).write('.');
    });
    await expect(sender(server.url, { totalTimeoutMs: 4000 }).send(message)).resolves.toEqual({
      provider: 'webhook',
      reference: null,
    });
  });

  it('treats an error status as failure although its body never ends', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(500).write('482913');
    });
    const failure = await failureOf(sender(server.url, { totalTimeoutMs: 4000 }).send(message));
    expect(failure).toContain('the SMS webhook answered 500');
  });

  it('fails if the provider hangs, disconnects or sends invalid data, and the error holds nothing of the message', async () => {
    const hangs = await startHttp(() => {});
    const failures = [await failureOf(sender(`${hangs.url}/secret-path`, { totalTimeoutMs: 100 }).send(message))];
    for (const bytes of ['', 'HTTP/1.1 2', 'SSH-2.0-OpenSSH_9.2\r\n']) {
      const broken = await startTcp((socket) => socket.resume().end(bytes));
      failures.push(await failureOf(sender(`http://127.0.0.1:${broken.port}/secret-path`).send(message)));
    }
    expect(failures).toHaveLength(4);
    for (const failure of failures) {
      expect(failure).toMatch(/OutboundError: 127\.0\.0\.1 (did not answer in time|cannot be reached)/);
      expect(failure).not.toMatch(/482913|15551234567|Grüße|whsec_|secret-path/);
    }
  });

  it('uses the guarded HTTP client', async () => {
    const server = await startHttp((_request, response) => response.end());
    const sms = sender(`https://127.0.0.1:${server.port}`, { allowPrivateNetworkTargets: false });
    await expect(sms.send(message)).rejects.toMatchObject({ code: 'blocked_target' });
    expect(server.received).toEqual([]);
  });

  it.each(['', 'whsec_', 'whsec_***', 'c2VjcmV0'])(
    'cannot be created with the secret %j, and the error does not hold it',
    (wrong) => {
      const outbound = createOutbound({ allowPrivateNetworkTargets: true });
      onTestFinished(() => outbound.close());
      const make = () => createWebhookSms({ url: 'http://127.0.0.1:1', secret: wrong, outbound });
      expect(make).toThrow(/^a webhook secret is whsec_ followed by base64$/);
    },
  );
});

describe('the SMS console', () => {
  it('writes one line with phone number, code and authentication', async () => {
    const lines: string[] = [];
    await createConsoleSms(
      (line) => lines.push(line),
      () => undefined,
    ).send(message);
    expect(lines).toEqual(['SMS to +15551234567: code 482913 for authentication 0b9d5d9c-8f3e-4a53-9b57-0a4f0d2f6f11']);
  });
});
