import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { arrivals, createPushSteps, type Phone } from '../../support/push.js';
import { type ApnsFake, startApns } from '../../support/push-fakes/apns.js';
import { type FcmFake, startFcm } from '../../support/push-fakes/fcm.js';
import { testSql } from '../../support/sql.js';

let app: TestApp;
let fcm: FcmFake;
let apns: ApnsFake;
beforeAll(async () => {
  [fcm, apns] = [await startFcm(), await startApns()];
  app = await startTestApp({ ...fcm.env, ...apns.env, PUSH_CLEAR: 'on' });
});
afterAll(async () => {
  await app.close();
  await Promise.all([fcm.close(), apns.close()]);
});
const { newPhone, publish, pushInState, trace, makeJobsDue } = createPushSteps(() => app);

/** What a phone was asked to remove, in the order of the pushes. */
const clearedOn = (phone: Phone): string[] =>
  arrivals(fcm, phone.token).flatMap((push) => {
    const { data, notification } = (push as (typeof fcm.received)[number]).content;
    return data.clears === undefined || notification !== undefined ? [] : data.clears.split(',');
  });
const untilCleared = (phone: Phone, count: number) =>
  eventually(`${count} pushes to be cleared`, async () => {
    await makeJobsDue();
    return clearedOn(phone).length >= count ? true : undefined;
  });
const sent = async (phone: Phone, content: object = {}): Promise<Notification> => {
  const notification = await publish(phone.user, content);
  await pushInState(notification.id, 'sent');
  return notification;
};
const read = ({ session }: Phone, ids: readonly string[]) =>
  app.api('PATCH', '/v1/notifications/states', { bearer: session, body: { ids, read: true } });

test('a notification that is read elsewhere is taken off the screen of each device, once', async () => {
  const phone = await newPhone('android');
  const tablet = await newPhone('ios', phone.user);
  const [one, two] = [await publish(phone.user), await publish(phone.user)];
  for (const { id } of [one, two]) {
    await eventually('both pushes to be sent', async () => {
      const { push } = await trace(id);
      return push.length === 2 && push.every(({ state }) => state === 'sent') ? true : undefined;
    });
  }
  expect((await read(phone, [one.id])).status).toBe(200);
  // Others are about the notifications, and one may be about the new device.
  const silent = () =>
    arrivals(apns, tablet.token)
      .map((push) => (push as (typeof apns.received)[number]).content)
      .filter((content) => 'clears' in content);
  const tabletAsked = (count: number) =>
    eventually(`the tablet to be asked ${count} times`, async () => {
      await makeJobsDue();
      return silent().length >= count ? true : undefined;
    });
  await untilCleared(phone, 1);
  await tabletAsked(1);
  expect(clearedOn(phone)).toEqual([one.id]);
  await app.api('PUT', '/v1/notifications/marker', { bearer: phone.session, body: { last_read_id: two.id } });
  await untilCleared(phone, 2);
  expect(clearedOn(phone)).toEqual([one.id, two.id]);
  await tabletAsked(2);
  expect(silent()).toEqual([
    { aps: { 'content-available': 1 }, clears: [one.id] },
    { aps: { 'content-available': 1 }, clears: [two.id] },
  ]);
  const { push } = await trace(one.id);
  expect(push.map(({ state, reason }) => `${state}/${reason}`)).toEqual(['sent/cleared', 'sent/cleared']);
  expect(apns.violations).toEqual([]);
});

test('a push is named as the device knows it, by its replace_key or by its notification, and unread ones stay', async () => {
  const phone = await newPhone('android');
  const keyed = await sent(phone, { replace_key: 'order 17' });
  const unread = await sent(phone);
  await read(phone, [keyed.id]);
  await untilCleared(phone, 1);
  const tags = arrivals(fcm, phone.token).map((push) => (push as (typeof fcm.received)[number]).content.android);
  expect(clearedOn(phone)).toEqual([(tags[0] as { notification: { tag: string } }).notification.tag]);
  expect((await trace(unread.id)).push).toMatchObject([{ state: 'sent', reason: 'accepted' }]);
});

test('without PUSH_CLEAR, reading adds no job', async () => {
  const other = await app.another({ PUSH_CLEAR: 'off', METRICS_PORT: '' });
  const phone = await newPhone('android');
  const one = await sent(phone);
  await other.api('PATCH', '/v1/notifications/states', { bearer: phone.session, body: { ids: [one.id], read: true } });
  await other.close();
  const jobs = () =>
    app.database.query(testSql(`select key from graphile_worker._private_jobs where key like 'push.clear.%'`));
  expect(await jobs()).toEqual([]);
  await read(phone, [(await sent(phone)).id]);
  expect(await jobs()).toEqual([{ key: `push.clear.${phone.user.id}` }]);
});
