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
    [
      400,
      [invalidArgument('message.token'), invalidArgument('message.android')],
      { outcome: 'failed', reason: 'fcm answered 400 INVALID_ARGUMENT' },
    ],
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

  // The texts are those of FCM.
  const withCode = (errorCode: string) => [
    { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode },
  ];
  it.each([
    ['an unknown token', 404, { status: 'NOT_FOUND', message: 'Requested entity was not found.' }, 'gone'],
    ['an unknown token, as the status', 404, { status: 'UNREGISTERED' }, 'gone'],
    [
      'an unknown token, with another status',
      400,
      { status: 'INVALID_ARGUMENT', details: withCode('UNREGISTERED') },
      'gone',
    ],
    [
      'no token',
      400,
      {
        status: 'INVALID_ARGUMENT',
        message: 'The registration token is not a valid FCM registration token',
        details: withCode('INVALID_ARGUMENT'),
      },
      'gone',
    ],
    ['an unknown project', 404, { status: 'NOT_FOUND', details: [{ reason: 'CONSUMER_INVALID' }] }, 'retry'],
    ['another 404', 404, { status: 'UNIMPLEMENTED' }, 'retry'],
    [
      'a message that is too big',
      400,
      { status: 'INVALID_ARGUMENT', message: 'Android message is too big', details: withCode('INVALID_ARGUMENT') },
      'failed',
    ],
    [
      'a wrong member beside the token’s name',
      400,
      {
        status: 'INVALID_ARGUMENT',
        message: 'The registration token is not a valid FCM registration token',
        details: [invalidArgument('message.data[0].value')],
      },
      'failed',
    ],
    [
      'the token of another project',
      403,
      { status: 'PERMISSION_DENIED', details: withCode('SENDER_ID_MISMATCH') },
      'failed',
    ],
    [
      'wrong credentials of APNs',
      401,
      { status: 'UNAUTHENTICATED', details: withCode('THIRD_PARTY_AUTH_ERROR') },
      'retry',
    ],
    ['an outage', 503, { status: 'UNAVAILABLE', details: withCode('UNAVAILABLE') }, 'retry'],
    ['an unknown error', 400, { details: withCode('UNSPECIFIED_ERROR') }, 'failed'],
    ['an answer of another form', 400, 'error', 'failed'],
  ])('understands an answer about %s', async (_what, status, answered, outcome) => {
    fcm.behave({ status, body: { error: answered } });
    expect(await sender().send(randomUUID(), pushMessage())).toMatchObject({ outcome });
  });

  it('keeps its access token when the credentials of APNs are wrong', async () => {
    const before = fcm.granted();
    const kept = sender();
    fcm.behave({ status: 401, body: { error: { details: withCode('THIRD_PARTY_AUTH_ERROR') } } });
    for (let push = 0; push < 3; push += 1) await kept.send(randomUUID(), pushMessage());
    expect(fcm.granted()).toBe(before + 1);
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
