import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { arrivals, createPushSteps, hexToken, type Phone } from '../../../support/push.js';
import { type ApnsFake, startApns } from '../../../support/push-fakes/apns.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { startWebPushService, type WebPushFake } from '../../../support/push-fakes/web-push.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let web: WebPushFake;
let fcm: FcmFake;
let apns: ApnsFake;
let app: TestApp;

beforeAll(async () => {
  [web, fcm, apns] = await Promise.all([startWebPushService(), startFcm(), startApns()]);
  // These tests push only published notifications.
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none' };
  app = await startTestApp({ ...web.env, ...fcm.env, ...apns.env, ...env });
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

const { register, newPhone, publish, trace, pushInState, untilRetried, makeJobsDue } = createPushSteps(() => app);

describe('a published notification is pushed', () => {
  test('to a browser: encrypted for this browser, and signed with the VAPID key', async () => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    const { status, text } = await register(session.token, 'web', subscription);
    expect(status).toBe(201);
    expect(text).not.toContain(subscription.keys.auth);
    const notification = await publish(user, { actor: 'Ada', notification_key: 'received' });
    await pushInState(notification.id, 'sent');
    const [pushed, ...more] = arrivals(web, path) as (typeof web.received)[number][];
    expect(more).toEqual([]);
    expect(pushed?.content).toEqual({
      id: notification.id,
      notification_type: 'payment',
      notification_key: 'received',
      title: 'Ada',
      body: 'Ada paid you 12.50',
      sequence: notification.sequence,
    });
    expect(pushed?.headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' });
    expect(pushed?.headers.topic).toBe(Buffer.from(notification.id.replaceAll('-', ''), 'hex').toString('base64url'));
    expect(Number(pushed?.headers.ttl)).toBeGreaterThan(86_000);
    expect(web.violations).toEqual([]);
  });

  test('to an Android phone by FCM, with one access token for all pushes', async () => {
    const phone = await newPhone('android');
    const first = await publish(phone.user, { actor: 'Ada' });
    await pushInState(first.id, 'sent');
    const granted = fcm.granted();
    const second = await publish(phone.user);
    await pushInState(second.id, 'sent');
    expect(fcm.granted()).toBe(granted);
    const contents = arrivals(fcm, phone.token).map((pushed) => (pushed as (typeof fcm.received)[number]).content);
    expect(contents[0]).toMatchObject({
      notification: { title: 'Ada', body: 'Ada paid you 12.50' },
      data: { id: first.id, notification_type: 'payment', sequence: String(first.sequence) },
      android: { collapse_key: first.id, priority: 'HIGH', notification: { tag: first.id } },
    });
    expect(contents[1]?.notification).toEqual({ body: 'Ada paid you 12.50' });
    expect(fcm.violations).toEqual([]);
  });

  test('to an iPhone by APNs, over one persistent connection', async () => {
    const phone = await newPhone('ios');
    const first = await publish(phone.user, { actor: 'Ada' });
    await pushInState(first.id, 'sent');
    const connections = apns.connections();
    const second = await publish(phone.user);
    await pushInState(second.id, 'sent');
    expect(apns.connections()).toBe(connections);
    const [pushed] = arrivals(apns, phone.token) as (typeof apns.received)[number][];
    expect(pushed?.content).toMatchObject({
      aps: { alert: { title: 'Ada', body: 'Ada paid you 12.50' } },
      id: first.id,
      notification_type: 'payment',
    });
    expect(pushed?.headers).toMatchObject({ 'apns-collapse-id': first.id, 'apns-priority': '10' });
    expect(Number(pushed?.headers['apns-expiration'])).toBeGreaterThan(Date.now() / 1000);
    expect(apns.violations).toEqual([]);
  });

  test('to a phone whose token was sent with the login', async () => {
    const user = await createUser(app);
    const token = hexToken();
    await signIn(app, user, { apn_device_token: token });
    const { id } = await publish(user);
    await pushInState(id, 'sent');
    expect(arrivals(apns, token)).toHaveLength(1);
  });

  test('once to every device of every recipient, with any number of recipients', async () => {
    const users = await Promise.all(Array.from({ length: 3 }, () => createUser(app)));
    const phones = await Promise.all(users.flatMap((user) => [newPhone('ios', user), newPhone('ios', user)]));
    const { body } = await app.api<Notification[]>('POST', '/admin/v1/notifications', {
      bearer: app.adminKey,
      body: { user_ids: users.map(({ id }) => id), notification_type: 'pool', description: 'A new pool' },
    });
    for (const { id } of body) {
      await eventually(`both pushes of ${id}`, async () => {
        const { push } = await trace(id);
        return push.filter(({ state }) => state === 'sent').length === 2 ? push : undefined;
      });
    }
    expect(phones.map(({ token }) => arrivals(apns, token).length)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('once to a phone that registered with both Apple and Firebase', async () => {
    const user = await createUser(app);
    const [apnToken, gcmToken] = [hexToken(), hexToken()];
    await signIn(app, user, { apn_device_token: apnToken, gcm_device_token: gcmToken });
    const { id } = await publish(user);
    await pushInState(id, 'sent');
    expect([arrivals(apns, apnToken).length, arrivals(fcm, gcmToken).length]).toEqual([1, 0]);
  });

  test('with a text that is cut to the limit of the service, between characters', async () => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    await register(session.token, 'web', JSON.stringify(subscription));
    const { id } = await publish(user, { description: '🦉"\\'.repeat(1000), actor: 'x'.repeat(255) });
    await pushInState(id, 'sent');
    const [pushed] = arrivals(web, path) as (typeof web.received)[number][];
    const body = String(pushed?.content.body);
    expect(body).toMatch(/^(?:🦉"\\)+(?:🦉|🦉")?…$/u);
    expect(Buffer.byteLength(JSON.stringify(pushed?.content))).toBeGreaterThan(2980);
    expect(web.violations).toEqual([]);
  });
});

describe('a push is not sent', () => {
  /** A push that failed once and waits for its next attempt. */
  async function waitingPush(): Promise<{ phone: Phone; id: string }> {
    const phone = await newPhone('ios');
    apns.behave({ status: 503 }, phone.token);
    const { id } = await publish(phone.user);
    await untilRetried(id, 1);
    apns.behave({ status: 200 }, phone.token);
    return { phone, id };
  }

  test('to a device that has logged out: queued pushes are dropped, and no new ones are created', async () => {
    const { phone, id } = await waitingPush();
    const { status } = await app.api('DELETE', `/v1/tokens/${phone.authenticationId}`, { bearer: phone.session });
    expect(status).toBe(200);
    await makeJobsDue();
    expect(await pushInState(id, 'dropped')).toMatchObject({ reason: 'logged_out' });
    expect(await pushInState((await publish(phone.user)).id, 'none')).toMatchObject({ reason: 'logged_out' });
    expect(arrivals(apns, phone.token)).toHaveLength(1);
  });

  test.each([
    ['logged out by an operator', 'logout', undefined, 'logged_out'],
    ['locked', 'lock', { permanent: true }, 'account_locked'],
  ])('to a user who was %s', async (_what, act, body, reason) => {
    const { phone, id } = await waitingPush();
    const acted = await app.api('POST', `/admin/v1/users/${phone.user.id}/${act}`, { bearer: app.adminKey, body });
    expect(acted.status).toBe(200);
    await makeJobsDue();
    expect(await pushInState(id, 'dropped')).toMatchObject({ reason });
    expect(await pushInState((await publish(phone.user)).id, 'none')).toMatchObject({ reason });
  });

  test('for a notification that was deleted before its push', async () => {
    const { phone, id } = await waitingPush();
    const { status } = await app.api('DELETE', `/admin/v1/notifications/${id}`, { bearer: app.adminKey });
    expect(status).toBe(204);
    await makeJobsDue();
    await eventually('the push to be dropped', async () => {
      const [row] = await app.database.query<{ reason: string }>(
        testSql('select reason from push_deliveries where notification_id = $1', [id]),
      );
      return row?.reason === 'notification_deleted' ? row : undefined;
    });
    expect(arrivals(apns, phone.token)).toHaveLength(1);
  });

  test('to a deleted user, and no rows of the pushes are left', async () => {
    const { phone } = await waitingPush();
    await app.api('DELETE', `/admin/v1/users/${phone.user.id}`, { bearer: app.adminKey });
    await eventually('the pushes to be erased', async () => {
      const rows = await app.database.query(
        testSql('select id from push_deliveries where user_id = $1', [phone.user.id]),
      );
      return rows.length === 0 ? true : undefined;
    });
    await makeJobsDue();
    expect(arrivals(apns, phone.token)).toHaveLength(1);
  });
});

test('the key that browsers subscribe with is public', async () => {
  expect((await app.api('GET', '/v1/push/key')).body).toEqual({ public_key: web.publicKey });
});

test('a paused channel pushes nothing, and sends what has waited when the pause ends', async () => {
  const pause = (paused: boolean) =>
    app.api('PUT', '/admin/v1/channels/push', { bearer: app.adminKey, body: { paused } });
  const phone = await newPhone('android');
  expect((await pause(true)).status).toBe(200);
  const held = await publish(phone.user);
  // Time enough for a push, if nothing held it.
  for (let n = 0; n < 30; n += 1) await trace(held.id);
  expect((await trace(held.id)).push.map(({ reason }) => reason)).toEqual(['being_prepared']);
  await pause(false);
  await pushInState(held.id, 'sent');
  expect(arrivals(fcm, phone.token)).toHaveLength(1);
});

test('OUTBOUND=allowlist pushes only to users with a listed address', async () => {
  const staging = await startTestApp({
    ...{ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none' },
    ...{ OUTBOUND: 'allowlist', OUTBOUND_ALLOWLIST: '@listed.example' },
  });
  onTestFinished(() => staging.close());
  const steps = createPushSteps(() => staging);
  const listed = await createUser(staging, { email: 'ada@listed.example' });
  const [allowed, other] = [await steps.newPhone('android', listed), await steps.newPhone('android')];
  await steps.pushInState((await steps.publish(allowed.user)).id, 'sent');
  const { reason } = await steps.pushInState((await steps.publish(other.user)).id, 'dropped');
  expect(reason).toBe('sandbox');
  expect(arrivals(fcm, other.token)).toEqual([]);
});
