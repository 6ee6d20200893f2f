import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  deletePushToken,
  findPushTarget,
  findReachableDevices,
  listDeviceStates,
} from '../../../src/devices/push-devices.js';
import type { PushDevices } from '../../../src/notifications/push/devices.js';
import { pushNotice } from '../../../src/notifications/push/notice.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { scrape } from '../../support/metrics.js';
import { arrivals, createPushSteps, hexToken } from '../../support/push.js';
import { type FcmFake, fcmUnregistered, startFcm } from '../../support/push-fakes/fcm.js';
import { testSql } from '../../support/sql.js';

let app: TestApp;
let fcm: FcmFake;
beforeAll(async () => {
  fcm = await startFcm();
  app = await startTestApp({ ...fcm.env, METRICS_PORT: '0', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});
const { newPhone, publish, pushInState } = createPushSteps(() => app);

const admin = <Body>(method: 'POST' | 'PATCH', path: string, body: object) =>
  app.api<Body>(method, `/admin/v1${path}`, { bearer: app.adminKey, body });

interface EventRow {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
const eventsOf = (userId: string) =>
  eventually('an empty outbox', async () => {
    const waiting = await app.database.query(testSql('select from webhook_outbox'));
    return waiting.length > 0
      ? undefined
      : app.database.query<EventRow>(
          testSql(
            `select type, data from webhook_events where user_id = $1 and type like 'delivery.%' order by sequence`,
            [userId],
          ),
        );
  });

test('each push of a notification is counted by category, and an event of webhooks that names its device', async () => {
  const { body } = await admin<{ id: string }>('POST', '/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['delivery.*'],
  });
  // Events are recorded, and nothing is sent.
  await admin('PATCH', `/webhooks/${body.id}`, { enabled: false });
  const goneToken = hexToken();
  fcm.behave(fcmUnregistered, goneToken);
  const phone = await newPhone('android');
  const other = await newPhone('android', phone.user, goneToken);
  const notification = await publish(phone.user);
  const [sent, failed] = [await pushInState(notification.id, 'sent'), await pushInState(notification.id, 'gone')];

  const common = { notification_id: notification.id, channel: 'push', category: 'payment' };
  const events = (await eventsOf(phone.user.id)).map(({ type, data }) => [type, data]);
  expect(events).toHaveLength(2);
  expect(events).toEqual(
    expect.arrayContaining([
      ['delivery.sent', expect.objectContaining({ ...common, device_id: phone.deviceId, reason: 'accepted' })],
      ['delivery.failed', expect.objectContaining({ ...common, device_id: other.deviceId, reason: 'token_gone' })],
    ]),
  );
  expect([sent.device_id, failed.device_id]).toEqual([phone.deviceId, other.deviceId]);

  const metrics = await scrape(app.metricsUrl ?? '');
  const counted = (outcome: string) =>
    metrics.value('postern_deliveries_total', { channel: 'push', category: 'payment', outcome });
  expect([counted('sent'), counted('failed'), counted('dropped')]).toEqual([1, 1, 0]);
  expect(metrics.value('postern_delivery_lag_seconds_count')).toBe(1);
});

test('a push that its user does not want is counted, and no event', async () => {
  const phone = await newPhone('android');
  const count = async () =>
    (await scrape(app.metricsUrl ?? '')).value('postern_deliveries_total', { channel: 'push', outcome: 'dropped' });
  const before = await count();
  await app.api('PATCH', '/v1/preferences', {
    ...{ bearer: phone.session, body: { categories: { payment: { push: 'off' } } } },
  });
  const notification = await publish(phone.user);
  await pushInState(notification.id, 'dropped');
  expect((await count()) - before).toBe(1);
  expect(await eventsOf(phone.user.id)).toEqual([]);
});

test('a push about the account is neither', async () => {
  const before = (await scrape(app.metricsUrl ?? '')).value('postern_deliveries_total');
  const phone = await newPhone('android');
  const devices: PushDevices = {
    reachable: (handle, userIds, channels) => findReachableDevices(handle, { userIds, channels, perUser: 1 }),
    target: findPushTarget,
    forget: deletePushToken,
    states: listDeviceStates,
  };
  const notice = { kind: 'new_device', title: 'A new device', body: 'Was it you?', sequence: null };
  await app.database.transaction((tx) =>
    pushNotice(
      tx,
      { devices, channels: ['fcm'] },
      { ...notice, id: randomUUID(), userId: phone.user.id, exceptDevice: undefined },
    ),
  );
  await eventually('the push', async () => arrivals(fcm, phone.token)[0]);
  await eventually('its end', async () => {
    const rows = await app.database.query(testSql(`select from push_deliveries where state = 'queued'`));
    return rows.length === 0 ? true : undefined;
  });
  expect((await scrape(app.metricsUrl ?? '')).value('postern_deliveries_total')).toBe(before);
  expect(await eventsOf(phone.user.id)).toEqual([]);
});
