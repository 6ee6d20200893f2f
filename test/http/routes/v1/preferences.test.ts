import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { Preferences } from '../../../../src/contract/preferences.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let fcm: FcmFake;
let app: TestApp;

beforeAll(async () => {
  fcm = await startFcm();
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' });
  const define = (name: string, body: object) =>
    app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body });
  await define('billing', { title: { en: 'Bills', es: 'Facturas' }, defaults: { sms: 'off' } });
  await define('alarm', { is_critical: true });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});

async function newPerson(fields: object = {}) {
  const user = await createUser(app, fields);
  const { session } = await signIn(app, user, { gcm_device_token: `token-of-${user.username}` });
  return { user, session: session.token };
}

const path = '/v1/preferences';
const get = (bearer: string) => app.api<Preferences>('GET', path, { bearer });
const change = (bearer: string, body: object, at = path) =>
  app.api<Preferences & ProblemAnswer>('PATCH', at, { bearer, body });

async function publish(userId: string, content: object): Promise<Notification> {
  const body = { user_id: userId, notification_type: 'pool', description: 'A new pool', ...content };
  return (await app.api<Notification>('POST', '/admin/v1/notifications', { bearer: app.adminKey, body })).body;
}

const pushOf = (id: string) =>
  eventually(`the push of ${id} to end`, async () => {
    const trace = `/admin/v1/notifications/${id}/deliveries`;
    const { body } = await app.api<DeliveryTrace>('GET', trace, { bearer: app.adminKey });
    return body.push.find(({ state }) => state === 'sent' || state === 'dropped');
  });

test('shows defaults until the user chooses, and again when the choice is taken back', async () => {
  const { session } = await newPerson({ email: `p${Date.now()}@example.com` });
  const before = await get(session);
  expect(before.body).toMatchObject({
    ...{ time_zone: null, quiet_hours: null, topics: {}, addresses: { email: 'ok' } },
    channels: { push: 'on', email: 'on', sms: 'on' },
  });
  expect(before.body.categories.billing).toEqual({
    ...{ title: 'Bills', description: 'billing', is_locked: false, has_digest: false },
    cells: {
      inbox: { value: 'on', default: 'on', is_chosen: false },
      push: { value: 'on', default: 'on', is_chosen: false },
      email: { value: 'on', default: 'on', is_chosen: false },
      sms: { value: 'off', default: 'off', is_chosen: false },
    },
  });
  expect(before.body.categories.alarm?.is_locked).toBe(true);
  const chosen = await change(session, { time_zone: 'Europe/Madrid', categories: { billing: { push: 'on' } } });
  expect(chosen.body.categories.billing?.cells.push).toEqual({ value: 'on', default: 'on', is_chosen: true });
  expect(chosen.body.time_zone).toBe('Europe/Madrid');
  await change(session, { time_zone: null, categories: { billing: { push: null } } });
  expect((await get(session)).body).toEqual(before.body);
});

test('reports all faults at once, and applies nothing', async () => {
  const { session } = await newPerson();
  const { status, body } = await change(session, {
    ...{
      time_zone: 'Mars/Olympus',
      quiet_hours: { from: '24:00', days: ['mon', 'mon'] },
      channels: { email: 'off', fax: 'off', inbox: 'off' },
    },
    categories: { biling: { push: 'off' }, alarm: { push: 'off' }, billing: { push: 'digest' } },
  });
  expect(status).toBe(422);
  expect(body.errors?.map(({ field, code }) => [field, code])).toEqual([
    ['time_zone', 'unknown_time_zone'],
    ['quiet_hours.from', 'invalid_format'],
    ['quiet_hours.until', 'required'],
    ['quiet_hours.days', 'duplicate_items'],
    ['channels.fax', 'invalid_choice'],
    ['channels.inbox', 'invalid_choice'],
    ['categories.biling', 'unknown_category'],
    ['categories.alarm', 'category_is_critical'],
    ['categories.billing.push', 'invalid_choice'],
  ]);
  expect((await get(session)).body.channels.email).toBe('on');
});

test('takes digest for mails of a category that has one, and of topics, and nowhere else', async () => {
  await app.api('PUT', '/admin/v1/categories/chatter', {
    bearer: app.adminKey,
    body: { digest: { every: 'daily 09:00' }, cap: { count: 3, per: '1d' } },
  });
  await app.api('PUT', '/admin/v1/topics/club.chess', {
    bearer: app.adminKey,
    body: { title: 'Chess', is_open: true },
  });
  const { session } = await newPerson();
  const chosen = await change(session, {
    categories: { chatter: { email: 'digest' } },
    topics: { 'club.chess': { email: 'digest' } },
  });
  expect(chosen.body.categories.chatter?.cells.email).toEqual({ value: 'digest', default: 'on', is_chosen: true });
  const { status, body } = await change(session, {
    channels: { email: 'digest' },
    categories: { chatter: { push: 'digest' }, billing: { email: 'digest' } },
  });
  expect([status, body.errors?.map(({ field, code }) => [field, code])]).toEqual([
    422,
    [
      ['channels.email', 'invalid_choice'],
      ['categories.chatter.push', 'invalid_choice'],
      ['categories.billing.email', 'no_digest'],
    ],
  ]);
  const { body: category } = await app.api('GET', '/admin/v1/categories/chatter', { bearer: app.adminKey });
  expect(category).toMatchObject({
    digest: { every: 'daily 09:00', max_items: 20 },
    cap: { count: 3, per: '1d', overflow: 'drop' },
  });
});

test('keeps every cell that parallel requests choose', async () => {
  const { user, session } = await newPerson();
  const bodies = ['push', 'email', 'sms', 'inbox'].flatMap((channel) => [
    ...(channel === 'inbox' ? [] : [{ channels: { [channel]: 'off' } }]),
    { categories: { billing: { [channel]: 'off' }, pool: { [channel]: 'off' } } },
  ]);
  await Promise.all(bodies.map((body) => change(session, body)));
  const { body } = await get(session);
  expect(body.channels).toEqual({ push: 'off', email: 'off', sms: 'off' });
  for (const name of ['billing', 'pool']) {
    expect(Object.values(body.categories[name]?.cells ?? {}).map(({ value }) => value)).toEqual([
      ...['off', 'off', 'off', 'off'],
    ]);
  }
  const exported = await app.api<{ preferences: unknown[] }>('GET', `/admin/v1/users/${user.id}/export`, {
    bearer: app.adminKey,
  });
  expect(exported.body.preferences).toHaveLength(1);
});

test('decides about pushes, except in critical categories', async () => {
  const { user, session } = await newPerson();
  await change(session, { categories: { billing: { push: 'off' } } });
  const [bill, pool] = [await publish(user.id, { category: 'billing' }), await publish(user.id, {})];
  expect(await pushOf(bill.id)).toMatchObject({ state: 'dropped', reason: 'preference_off' });
  expect(await pushOf(pool.id)).toMatchObject({ state: 'sent' });
  await change(session, { channels: { push: 'off' }, categories: { billing: { push: 'on' } } });
  const [second, alarm] = [
    await publish(user.id, { category: 'billing' }),
    await publish(user.id, { category: 'alarm' }),
  ];
  expect(await pushOf(second.id)).toMatchObject({ state: 'dropped', reason: 'preference_off' });
  expect(await pushOf(alarm.id)).toMatchObject({ state: 'sent' });
});

test('stops a push that waits for a further attempt', async () => {
  const { user, session } = await newPerson();
  const token = `token-of-${user.username}`;
  fcm.behave({ status: 503 }, token);
  const { id } = await publish(user.id, {});
  await eventually('the first attempt to fail', async () => {
    const at = `/admin/v1/notifications/${id}/deliveries`;
    const { body } = await app.api<DeliveryTrace>('GET', at, { bearer: app.adminKey });
    return body.push.find(({ attempts, state }) => attempts === 1 && state === 'queued');
  });
  await change(session, { categories: { pool: { push: 'off' } } });
  fcm.behave({ status: 200 }, token);
  await app.database.query(testSql('update graphile_worker._private_jobs set run_at = now()'));
  await app.database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
  expect(await pushOf(id)).toMatchObject({ state: 'dropped', reason: 'preference_off' });
});

test('operators change them for a user, which is audited without a row for a user who never chose', async () => {
  const { user, session } = await newPerson();
  const at = `/admin/v1/users/${user.id}/preferences`;
  expect((await change(app.adminKey, { channels: { push: 'off' } }, at)).body.channels.push).toBe('off');
  expect((await get(session)).body.channels.push).toBe('off');
  expect((await get(session)).body).not.toHaveProperty('channels_chosen_at');
  const rowsOf = (text: string) => app.database.query(testSql(text, [user.id]));
  const events = await rowsOf("select data from events where user_id = $1 and type = 'preferences.changed'");
  const changes = [{ field: 'channels.push', before: null, after: 'off', withheld: false }];
  expect(events).toEqual([{ data: { changes } }]);
  await change(app.adminKey, { channels: { push: null } }, at);
  expect(await rowsOf('select user_id from preferences where user_id = $1')).toEqual([]);
  const unknown = '/admin/v1/users/00000000-0000-4000-8000-000000000000/preferences';
  expect((await change(app.adminKey, { channels: { push: 'off' } }, unknown)).status).toBe(404);
});

test('operators see when each cell was chosen, and users do not', async () => {
  const { user, session } = await newPerson();
  const at = `/admin/v1/users/${user.id}/preferences`;
  await change(session, { categories: { payment: { email: 'off' } } });
  const [, time] = [await change(session, { channels: { sms: 'off' } }), expect.stringMatching(/^\d{4}-.*Z$/)];
  const { body } = await app.api<Preferences>('GET', at, { bearer: app.adminKey });
  expect(body.channels_chosen_at).toEqual({ push: null, email: null, sms: time });
  expect(body.categories.payment?.cells.email).toEqual({
    value: 'off',
    default: 'on',
    is_chosen: true,
    chosen_at: time,
  });
  expect(body.categories.payment?.cells.push.chosen_at).toBeNull();
  expect(Object.keys((await get(session)).body.categories.payment?.cells.email ?? {})).not.toContain('chosen_at');
});
