import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { Publication } from '../../../../src/contract/publication.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { arrivals, createPushSteps } from '../../../support/push.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { testSql } from '../../../support/sql.js';

let fcm: FcmFake;
let app: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' });
  await admin('PUT', '/topics/club', { title: 'Club', is_open: true });
});
afterAll(async () => {
  await app?.close();
  await fcm?.close();
});

const admin = <Body>(method: string, path: string, body?: object) =>
  app.api<Body>(method, `/admin/v1${path}`, { bearer: app.adminKey, ...(body && { body }) });
const { makeJobsDue, newPhone, pushInState, trace, untilRetried } = createPushSteps(() => app);
/** Somebody with a phone, who has joined the club. */
async function member() {
  const phone = await newPhone('android');
  const own = (method: string, path: string, body?: object) =>
    app.api<Notification[]>(method, `/v1${path}`, { bearer: phone.session, ...(body && { body }) });
  expect((await own('PUT', '/topics/club/subscription')).status).toBe(204);
  const inbox = async () => (await own('GET', '/notifications')).body;
  return { ...phone, own, inbox };
}
const publish = async (more: object = {}) =>
  (
    await admin<Publication>('POST', '/publications', {
      to: { topic: 'club' },
      notification: { notification_type: 'payment', description: 'The club meets' },
      ...more,
    })
  ).body;
const until = (id: string, isReached: (publication: Publication) => boolean) =>
  eventually('the publication', async () => {
    const { body } = await admin<Publication>('GET', `/publications/${id}`);
    return isReached(body) ? body : undefined;
  });
const newestOf = ({ inbox }: Pick<Awaited<ReturnType<typeof member>>, 'inbox'>) =>
  eventually('the notification', async () => (await inbox())[0]);

describe('a choice for a topic', () => {
  test('stops the pushes of its publications only, and null brings them back', async () => {
    const [muted, other] = [await member(), await member()];
    await muted.own('PATCH', '/preferences', { topics: { club: { push: 'off' } } });
    const first = await publish();
    await until(first.id, ({ status }) => status === 'done');
    await pushInState((await newestOf(other)).id, 'sent');
    const notification = await newestOf(muted);
    expect(await pushInState(notification.id, 'dropped')).toMatchObject({ reason: 'preference_off' });
    expect(arrivals(fcm, muted.token)).toEqual([]);
    // The same category without the topic.
    const direct = await admin<Notification>('POST', '/notifications', {
      ...{ user_id: muted.user.id, notification_type: 'payment', description: 'Ada paid you' },
    });
    await pushInState(direct.body.id, 'sent');
    await muted.own('PATCH', '/preferences', { topics: { club: { push: null } } });
    const second = await publish();
    await until(second.id, ({ status }) => status === 'done');
    await pushInState((await newestOf(muted)).id, 'sent');
  });

  test('beats the category: what is on for the topic is pushed although the category is off', async () => {
    const person = await member();
    await person.own('PATCH', '/preferences', {
      categories: { payment: { push: 'off' } },
      topics: { club: { push: 'on' } },
    });
    const { id } = await publish();
    await until(id, ({ status }) => status === 'done');
    await pushInState((await newestOf(person)).id, 'sent');
  });
});

const recall = async (id: string) => {
  await admin('POST', `/publications/${id}/recall`);
  await until(id, (publication) => publication.recall?.finished_at != null);
};

test('a recall drops the push whose next attempt waits, and what was sent stays sent', async () => {
  const person = await member();
  const sent = await publish();
  await until(sent.id, ({ status }) => status === 'done');
  await pushInState((await newestOf(person)).id, 'sent');
  fcm.behave({ status: 500 }, person.token);
  const failing = await publish();
  await until(failing.id, ({ status }) => status === 'done');
  const waiting = await newestOf(person);
  await untilRetried(waiting.id, 1);
  const attempts = arrivals(fcm, person.token).length;
  for (const { id } of [failing, sent]) await recall(id);
  expect(await person.inbox()).toEqual([]);
  fcm.behave({ status: 200, body: {} }, person.token);
  await makeJobsDue();
  await eventually('the push to be dropped', async () => {
    const [row] = await app.database.query<{ reason: string }>(
      testSql('select reason from push_deliveries where notification_id = $1', [waiting.id]),
    );
    return row?.reason === 'notification_deleted' ? row : undefined;
  });
  expect(arrivals(fcm, person.token)).toHaveLength(attempts);
});

test('a recall drops the pushes that a pause holds', async () => {
  const person = await member();
  await admin('PUT', '/channels/push', { paused: true });
  const held = await publish();
  await until(held.id, ({ status }) => status === 'done');
  expect((await trace((await newestOf(person)).id)).push.map(({ reason }) => reason)).toEqual(['being_prepared']);
  await recall(held.id);
  await admin('PUT', '/channels/push', { paused: false });
  // Pushes go out in the order of their publications, so this one shows that the turn of the other is over.
  const later = await publish();
  await until(later.id, ({ status }) => status === 'done');
  await pushInState((await newestOf(person)).id, 'sent');
  expect(arrivals(fcm, person.token)).toHaveLength(1);
});

test('a publication starts within two seconds of its time', async () => {
  const person = await member();
  const { id } = await publish({ send_at: new Date(Date.now() + 600_000).toISOString() });
  const inTenMinutes = await until(id, ({ status }) => status === 'scheduled');
  await stepClock(app.database, '11 minutes');
  // Half seconds that pass in this process and its database: a busy machine makes them longer, as it does the wait of the service.
  let halves = 0;
  const isStarted = async () => (await until(id, () => true)).status !== 'scheduled';
  while (!(await isStarted()) && halves < 20) {
    await wait(500);
    halves += 1;
  }
  expect(halves).toBeLessThanOrEqual(4);
  const { started_at: startedAt } = await until(id, ({ status }) => status === 'done');
  expect(Date.parse(startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(inTenMinutes.send_at ?? ''));
  expect(await person.inbox()).toHaveLength(1);
  await stepClock(app.database, '0');
});
