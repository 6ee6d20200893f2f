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
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', DEFAULT_TIME_ZONE: 'Asia/Kathmandu' });
  const define = (name: string, body: object) =>
    app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body });
  await define('billing', { title: { en: 'Bills', es: 'Facturas' } });
  await define('alarm', { is_critical: true });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});

/** The real time on the wall of the default zone, which is 5:45 h before UTC, some hours from now. */
const clock = (hours: number) => new Date(Date.now() + (hours + 5.75) * 3_600_000).toISOString().slice(11, 16);

async function newPerson(locale = 'en') {
  const user = await createUser(app, { locale });
  const token = `token-of-${user.username}`;
  const { session } = await signIn(app, user, { gcm_device_token: token });
  return { user, session: session.token, token };
}
const pushesTo = (token: string) => fcm.received.flatMap(({ to, content }) => (to === token ? content : []));
const textsTo = (token: string) =>
  pushesTo(token).flatMap(({ data, notification }) => (data.notification_type === 'security' ? [] : notification));
const change = (bearer: string, body: object) =>
  app.api<Preferences & ProblemAnswer>('PATCH', '/v1/preferences', { bearer, body });
const beQuiet = (bearer: string) => change(bearer, { quiet_hours: { from: clock(-1), until: clock(2) } });

async function publish(userId: string, number: number, category = 'billing'): Promise<Notification> {
  const body = { user_id: userId, notification_type: 'pool', category, description: `Bill ${number}` };
  return (await app.api<Notification>('POST', '/admin/v1/notifications', { bearer: app.adminKey, body })).body;
}
const traceOf = async (id: string) =>
  (await app.api<DeliveryTrace>('GET', `/admin/v1/notifications/${id}/deliveries`, { bearer: app.adminKey })).body
    .push[0];
const stateOf = (id: string, ...states: string[]) =>
  eventually(`the push of ${id} to be ${states.join(' or ')}`, async () => {
    const push = await traceOf(id);
    return push !== undefined && states.includes(push.state) ? push : undefined;
  });
async function publishHeld(userId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) ids.push((await publish(userId, number)).id);
  for (const id of ids) expect(await stateOf(id, 'held')).toMatchObject({ reason: 'quiet_hours', attempts: 0 });
  return ids;
}

test('are kept as they are given, and null removes them', async () => {
  const { session } = await newPerson();
  const hours = { from: '22:00', until: '07:00', days: ['fri', 'mon'] };
  const { body } = await change(session, { quiet_hours: { ...hours, more: true }, time_zone: 'America/Santiago' });
  expect(body.quiet_hours).toEqual({ ...hours, days: ['mon', 'fri'] });
  expect((await change(session, { quiet_hours: null })).body.quiet_hours).toBeNull();
  expect((await change(session, { time_zone: null })).body.time_zone).toBeNull();
});

test.each([
  [{ quiet_hours: { from: '22:00', until: '22:00' } }, 'quiet_hours', 'empty_window'],
  [{ quiet_hours: { from: '22:00', until: '23:00', days: [] } }, 'quiet_hours', 'empty_window'],
  [{ quiet_hours: { from: '22:00', until: '23:00', days: ['monday'] } }, 'quiet_hours.days', 'invalid_choice'],
  [{ quiet_hours: { from: '22:00', until: '7:00' } }, 'quiet_hours.until', 'invalid_format'],
  [{ time_zone: '+01:00' }, 'time_zone', 'unknown_time_zone'],
  // Names that only one of PostgreSQL and JavaScript knows, or that differ in their letters.
  [{ time_zone: 'posix/Europe/Madrid' }, 'time_zone', 'unknown_time_zone'],
  [{ time_zone: 'europe/madrid' }, 'time_zone', 'unknown_time_zone'],
])('%j is refused, and nothing changes', async (body, field, code) => {
  const { session } = await newPerson();
  const answer = await change(session, body);
  expect([answer.status, answer.body.errors?.map((each) => [each.field, each.code])]).toEqual([422, [[field, code]]]);
  const { body: after } = await app.api<Preferences>('GET', '/v1/preferences', { bearer: session });
  expect([after.quiet_hours, after.time_zone]).toEqual([null, null]);
});

test('hold pushes, of which more than three of a category become one with their number', async () => {
  const { user, session, token } = await newPerson();
  await beQuiet(session);
  const ids = await publishHeld(user.id, 5);
  const alarm = await publish(user.id, 9, 'alarm');
  await stateOf(alarm.id, 'sent');
  expect(textsTo(token)).toMatchObject([{ body: 'Bill 9' }]);
  await change(session, { quiet_hours: null });
  const newest = ids.pop() ?? '';
  expect(await stateOf(newest, 'sent')).toMatchObject({ reason: 'accepted', held_until: null });
  for (const id of ids) expect(await stateOf(id, 'dropped')).toMatchObject({ reason: 'collapsed' });
  expect(textsTo(token).slice(1)).toEqual([{ title: 'Bills', body: '5 new notifications' }]);
});

test('count only what the user has not read meanwhile, and speak the language of the user', async () => {
  const { user, session, token } = await newPerson('es');
  await beQuiet(session);
  const ids = await publishHeld(user.id, 6);
  const read = await app.api('PATCH', '/v1/notifications/states', {
    bearer: session,
    body: { ids: [ids[0], ids[5]], read: true },
  });
  expect(read.status).toBe(200);
  await change(session, { quiet_hours: null });
  await stateOf(ids[4] ?? '', 'sent');
  for (const id of [ids[0], ids[5]]) expect(await stateOf(id ?? '', 'dropped')).toMatchObject({ reason: 'read' });
  expect(textsTo(token)).toEqual([{ title: 'Facturas', body: '4 notificaciones nuevas' }]);
});

/** The state and the reason of each push, once every one of them is in one of the states. */
const statesOf = (ids: readonly string[], ...states: string[]) =>
  Promise.all(ids.map(async (id) => stateOf(id, ...states).then(({ state, reason }) => `${state}/${reason}`)));
/** Waits until pushes have been released and are held again. */
const heldAgain = (ids: readonly string[]) =>
  eventually('the pushes to be held again', async () => {
    const rows = await app.database.query(
      testSql(
        `select from push_deliveries where notification_id = any ($1::uuid[]) and state = 'held' and holds is not null
           and collapsed is null and collapsed_into is null`,
        [ids],
      ),
    );
    return rows.length === ids.length || undefined;
  });

test('hold all of them again if they have not ended at the known time, and none is lost', async () => {
  const { user, session, token } = await newPerson();
  await beQuiet(session);
  const ids = await publishHeld(user.id, 5);
  // As when the rules of a zone have changed since.
  await app.database.query(testSql('update quiet_holds set held_until = db_now() where user_id = $1', [user.id]));
  await heldAgain(ids);
  expect(textsTo(token)).toEqual([]);
  await change(session, { quiet_hours: null });
  await stateOf(ids[4] ?? '', 'sent');
  expect(textsTo(token)).toEqual([{ title: 'Bills', body: '5 new notifications' }]);
  expect(await statesOf(ids.slice(0, 4), 'dropped')).toEqual(Array(4).fill('dropped/collapsed'));
});

test('do not lose the others when the push that stands for all is refused', async () => {
  const { user, session, token } = await newPerson();
  await beQuiet(session);
  const ids = await publishHeld(user.id, 4);
  const loud = async (key: string) => {
    const body = { user_id: user.id, notification_type: 'pool', category: 'billing', notification_key: key };
    const { id } = (
      await app.api<Notification>('POST', '/admin/v1/notifications', {
        bearer: app.adminKey,
        body: { ...body, description: 'Noise' },
      })
    ).body;
    await stateOf(id, 'held');
    return id;
  };
  const noise = [await loud('noise'), await loud('noise')];
  await app.api('POST', '/v1/notifications/mutes', { bearer: session, body: { filter: 'notification_key:noise' } });
  await change(session, { quiet_hours: null });
  expect(await statesOf(noise, 'muted', 'sent')).toEqual(['muted/muted', 'muted/muted']);
  expect(await statesOf(ids.slice(3), 'sent')).toEqual(['sent/accepted']);
  expect(await statesOf(ids.slice(0, 3), 'dropped')).toEqual(Array(3).fill('dropped/collapsed'));
  expect(textsTo(token)).toEqual([{ title: 'Bills', body: '4 new notifications' }]);
});

test('say of each push why it is not sent when none of them is wanted any more', async () => {
  const { user, session, token } = await newPerson();
  await beQuiet(session);
  const ids = await publishHeld(user.id, 4);
  await change(session, { categories: { billing: { push: 'off' } }, quiet_hours: null });
  await eventually('the end of all pushes', async () => {
    const states = await statesOf(ids, 'dropped', 'held', 'queued');
    return states.every((state) => state === 'dropped/preference_off') || undefined;
  });
  expect(textsTo(token)).toEqual([]);
});

test('leave three pushes as they are, and say until when they are held', async () => {
  const { user, session, token } = await newPerson();
  await beQuiet(session);
  const ids = await publishHeld(user.id, 3);
  const until = (await traceOf(ids[0] ?? ''))?.held_until ?? '';
  expect(Math.abs(Date.parse(until) - Date.now() - 2 * 3_600_000)).toBeLessThan(120_000);
  await change(session, { time_zone: 'Pacific/Honolulu' });
  for (const id of ids) await stateOf(id, 'sent');
  expect(
    textsTo(token)
      .map(({ body }) => body)
      .sort(),
  ).toEqual(['Bill 1', 'Bill 2', 'Bill 3']);
});

test('end with the erasure of the user', async () => {
  const { user, session } = await newPerson();
  await beQuiet(session);
  await publishHeld(user.id, 1);
  await app.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: app.adminKey });
  await eventually('the erasure to end', async () => {
    const rows = await app.database.query(
      testSql(
        `select from quiet_holds where user_id = $1 union all select from push_deliveries where user_id = $1
               union all select from preferences where user_id = $1`,
        [user.id],
      ),
    );
    return rows.length === 0 || undefined;
  });
});
