import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import { patient, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { arrivals, createPushSteps } from '../../../support/push.js';
import { type ApnsFake, startApns } from '../../../support/push-fakes/apns.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { startWebPushService, type WebPushFake } from '../../../support/push-fakes/web-push.js';
import { testSql } from '../../../support/sql.js';
import { createUser, messageOf, newPhone as newNumber, smsLogin } from '../../../support/users.js';

let web: WebPushFake;
let fcm: FcmFake;
let apns: ApnsFake;
let app: TestApp;

beforeAll(async () => {
  [web, fcm, apns] = await Promise.all([startWebPushService(), startFcm(), startApns()]);
  // These tests push only published notifications.
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none' };
  app = await startTestApp({ ...web.env, ...fcm.env, ...apns.env, ...env }, patient);
});
afterAll(async () => {
  await app.close();
  await Promise.all([web.close(), fcm.close(), apns.close()]);
});
beforeEach(() => {
  web.behave({ status: 201 });
  fcm.behave({ status: 200, body: {} });
  apns.behave({ status: 200 });
});

const { newPhone, publish, trace, pushInState, untilRetried, makeJobsDue, secondsToNextAttempt } = createPushSteps(
  () => app,
);

describe('a push service that refuses a push', () => {
  test.each([429, 503])('gets the next attempt after its Retry-After when it answers %i', async (status) => {
    const phone = await newPhone('android');
    fcm.behave({ status, headers: { 'retry-after': '300' } }, phone.token);
    const { id } = await publish(phone.user);
    await untilRetried(id, 1);
    const wait = await secondsToNextAttempt();
    expect(wait).toBeGreaterThan(280);
    expect(wait).toBeLessThanOrEqual(300);
    fcm.behave({ status: 200, body: {} }, phone.token);
    await makeJobsDue();
    expect(await pushInState(id, 'sent')).toMatchObject({ attempts: 2, error: null });
  });

  test('does not get an expired push', async () => {
    const phone = await newPhone('android');
    fcm.behave({ status: 500 }, phone.token);
    const { id } = await publish(phone.user);
    await untilRetried(id, 1);
    await app.database.query(
      testSql("update push_deliveries set created_at = created_at - interval '1 day' where notification_id = $1", [id]),
    );
    await makeJobsDue();
    expect(await pushInState(id, 'expired')).toMatchObject({ reason: 'ttl', error: 'fcm answered 500' });
    expect(arrivals(fcm, phone.token)).toHaveLength(1);
  });

  test('permanently gets no further attempt', async () => {
    const phone = await newPhone('ios');
    apns.behave({ status: 413, body: { reason: 'PayloadTooLarge' } }, phone.token);
    const { id } = await publish(phone.user);
    expect(await pushInState(id, 'failed')).toMatchObject({
      reason: 'refused',
      error: 'apns answered 413 PayloadTooLarge',
    });
  });

  test('because the access token was revoked gets a new access token', async () => {
    const phone = await newPhone('android');
    fcm.revokeAccess();
    const { id } = await publish(phone.user);
    expect(await untilRetried(id, 1)).toMatchObject({ error: 'fcm answered 401 UNAUTHENTICATED' });
    await makeJobsDue();
    await pushInState(id, 'sent');
  });

  test('because it closes the connection gets the push on another one', async () => {
    const phone = await newPhone('ios');
    await pushInState((await publish(phone.user)).id, 'sent');
    const connections = apns.connections();
    apns.goAway();
    const { id } = await publish(phone.user);
    await eventually('the push to arrive', async () => {
      await makeJobsDue();
      return (await trace(id)).push.find(({ state }) => state === 'sent');
    });
    expect(apns.connections()).toBe(connections + 1);
  });

  test('by hanging delays neither the other services nor codes by SMS', async () => {
    // One user has four pushes at a time.
    const hanging = await Promise.all(Array.from({ length: 5 }, () => newPhone('android')));
    let release = () => {};
    const when = new Promise<void>((resolve) => {
      release = resolve;
    });
    onTestFinished(() => release());
    fcm.behave({ status: 200, body: {}, when });
    await Promise.all(hanging.flatMap(({ user }) => Array.from({ length: 8 }, () => publish(user))));
    const arrived = () => hanging.flatMap(({ token }) => arrivals(fcm, token));
    await eventually('sixteen pushes to hang', async () => arrived()[15]);
    const phone = await newPhone('ios');
    const { id } = await publish(phone.user);
    await pushInState(id, 'sent');
    const { phone: number } = await createUser(app, { phone: newNumber() });
    const { body } = await app.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(number) });
    await messageOf(app, body.id);
    // The maximum number that one instance sends at once on one channel. All of them hang until now.
    expect(arrived()).toHaveLength(16);
  });
});

test('a leftover job of an attempt that was already counted sends nothing', async () => {
  const phone = await newPhone('ios');
  const { id } = await publish(phone.user);
  await pushInState(id, 'sent');
  await app.database.query(
    testSql(
      `select graphile_worker.add_job('push.send.apns', json_build_object('user_id', user_id, 'id', id, 'attempt', 0))
       from push_deliveries where notification_id = $1`,
      [id],
    ),
  );
  await eventually('the job to be done', async () => {
    const rows = await app.database.query(
      testSql("select id from graphile_worker._private_jobs where payload->>'user_id' = $1", [phone.user.id]),
    );
    return rows.length === 0 ? true : undefined;
  });
  expect(arrivals(apns, phone.token)).toHaveLength(1);
});
