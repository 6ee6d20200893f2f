import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import type { User } from '../../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let fcm: FcmFake;
let app: TestApp;
/** An app without a push service. */
let off: TestApp;

beforeAll(async () => {
  fcm = await startFcm();
  [app, off] = await Promise.all([startTestApp({ ...fcm.env, NOTICES: 'none' }), startTestApp()]);
});
afterAll(async () => {
  await Promise.all([app.close(), off.close()]);
  await fcm.close();
});

async function publish(on: TestApp, user: User): Promise<Notification> {
  const { body } = await on.api<Notification>('POST', '/admin/v1/notifications', {
    bearer: on.adminKey,
    body: { user_id: user.id, notification_type: 'request', description: 'Ada asks for 5.00' },
  });
  return body;
}

const traceOf = (on: TestApp, id: string) =>
  on.api<DeliveryTrace>('GET', `/admin/v1/notifications/${id}/deliveries`, { bearer: on.adminKey });

/** The trace after the fan-out, with the devices in the order of these ids. */
async function settledTrace(on: TestApp, id: string, devices: readonly string[]): Promise<DeliveryTrace> {
  const trace = await eventually('the pushes to be worked out', async () => {
    const { body } = await traceOf(on, id);
    return body.push.some(({ reason }) => reason === 'being_prepared' || reason === 'waiting') ? undefined : body;
  });
  return { ...trace, push: devices.flatMap((device) => trace.push.filter(({ device_id }) => device_id === device)) };
}

describe('the trace of a notification', () => {
  test('shows for each device the push, or why there was none', async () => {
    const user = await createUser(app);
    const withToken = await signIn(app, user, { gcm_device_token: 'a-token' });
    const apple = await signIn(app, user, { apn_device_token: 'abcdef0123456789' });
    const bare = await signIn(app, user);
    const gone = await signIn(app, user, { gcm_device_token: 'another-token' });
    await app.api('DELETE', `/v1/tokens/${gone.authentication.id}`, { bearer: gone.session.token });
    const notification = await publish(app, user);
    // Before that, its recipients are not determined.
    await settledTrace(app, notification.id, []);
    const later = await signIn(app, user, { gcm_device_token: 'a-later-token' });
    const devices = [withToken, apple, bare, gone, later].map(({ authentication }) => authentication.device_id);

    const trace = await settledTrace(app, notification.id, devices);
    expect(trace).toMatchObject({
      notification_id: notification.id,
      user_id: user.id,
      listed_at: notification.created_at,
      explanation: 'It is in the inbox. Of 1 push 1 was accepted by a push service.',
    });
    expect(trace.push.map(({ channel, state, reason }) => ({ channel, state, reason }))).toEqual([
      { channel: 'fcm', state: 'sent', reason: 'accepted' },
      { channel: null, state: 'none', reason: 'channel_off' },
      { channel: null, state: 'none', reason: 'no_token' },
      { channel: null, state: 'none', reason: 'logged_out' },
      { channel: null, state: 'none', reason: 'registered_later' },
    ]);
    expect(trace.push[3]?.explanation).toBe('No user is logged in on this device any more.');
    expect(trace.push[0]).toMatchObject({ attempts: 1, created_at: notification.created_at });
  });

  test('says whether the user has read it', async () => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const [first, second] = [await publish(app, user), await publish(app, user)];
    const isRead = async ({ id }: Notification) => (await traceOf(app, id)).body.is_read;
    expect([await isRead(first), await isRead(second)]).toEqual([false, false]);
    await app.api('PUT', '/v1/notifications/marker', { bearer: session.token, body: { last_read_id: first.id } });
    expect([await isRead(first), await isRead(second)]).toEqual([true, false]);
    const own = await app.api<DeliveryTrace>('GET', `/v1/notifications/${first.id}/deliveries`, {
      bearer: session.token,
    });
    expect(own.body.is_read).toBe(true);
    const body = { ids: [first.id], read: false };
    await app.api('PATCH', '/v1/notifications/states', { bearer: session.token, body });
    await app.api('PATCH', '/v1/notifications/states', {
      bearer: session.token,
      body: { ids: [second.id], read: true },
    });
    expect([await isRead(first), await isRead(second)]).toEqual([false, true]);
  });

  test('says that a device was not reachable when the notification was published, but is now', async () => {
    const user = await createUser(app);
    const { session, authentication } = await signIn(app, user);
    const { id } = await publish(app, user);
    const devices = [authentication.device_id];
    await eventually('the fan-out', async () => {
      const left = await app.database.query(testSql('select from push_fan_outs limit 1'));
      return left.length === 0 ? true : undefined;
    });
    await app.api('POST', '/v1/devices/tokens', {
      bearer: session.token,
      body: { type: 'android', token: 'registered-after' },
    });
    const { push } = await settledTrace(app, id, devices);
    expect(push).toMatchObject([{ state: 'none', reason: 'not_reachable_then' }]);
  });

  test('is visible to its owner and to no other user', async () => {
    const [user, other] = [await createUser(app), await createUser(app)];
    const own = await signIn(app, user, { gcm_device_token: 'own-token' });
    const loginOfOther = await signIn(app, other);
    const { id } = await publish(app, user);
    const trace = await settledTrace(app, id, [own.authentication.device_id]);
    const path = `/v1/notifications/${id}/deliveries`;
    expect(await app.api('GET', path, { bearer: own.session.token })).toMatchObject({ status: 200, body: trace });
    expect((await app.api('GET', path, { bearer: loginOfOther.session.token })).status).toBe(404);
    expect((await app.api('GET', path)).status).toBe(401);
    expect((await app.api('GET', '/v1/notifications/x/deliveries', { bearer: own.session.token })).status).toBe(404);
    expect((await traceOf(app, '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11')).status).toBe(404);
  });

  test('needs the scope users:read from an API key', async () => {
    const { body } = await app.api<{ token: string }>('POST', '/admin/v1/keys', {
      bearer: app.adminKey,
      body: { name: 'publisher', scopes: ['notifications:write'] },
    });
    const { id } = await publish(app, await createUser(app));
    const { status } = await app.api('GET', `/admin/v1/notifications/${id}/deliveries`, { bearer: body.token });
    expect(status).toBe(403);
  });

  test('says that the user has no device', async () => {
    const { id } = await publish(app, await createUser(app));
    const { explanation, push } = await eventually('the pushes to be worked out', async () => {
      const { body } = await traceOf(app, id);
      return body.explanation.includes('not determined yet') ? undefined : body;
    });
    expect({ explanation, push }).toEqual({
      explanation: 'It is in the inbox. Nothing was pushed: the user has no device.',
      push: [],
    });
  });

  test('says that push is not configured', async () => {
    const user = await createUser(off);
    await signIn(off, user, { gcm_device_token: 'a-token' });
    const { body } = await traceOf(off, (await publish(off, user)).id);
    expect(body.explanation).toBe('It is in the inbox. Nothing is pushed: no channel is configured.');
    expect(body.push).toMatchObject([{ state: 'none', reason: 'channel_off' }]);
  });
});

describe('without a push service', () => {
  test('publishing writes no rows for push', async () => {
    const user = await createUser(off);
    await signIn(off, user, { gcm_device_token: 'a-token' });
    await publish(off, user);
    expect(await off.database.query(testSql('select id from push_fan_outs'))).toEqual([]);
  });

  test('tokens are registered for later, and there is no key for subscriptions', async () => {
    const { session } = await signIn(off, await createUser(off));
    const registered = await off.api('POST', '/v1/devices/tokens', {
      bearer: session.token,
      body: { type: 'android', token: 'a-token' },
    });
    expect(registered).toMatchObject({ status: 201, body: { enabled: false } });
    expect((await off.api('GET', '/v1/push/key')).status).toBe(404);
  });

  test('a private endpoint is refused', async () => {
    const { session } = await signIn(off, await createUser(off));
    for (const endpoint of ['http://push.example.com/x', 'https://127.0.0.1/x', 'https://[::ffff:10.0.0.1]/x']) {
      const { status, text } = await off.api('POST', '/v1/devices/tokens', {
        bearer: session.token,
        body: { type: 'web', token: { endpoint, keys: {} } },
      });
      expect({ status, hasCode: text.includes('invalid_url') }).toEqual({ status: 422, hasCode: true });
    }
  });

  test('a push that was queued with a push service says that its channel is off', async () => {
    const on = await off.another(fcm.env);
    try {
      const user = await createUser(on);
      await signIn(on, user, { gcm_device_token: 'slow-token' });
      fcm.behave({ status: 503, headers: { 'retry-after': '600' } }, 'slow-token');
      const { id } = await publish(on, user);
      await eventually('the first attempt to fail', async () => {
        const { body } = await traceOf(on, id);
        return body.push.find(({ reason }) => reason === 'retrying');
      });
      const { body } = await traceOf(off, id);
      expect(body.push).toMatchObject([{ state: 'queued', reason: 'channel_off', error: 'fcm answered 503' }]);
    } finally {
      await on.close();
    }
  });
});
