import { createPrivateKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createGuard } from '../../../src/delivery/outbound-guard.js';
import { type ApnsOptions, createApns } from '../../../src/delivery/push/apns.js';
import { eventually } from '../../support/eventually.js';
import { type ApnsFake, startApns } from '../../support/push-fakes/apns.js';
import { startTcp } from '../local-server.js';
import { pushMessage } from '../push-message.js';

let apns: ApnsFake;
beforeAll(async () => {
  apns = await startApns();
});
afterAll(() => apns.close());
beforeEach(() => apns.behave({ status: 200 }));

const open = createGuard({ allowPrivateNetworkTargets: true });

function sender(change: Partial<ApnsOptions> = {}) {
  const created = createApns({
    key: createPrivateKey(apns.env.APNS_KEY ?? ''),
    keyId: 'ABCDE12345',
    teamId: 'TEAM123456',
    topic: 'com.example.app',
    url: apns.env.APNS_URL ?? '',
    guard: open,
    ...change,
  });
  onTestFinished(() => created.close());
  return created;
}

/** A frame of stream 1 (RFC 9113, 4.1). */
function frame(type: number, flags: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, 1]), payload]);
}

/** Whether frames after the client's preface of 24 bytes start a request. */
function hasHead(received: Buffer): boolean {
  for (let at = 24; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
    if (received[at + 3] === 1) return true;
  }
  return false;
}

/** A server that answers the first request with these frames and then calls `end`. */
async function startFrames(bytes: Buffer, end: (socket: Socket) => void) {
  let answers = 0;
  const { port } = await startTcp((socket) => {
    let received = Buffer.alloc(0);
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (answers > 0 || !hasHead(received)) return;
      answers += 1;
      socket.write(bytes, () => end(socket));
    });
  });
  return { url: `http://127.0.0.1:${port}`, answered: () => answers };
}

const token = () => randomBytes(32).toString('hex');

describe('APNs', () => {
  it.each([
    [200, undefined, { outcome: 'sent' }],
    [400, 'BadDeviceToken', { outcome: 'gone', reason: 'apns answered 400 BadDeviceToken' }],
    [410, 'Unregistered', { outcome: 'gone', reason: 'apns answered 410 Unregistered' }],
    [410, 'ExpiredToken', { outcome: 'gone', reason: 'apns answered 410 ExpiredToken' }],
    [400, 'DeviceTokenNotForTopic', { outcome: 'failed', reason: 'apns answered 400 DeviceTokenNotForTopic' }],
    [413, 'PayloadTooLarge', { outcome: 'failed', reason: 'apns answered 413 PayloadTooLarge' }],
    [403, 'InvalidProviderToken', { outcome: 'retry', reason: 'apns answered 403 InvalidProviderToken' }],
    [429, 'TooManyRequests', { outcome: 'retry', reason: 'apns answered 429 TooManyRequests', afterSeconds: 9 }],
    [503, '<b>no word</b>', { outcome: 'retry', reason: 'apns answered 503', afterSeconds: 9 }],
  ])('maps %i %s to its outcome', async (status, reason, expected) => {
    const headers = status === 429 || status === 503 ? { 'retry-after': '9' } : {};
    apns.behave({ status, headers, ...(reason !== undefined && { body: { reason } }) });
    expect(await sender().send(token(), pushMessage())).toEqual(expected);
    expect(apns.violations).toEqual([]);
  });

  it('says since when a token is not valid, and takes a 410 without a readable reason as such', async () => {
    apns.behave({ status: 410, body: { reason: 'Unregistered', timestamp: 1_700_000_000_123 } });
    expect(await sender().send(token(), pushMessage())).toEqual({
      ...{ outcome: 'gone', reason: 'apns answered 410 Unregistered', since: 1_700_000_000_123 },
    });
    apns.behave({ status: 410 });
    expect(await sender().send(token(), pushMessage())).toEqual({ outcome: 'gone', reason: 'apns answered 410' });
  });

  it('uses one connection for parallel pushes, and a new one when it breaks', async () => {
    const before = apns.connections();
    const sharedSender = sender();
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => sharedSender.send(token(), pushMessage())));
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['sent']));
    expect(apns.connections()).toBe(before + 1);
    const [first, last] = [apns.received[0]?.headers.authorization, apns.received.at(-1)?.headers.authorization];
    expect(first === undefined || last === undefined).toBe(false);

    apns.behave('hang');
    const hanging = sharedSender.send(token(), pushMessage());
    await eventually('the pushes to start', async () => (apns.received.length > 30 ? true : undefined));
    apns.breakOff();
    expect(await hanging).toMatchObject({ outcome: 'retry' });
    apns.behave({ status: 200 });
    expect(await sharedSender.send(token(), pushMessage())).toEqual({ outcome: 'sent' });
    expect(apns.connections()).toBe(before + 2);
  });

  it('reuses a provider token, and signs a new one when APNs reports it as expired', async () => {
    const sharedSender = sender();
    const phone = token();
    const authorization = () => apns.received.findLast(({ to }) => to === phone)?.headers.authorization;
    await sharedSender.send(phone, pushMessage());
    const first = authorization();
    await sharedSender.send(phone, pushMessage());
    expect(authorization()).toBe(first);
    apns.behave({ status: 403, body: { reason: 'ExpiredProviderToken' } });
    expect(await sharedSender.send(phone, pushMessage())).toMatchObject({ outcome: 'retry' });
    apns.behave({ status: 200 });
    await sharedSender.send(phone, pushMessage());
    // ECDSA signatures differ each time, even for the same claims.
    expect(authorization()).not.toBe(first);
  });

  it('times out if the service hangs, and keeps the connection', async () => {
    const sharedSender = sender({ timeouts: { total: 4000 } });
    apns.behave('hang');
    expect(await sharedSender.send(token(), pushMessage())).toEqual({
      outcome: 'retry',
      reason: '127.0.0.1 did not answer in time',
      isUnanswered: true,
    });
    apns.behave({ status: 200 });
    const connections = apns.connections();
    expect(await sharedSender.send(token(), pushMessage())).toEqual({ outcome: 'sent' });
    expect(apns.connections()).toBe(connections);
  });

  const incompleteResponses: [string, Buffer | undefined, (socket: Socket) => void][] = [
    ['is reset', frame(3, 0, Buffer.from([0, 0, 0, constants.NGHTTP2_INTERNAL_ERROR])), () => undefined],
    ['is cancelled', frame(3, 0, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])), () => undefined],
    ['ends with the connection', undefined, (socket) => socket.end()],
    ['ends with a reset of the connection', undefined, (socket) => socket.resetAndDestroy()],
  ];
  it.each(incompleteResponses)(
    'does not treat a response as complete that %s',
    async (_how, last = Buffer.alloc(0), end) => {
      const unregistered = [
        frame(1, 4, Buffer.from('\b\u0003410')),
        frame(0, 0, Buffer.from('{"reason":"Unregistered"}')),
      ];
      const { url, answered } = await startFrames(Buffer.concat([...unregistered, last]), end);
      const outcome = await sender({ url }).send(token(), pushMessage());
      expect(answered()).toBe(1);
      expect(outcome).toMatchObject({ outcome: 'retry', reason: expect.stringContaining('cannot be reached') });
    },
  );

  it('treats a response as complete that marks its end', async () => {
    const last = frame(0, 1, Buffer.from('{"reason":"Unregistered"}'));
    const { url } = await startFrames(Buffer.concat([frame(1, 4, Buffer.from('\b\u0003410')), last]), () => undefined);
    expect(await sender({ url }).send(token(), pushMessage())).toMatchObject({ outcome: 'gone' });
  });

  it('times out if the host accepts connections and sends nothing', async () => {
    const { port } = await startTcp(() => undefined);
    const silent = sender({ url: `https://127.0.0.1:${port}`, timeouts: { connect: 100 } });
    expect(await silent.send(token(), pushMessage())).toMatchObject({ outcome: 'retry' });
  });

  it('closes a connection that does not answer a ping', async () => {
    let closed = 0;
    // Sends only its HTTP/2 settings, which is enough for a connection.
    const { port } = await startTcp((socket) => {
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      socket.resume();
      socket.on('close', () => {
        closed += 1;
      });
    });
    const sharedSender = sender({ url: `http://127.0.0.1:${port}`, timeouts: { ping: 50, pong: 50 } });
    expect(await sharedSender.send(token(), pushMessage())).toMatchObject({ outcome: 'retry' });
    await eventually('the connection to be closed', async () => (closed > 0 ? true : undefined));
  });

  it('refuses an untrusted certificate', async () => {
    const pem = readFileSync(new URL('../self-signed.pem', import.meta.url));
    const server = createSecureServer({ key: pem, cert: pem });
    server.on('sessionError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const outcome = await sender({ url: `https://127.0.0.1:${port}` }).send(token(), pushMessage());
    expect(outcome).toMatchObject({ outcome: 'retry', reason: expect.stringMatching(/CERT|SIGNED/) });
  });

  it('connects only to the checked address, and never to a private one', async () => {
    const names: string[] = [];
    const resolve = async (name: string) => {
      names.push(name);
      return ['127.0.0.1'];
    };
    const { port } = new URL(apns.env.APNS_URL ?? '');
    const url = `http://apns.test:${port}`;
    const named = sender({ url, guard: createGuard({ allowPrivateNetworkTargets: true, resolve }) });
    expect(await named.send(token(), pushMessage())).toEqual({ outcome: 'sent' });
    expect(names).toEqual(['apns.test']);

    const closed = createGuard({ allowPrivateNetworkTargets: false, resolve });
    const rebound = sender({ url: 'https://apns.test:8443', guard: closed });
    expect(await rebound.send(token(), pushMessage())).toMatchObject({
      outcome: 'failed',
      reason: 'apns.test has an address that is not public',
    });
    const literal = sender({ url: 'https://127.0.0.1:8443', guard: closed });
    expect(await literal.send(token(), pushMessage())).toMatchObject({ outcome: 'failed' });
  });

  it('never puts an invalid device token into a path', async () => {
    expect(await sender().send('../../4/broadcast', pushMessage())).toEqual({
      outcome: 'gone',
      reason: 'not a device token',
    });
  });
});
