import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../../src/delivery/outbound.js';
import { createFcm } from '../../../src/delivery/push/fcm.js';
import { readServiceAccount } from '../../../src/lib/push-keys.js';
import { type FcmFake, fcmUnregistered, startFcm } from '../../support/push-fakes/fcm.js';
import { startHttp } from '../local-server.js';
import { pushMessage } from '../push-message.js';

let fcm: FcmFake;
beforeAll(async () => {
  fcm = await startFcm();
});
afterAll(() => fcm.close());
beforeEach(() => fcm.behave({ status: 200, body: {} }));

function sender(change: { tokenUri?: string; url?: string } = {}, options: Partial<OutboundOptions> = {}) {
  const account = readServiceAccount(fcm.env.FCM_SERVICE_ACCOUNT ?? '');
  if (account === undefined) throw new Error('the fake has no account');
  const outbound = createOutbound({ allowPrivateNetworkTargets: true, ...options });
  onTestFinished(() => outbound.close());
  const { tokenUri = account.tokenUri, url = fcm.env.FCM_URL ?? '' } = change;
  return createFcm({ account: { ...account, tokenUri }, url, outbound });
}

const error = (status: string, details: object[] = []) => ({ error: { message: 'Some secret text', status, details } });
const invalidArgument = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'Invalid registration token' }],
});

describe('FCM', () => {
  it.each([
    [200, undefined, { outcome: 'sent' }],
    [404, fcmUnregistered, { outcome: 'gone', reason: 'fcm answered 404 UNREGISTERED' }],
    [400, [invalidArgument('message.token')], { outcome: 'gone', reason: 'fcm answered 400 INVALID_ARGUMENT' }],
    [400, [invalidArgument('message.android')], { outcome: 'failed', reason: 'fcm answered 400 INVALID_ARGUMENT' }],
    [400, [], { outcome: 'failed', reason: 'fcm answered 400 INVALID_ARGUMENT' }],
    [403, [{ errorCode: 'SENDER_ID_MISMATCH' }], { outcome: 'failed', reason: 'fcm answered 403 SENDER_ID_MISMATCH' }],
    [403, [], { outcome: 'retry', reason: 'fcm answered 403 INVALID_ARGUMENT' }],
    [429, [{ errorCode: 'QUOTA_EXCEEDED' }], { outcome: 'retry', reason: 'fcm answered 429 QUOTA_EXCEEDED' }],
    [500, [], { outcome: 'retry', reason: 'fcm answered 500 INVALID_ARGUMENT' }],
  ])('maps %i with %o to its outcome', async (status, details, expected) => {
    const body = Array.isArray(details) ? error('INVALID_ARGUMENT', details) : {};
    fcm.behave(details === fcmUnregistered ? fcmUnregistered : { status, body });
    expect(await sender().send(randomUUID(), pushMessage())).toEqual(expected);
    expect(fcm.violations).toEqual([]);
  });

  it('requests one access token for parallel pushes', async () => {
    const before = fcm.granted();
    const fresh = sender();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => fresh.send(randomUUID(), pushMessage())));
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['sent']));
    expect(fcm.granted()).toBe(before + 1);
  });

  it('retries without an access token, and reports why', async () => {
    const google = await startHttp((_request, response) => {
      response.writeHead(400, { 'retry-after': '30' }).end(JSON.stringify({ error: 'invalid_grant' }));
    });
    const outcome = await sender({ tokenUri: `${google.url}/token` }).send('a-token', pushMessage());
    expect(outcome).toEqual({
      outcome: 'retry',
      reason: 'no access token: answered 400 invalid_grant',
      afterSeconds: 30,
    });
  });

  it('does not remove the token because of the 404 page of a wrong URL', async () => {
    const wrong = await startHttp((_request, response) => void response.writeHead(404).end('<html>'));
    const outcome = await sender({ url: wrong.url }).send('a-token', pushMessage());
    expect(outcome).toEqual({ outcome: 'retry', reason: 'fcm answered 404' });
  });

  it('uses the guarded HTTP client', async () => {
    const outcome = await sender({}, { allowPrivateNetworkTargets: false }).send('a-token', pushMessage());
    expect(outcome).toMatchObject({ outcome: 'failed' });
  });
});
