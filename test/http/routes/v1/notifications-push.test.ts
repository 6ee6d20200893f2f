import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { Notification } from '../../../../src/contract/notification.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import type { User } from '../../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import {
  type ApnsFake,
  type FcmFake,
  fcmUnregistered,
  startApns,
  startFcm,
  startWebPushService,
  type WebPushFake,
} from '../../../support/push-fakes.js';
import { testSql } from '../../../support/sql.js';
import { createUser, messageOf, newPhone as newNumber, signIn, smsLogin } from '../../../support/users.js';

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

interface Phone {
  readonly user: User;
  readonly session: string;
  readonly token: string;
  readonly authenticationId: string;
  readonly deviceId: string;
}

const hexToken = () => randomBytes(32).toString('hex');

function register(session: string, type: string, token: unknown) {
  return app.api('POST', '/v1/devices/tokens', { bearer: session, body: { type, token } });
}

/** A user with a new phone that has a push token. */
async function newPhone(type: 'ios' | 'android', of?: User, token = hexToken()): Promise<Phone> {
  const user = of ?? (await createUser(app));
  const { session, authentication } = await signIn(app, user);
  const { status } = await register(session.token, type, token);
  expect(status).toBe(201);
  const { device_id: deviceId, id: authenticationId } = authentication;
  return { user, session: session.token, token, authenticationId, deviceId };
}

async function publish(user: User, content: object = {}): Promise<Notification> {
  const { status, body } = await app.api<Notification>('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description: 'Ada paid you 12.50', ...content },
  });
  expect(status).toBe(201);
  return body;
}

async function trace(id: string): Promise<DeliveryTrace> {
  const { body } = await app.api<DeliveryTrace>('GET', `/admin/v1/notifications/${id}/deliveries`, {
    bearer: app.adminKey,
  });
  return body;
}

/** The only push of a notification, when it has reached this state. */
const pushIn = (id: string, state: string) =>
  eventually(`the push of ${id} to be ${state}`, async () => {
    const { push } = await trace(id);
    return push.find((entry) => entry.state === state);
  });

/** Waits until this number of attempts has failed and the next one is queued. */
const retried = (id: string, attempts: number) =>
  eventually(`attempt ${attempts} of ${id} to fail`, async () => {
    const [push] = (await trace(id)).push;
    return push?.state === 'queued' && push.attempts >= attempts ? push : undefined;
  });

const arrivals = (stand: { received: readonly { to: string }[] }, to: string) =>
  stand.received.filter((pushed) => pushed.to === to);

/** Makes the next attempt due now. */
async function hurry(): Promise<void> {
  await app.database.everyone.query(
    testSql('update graphile_worker._private_jobs set run_at = now() where locked_by is null'),
  );
  await app.database.everyone.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
}

/** Seconds until the only queued job is due. */
async function secondsToNextAttempt(): Promise<number> {
  const rows = await app.database.everyone.query<{ seconds: number }>(
    testSql(
      'select extract(epoch from run_at - now())::float8 as seconds from graphile_worker._private_jobs where run_at > now()',
    ),
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.seconds ?? 0;
}

describe('a published notification is pushed', () => {
  test('to a browser: encrypted for this browser, and signed with the VAPID key', async () => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    const { status, text } = await register(session.token, 'web', subscription);
    expect(status).toBe(201);
    expect(text).not.toContain(subscription.keys.auth);
    const notification = await publish(user, { actor: 'Ada', notification_key: 'received' });
    await pushIn(notification.id, 'sent');
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
    expect(web.faults).toEqual([]);
  });

  test('to an Android phone by FCM, with one access token for all pushes', async () => {
    const phone = await newPhone('android');
    const first = await publish(phone.user, { actor: 'Ada' });
    await pushIn(first.id, 'sent');
    const granted = fcm.granted();
    const second = await publish(phone.user);
    await pushIn(second.id, 'sent');
    expect(fcm.granted()).toBe(granted);
    const contents = arrivals(fcm, phone.token).map((pushed) => (pushed as (typeof fcm.received)[number]).content);
    expect(contents[0]).toMatchObject({
      notification: { title: 'Ada', body: 'Ada paid you 12.50' },
      data: { id: first.id, notification_type: 'payment', sequence: String(first.sequence) },
      android: { collapse_key: first.id, priority: 'HIGH', notification: { tag: first.id } },
    });
    expect(contents[1]?.notification).toEqual({ body: 'Ada paid you 12.50' });
    expect(fcm.faults).toEqual([]);
  });

  test('to an iPhone by APNs, over one persistent connection', async () => {
    const phone = await newPhone('ios');
    const first = await publish(phone.user, { actor: 'Ada' });
    await pushIn(first.id, 'sent');
    const connections = apns.connections();
    const second = await publish(phone.user);
    await pushIn(second.id, 'sent');
    expect(apns.connections()).toBe(connections);
    const [pushed] = arrivals(apns, phone.token) as (typeof apns.received)[number][];
    expect(pushed?.content).toMatchObject({
      aps: { alert: { title: 'Ada', body: 'Ada paid you 12.50' } },
      id: first.id,
      notification_type: 'payment',
    });
    expect(pushed?.headers).toMatchObject({ 'apns-collapse-id': first.id, 'apns-priority': '10' });
    expect(Number(pushed?.headers['apns-expiration'])).toBeGreaterThan(Date.now() / 1000);
    expect(apns.faults).toEqual([]);
  });

  test('to a phone whose token was sent with the login', async () => {
    const user = await createUser(app);
    const token = hexToken();
    await signIn(app, user, { apn_device_token: token });
    const { id } = await publish(user);
    await pushIn(id, 'sent');
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
    await pushIn(id, 'sent');
    expect([arrivals(apns, apnToken).length, arrivals(fcm, gcmToken).length]).toEqual([1, 0]);
  });

  test('with a text that is cut to the limit of the service, between characters', async () => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    await register(session.token, 'web', JSON.stringify(subscription));
    const { id } = await publish(user, { description: '🦉"\\'.repeat(1000), actor: 'x'.repeat(255) });
    await pushIn(id, 'sent');
    const [pushed] = arrivals(web, path) as (typeof web.received)[number][];
    const body = String(pushed?.content.body);
    expect(body).toMatch(/^(?:🦉"\\)+(?:🦉|🦉")?…$/u);
    expect(Buffer.byteLength(JSON.stringify(pushed?.content))).toBeGreaterThan(2980);
    expect(web.faults).toEqual([]);
  });
});

describe('a token', () => {
  test('that the service no longer knows is removed, and the delivery status says so', async () => {
    const cases = [
      { phone: await newPhone('android'), stand: fcm, behaviour: fcmUnregistered },
      { phone: await newPhone('ios'), stand: apns, behaviour: { status: 410, body: { reason: 'Unregistered' } } },
      { phone: await newPhone('ios'), stand: apns, behaviour: { status: 400, body: { reason: 'BadDeviceToken' } } },
    ];
    for (const { phone, stand, behaviour } of cases) {
      stand.behave(behaviour, phone.token);
      const first = await publish(phone.user);
      expect(await pushIn(first.id, 'gone')).toMatchObject({ reason: 'token_gone', attempts: 1 });
      const second = await publish(phone.user);
      const none = await pushIn(second.id, 'none');
      expect(none).toMatchObject({ device_id: phone.deviceId, reason: 'no_token' });
      expect(arrivals(stand, phone.token)).toHaveLength(1);
    }
  });

  test.each([404, 410])('of a browser is removed if its push service answers %i', async (status) => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    await register(session.token, 'web', subscription);
    web.behave({ status }, path);
    await pushIn((await publish(user)).id, 'gone');
    expect(await pushIn((await publish(user)).id, 'none')).toMatchObject({ reason: 'no_token' });
  });

  test('stays if the service answers 404 without an error about the token', async () => {
    const phone = await newPhone('android');
    fcm.behave({ status: 404 }, phone.token);
    const { id } = await publish(phone.user);
    expect(await retried(id, 1)).toMatchObject({ error: 'fcm answered 404', reason: 'retrying' });
    fcm.behave({ status: 200, body: {} }, phone.token);
    await hurry();
    await pushIn(id, 'sent');
  });

  test('that was registered again while the old one was refused stays', async () => {
    const phone = await newPhone('ios');
    const fresh = hexToken();
    let answer = () => {};
    const when = new Promise<void>((resolve) => {
      answer = resolve;
    });
    apns.behave({ status: 410, body: { reason: 'Unregistered' }, when }, phone.token);
    const first = await publish(phone.user);
    await eventually('the push to start', async () => arrivals(apns, phone.token)[0]);
    expect((await register(phone.session, 'ios', fresh)).status).toBe(201);
    answer();
    await pushIn(first.id, 'gone');
    const second = await publish(phone.user);
    await pushIn(second.id, 'sent');
    expect(arrivals(apns, fresh)).toHaveLength(1);
  });

  test('moves to the device that registers it, so the former owner of a phone gets nothing on it', async () => {
    const before = await newPhone('ios');
    const after = await newPhone('ios', undefined, before.token);
    const { id } = await publish(before.user);
    expect(await pushIn(id, 'none')).toMatchObject({ device_id: before.deviceId, reason: 'no_token' });
    await pushIn((await publish(after.user)).id, 'sent');
    expect(arrivals(apns, before.token)).toHaveLength(1);
  });

  test('moves with a login that sends it', async () => {
    const before = await newPhone('android');
    const after = await createUser(app);
    await signIn(app, after, { gcm_device_token: before.token });
    expect(await pushIn((await publish(before.user)).id, 'none')).toMatchObject({ reason: 'no_token' });
    await pushIn((await publish(after)).id, 'sent');
  });

  test('that many register at once belongs to one of them', async () => {
    const token = hexToken();
    const people = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const user = await createUser(app);
        return { user, session: (await signIn(app, user)).session.token };
      }),
    );
    const answers = await Promise.all(people.map(({ session }) => register(session, 'ios', token)));
    expect(answers.map(({ status }) => status)).toEqual(people.map(() => 201));
    const rows = await app.database.everyone.query(
      testSql('select id from devices where apn_device_token = $1', [token]),
    );
    expect(rows).toHaveLength(1);
  });

  test('that is registered again gets 200', async () => {
    const phone = await newPhone('ios');
    const again = await register(phone.session, 'ios', phone.token);
    expect(again).toMatchObject({
      status: 200,
      body: { type: 'ios', device_id: phone.deviceId, channel: 'apns', enabled: true },
    });
    expect(again.text).not.toContain(phone.token);
  });

  test.each([
    ['ios', 'not hexadecimal', 'invalid_format', 'token'],
    ['ios', { endpoint: 'x' }, 'invalid_type', 'token'],
    ['android', 'with a space', 'invalid_format', 'token'],
    ['web', 'no JSON', 'invalid_format', 'token'],
    ['web', { keys: {} }, 'required', 'token.endpoint'],
    ['web', { endpoint: 'ftp://example.com/x', keys: {} }, 'invalid_url', 'token.endpoint'],
    [
      'web',
      { endpoint: 'https://example.com/x', keys: { p256dh: 'AAAA', auth: 'AAAA' } },
      'invalid_format',
      'token.keys.p256dh',
    ],
    ['pager', 'x', 'invalid_choice', 'type'],
  ])('of type %s with the value %o is refused', async (type, token, code, field) => {
    const { session } = await signIn(app, await createUser(app));
    const { status, body } = await register(session.token, type, token);
    expect(status).toBe(422);
    expect(body.errors).toContainEqual(expect.objectContaining({ field, code }));
  });

  test('needs a session to be registered', async () => {
    const { status } = await app.api('POST', '/v1/devices/tokens', { body: { type: 'ios', token: hexToken() } });
    expect(status).toBe(401);
  });
});

describe('a push service that refuses a push', () => {
  test.each([429, 503])('gets the next attempt after its Retry-After when it answers %i', async (status) => {
    const phone = await newPhone('android');
    fcm.behave({ status, headers: { 'retry-after': '300' } }, phone.token);
    const { id } = await publish(phone.user);
    await retried(id, 1);
    const wait = await secondsToNextAttempt();
    expect(wait).toBeGreaterThan(280);
    expect(wait).toBeLessThanOrEqual(300);
    fcm.behave({ status: 200, body: {} }, phone.token);
    await hurry();
    expect(await pushIn(id, 'sent')).toMatchObject({ attempts: 2, error: null });
  });

  test('does not get an expired push', async () => {
    const phone = await newPhone('android');
    fcm.behave({ status: 500 }, phone.token);
    const { id } = await publish(phone.user);
    await retried(id, 1);
    await app.database.everyone.query(
      testSql("update push_deliveries set created_at = created_at - interval '1 day' where notification_id = $1", [id]),
    );
    await hurry();
    expect(await pushIn(id, 'expired')).toMatchObject({ reason: 'expired', error: 'fcm answered 500' });
    expect(arrivals(fcm, phone.token)).toHaveLength(1);
  });

  test('permanently gets no further attempt', async () => {
    const phone = await newPhone('ios');
    apns.behave({ status: 413, body: { reason: 'PayloadTooLarge' } }, phone.token);
    const { id } = await publish(phone.user);
    expect(await pushIn(id, 'failed')).toMatchObject({ reason: 'refused', error: 'apns answered 413 PayloadTooLarge' });
  });

  test('because the access token was revoked gets a new access token', async () => {
    const phone = await newPhone('android');
    fcm.revokeAccess();
    const { id } = await publish(phone.user);
    expect(await retried(id, 1)).toMatchObject({ error: 'fcm answered 401 UNAUTHENTICATED' });
    await hurry();
    await pushIn(id, 'sent');
  });

  test('because it closes the connection gets the push on another one', async () => {
    const phone = await newPhone('ios');
    await pushIn((await publish(phone.user)).id, 'sent');
    const connections = apns.connections();
    apns.goAway();
    const { id } = await publish(phone.user);
    await eventually('the push to arrive', async () => {
      await hurry();
      return (await trace(id)).push.find(({ state }) => state === 'sent');
    });
    expect(apns.connections()).toBe(connections + 1);
  });

  test('by hanging delays neither the other services nor codes by SMS', async () => {
    const hanging = await newPhone('android');
    fcm.behave('hang');
    await Promise.all(Array.from({ length: 40 }, () => publish(hanging.user)));
    await eventually('the service to be hung on', async () => arrivals(fcm, hanging.token)[15]);
    const phone = await newPhone('ios');
    const { id } = await publish(phone.user);
    await pushIn(id, 'sent');
    const { phone: number } = await createUser(app, { phone: newNumber() });
    const { body } = await app.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(number) });
    await messageOf(app, body.id);
    // The maximum number that one instance sends at once on one channel. All of them hang until now.
    expect(arrivals(fcm, hanging.token)).toHaveLength(16);
    await app.database.everyone.query(
      testSql("update push_deliveries set state = 'dropped' where user_id = $1", [hanging.user.id]),
    );
  });
});

describe('a push is not sent', () => {
  /** A push that failed once and waits for its next attempt. */
  async function waitingPush(): Promise<{ phone: Phone; id: string }> {
    const phone = await newPhone('ios');
    apns.behave({ status: 503 }, phone.token);
    const { id } = await publish(phone.user);
    await retried(id, 1);
    apns.behave({ status: 200 }, phone.token);
    return { phone, id };
  }

  test('to a device that has logged out: queued pushes are dropped, and no new ones are created', async () => {
    const { phone, id } = await waitingPush();
    const { status } = await app.api('DELETE', `/v1/tokens/${phone.authenticationId}`, { bearer: phone.session });
    expect(status).toBe(200);
    await hurry();
    expect(await pushIn(id, 'dropped')).toMatchObject({ reason: 'logged_out' });
    expect(await pushIn((await publish(phone.user)).id, 'none')).toMatchObject({ reason: 'logged_out' });
    expect(arrivals(apns, phone.token)).toHaveLength(1);
  });

  test.each([
    ['logged out by an operator', 'logout', undefined, 'logged_out'],
    ['locked', 'lock', { permanent: true }, 'account_locked'],
  ])('to a user who was %s', async (_what, act, body, reason) => {
    const { phone, id } = await waitingPush();
    const acted = await app.api('POST', `/admin/v1/users/${phone.user.id}/${act}`, { bearer: app.adminKey, body });
    expect(acted.status).toBe(200);
    await hurry();
    expect(await pushIn(id, 'dropped')).toMatchObject({ reason });
    expect(await pushIn((await publish(phone.user)).id, 'none')).toMatchObject({ reason });
  });

  test('for a notification that was deleted meanwhile', async () => {
    const { phone, id } = await waitingPush();
    const { status } = await app.api('DELETE', `/admin/v1/notifications/${id}`, { bearer: app.adminKey });
    expect(status).toBe(204);
    await hurry();
    await eventually('the push to be dropped', async () => {
      const [row] = await app.database.everyone.query<{ reason: string }>(
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
      const rows = await app.database.everyone.query(
        testSql('select id from push_deliveries where user_id = $1', [phone.user.id]),
      );
      return rows.length === 0 ? true : undefined;
    });
    await hurry();
    expect(arrivals(apns, phone.token)).toHaveLength(1);
  });
});

test('a leftover job of an attempt that was already counted sends nothing', async () => {
  const phone = await newPhone('ios');
  const { id } = await publish(phone.user);
  await pushIn(id, 'sent');
  await app.database.everyone.query(
    testSql(
      `select graphile_worker.add_job('push.send.apns', json_build_object('user_id', user_id, 'id', id, 'attempt', 0))
       from push_deliveries where notification_id = $1`,
      [id],
    ),
  );
  await eventually('the job to be done', async () => {
    const rows = await app.database.everyone.query(
      testSql("select id from graphile_worker._private_jobs where payload->>'user_id' = $1", [phone.user.id]),
    );
    return rows.length === 0 ? true : undefined;
  });
  expect(arrivals(apns, phone.token)).toHaveLength(1);
});

test('the key that browsers subscribe with is public', async () => {
  expect((await app.api('GET', '/v1/push/key')).body).toEqual({ public_key: web.publicKey });
});
