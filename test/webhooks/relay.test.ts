import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EventType, recordEvent } from '../../src/audit/events.js';
import { sealTask } from '../../src/audit/integrity/seal.js';
import { verifyAudit } from '../../src/audit/integrity/verify.js';
import type { Notification } from '../../src/contract/notification.js';
import { webhookEventSchema } from '../../src/contract/webhook-events.js';
import { webhookEventTypes } from '../../src/contract/webhooks.js';
import { expiryTasks } from '../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { deletePushToken } from '../../src/devices/push-devices.js';
import { nilId } from '../../src/lib/ids.js';
import { includesType } from '../../src/webhooks/catalogue.js';
import { exampleOf } from '../../src/webhooks/examples.js';
import { bodyOf } from '../../src/webhooks/payload.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startFakeGateway } from '../support/mail-gateway.js';
import { readersOf } from '../support/readers.js';
import { testSql } from '../support/sql.js';
import { createUser, login, newEmail, passwordLogin, signIn } from '../support/users.js';

let postern: TestApp;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
const mailSecret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const { admin } = createAdministration(() => postern);
const { createReader, publish } = readersOf(() => postern);

beforeAll(async () => {
  gateway = await startFakeGateway();
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', ALLOW_PRIVATE_NETWORK_TARGETS: 'true', NOTICES: 'none' },
    ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', PUBLIC_URL: 'http://localhost:8080' },
    ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: mailSecret },
  });
});
afterAll(async () => {
  await postern.close();
  await gateway.close();
});

interface Row {
  readonly type: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const rows = <T extends object>(text: string, values: unknown[] = []) =>
  postern.database.query<T>(testSql(text, values));

/** The events of a user, in order, once nothing waits for the relay. */
const eventsOf = (user: { id: string }) =>
  eventually('an empty outbox', async () => {
    const [waiting] = await rows<{ count: number }>('select count(*)::int as count from webhook_outbox');
    return waiting?.count === 0
      ? rows<Row>('select type, sequence, data from webhook_events where user_id = $1 order by sequence', [user.id])
      : undefined;
  });
const typesOf = async (user: { id: string }) => (await eventsOf(user)).map(({ type }) => type);

describe('without a webhook', () => {
  test('nothing is recorded', async () => {
    const { user } = await createReader();
    await publish(user, [{}]);
    expect(await rows('select 1 from webhook_outbox union all select 1 from webhook_events')).toEqual([]);
  });
});

describe('with a webhook', () => {
  beforeAll(async () => {
    // Disabled: events are recorded, so that they can be replayed, and nothing is sent.
    const webhook = { url: 'http://127.0.0.1:9/', events: ['*'] };
    const { body } = await admin<{ id: string }>('POST', '/webhooks', webhook);
    await admin('PATCH', `/webhooks/${body.id}`, { enabled: false });
  });

  const seen = new Map<string, Row>();
  const note = async (user: { id: string }) => {
    const events = await eventsOf(user);
    for (const event of events) seen.set(event.type, event);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    return events.map(({ type }) => type);
  };

  test('changes of a user by operators are events', async () => {
    const user = await createUser(postern);
    const path = `/users/${user.id}`;
    await admin('PATCH', path, { name: 'Ada' });
    await admin('POST', `${path}/lock`, { permanent: true });
    await admin('POST', `${path}/unlock`);
    await admin('PATCH', path, { password: 'another battery of horses' });
    await admin('PATCH', path, { status: 'deactivated' });
    await admin('PATCH', path, { status: 'active' });
    await admin('DELETE', path);
    const all = await note(user);
    expect(all.filter((type) => type !== 'token.ended')).toEqual([
      'user.created',
      'user.updated',
      'user.locked',
      'user.unlocked',
      'credential.changed',
      'user.deactivated',
      'user.updated',
      'user.deleted',
    ]);
    // The password and the deactivation ended all logins.
    expect(all.filter((type) => type === 'token.ended')).toHaveLength(2);
  });

  test('a logout on all other devices is an event for each login that it ended, and a logout everywhere is one', async () => {
    const user = await createUser(postern);
    const [caller, second] = [await signIn(postern, user), await signIn(postern, user)];
    const logOut = (body: object) =>
      postern.api('POST', '/v1/account/logout-everywhere', { bearer: caller.session.token, body });
    const endedIds = async () =>
      (await eventsOf(user)).flatMap(({ type, data }) => (type === 'token.ended' ? [data.authentication_id] : []));
    expect((await logOut({})).status).toBe(200);
    expect(await endedIds()).toEqual([second.authentication.id]);
    expect((await logOut({ all: true })).status).toBe(200);
    expect(await endedIds()).toEqual([second.authentication.id, null]);
  });

  test('an event of a change names only the fields that have changed, and an equal value is no event', async () => {
    const user = await createUser(postern, { name: 'Ada', metadata: { plan: 'free', seats: 1 } });
    const change = (fields: object) => admin('PATCH', `/users/${user.id}`, fields);
    await change({ name: 'Ada', username: user.username, metadata: { plan: 'free', seats: 1 } });
    await change({ name: 'Ada', locale: 'es', metadata: { plan: 'free', seats: 1 } });
    await change({ username: user.username, metadata: { plan: 'pro', seats: 1 } });
    const updates = (await eventsOf(user)).filter(({ type }) => type === 'user.updated');
    expect(updates.map(({ data }) => data.changed_fields)).toEqual([['locale'], ['metadata']]);
  });

  test('logins, devices and tokens are events', async () => {
    const user = await createUser(postern);
    const device = randomUUID();
    await signIn(postern, user, { id: device });
    await signIn(postern, user, { id: device });
    await admin('DELETE', `/users/${user.id}/devices/${device}`);
    await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong', { id: device }) });
    const events = await eventsOf(user);
    await note(user);
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(['login.approved', 'device.added', 'device.removed', 'token.ended', 'login.rejected'].map(count)).toEqual([
      // The second login superseded the first one, and the removal ended the second one.
      2, 1, 1, 2, 1,
    ]);
    expect(events.find(({ type }) => type === 'device.added')?.data).toMatchObject({ device_id: device });
  });

  test('a lock after wrong guesses is an event, and logins of unknown identities are none', async () => {
    const user = await createUser(postern);
    const wrong = (name: string | null) => postern.api('POST', '/v1/tokens', { body: passwordLogin(name, 'wrong') });
    for (let n = 0; n < 5; n += 1) await wrong(user.username);
    await login(postern, user);
    // The lock is recorded by the guess that starts it, before its login is.
    expect(await note(user)).toEqual([
      'user.created',
      ...Array.from({ length: 4 }, () => 'login.rejected'),
      'login.locked',
      'login.rejected',
      'login.rejected',
    ]);
    const count = async () => (await rows<{ n: number }>('select count(*)::int as n from webhook_events'))[0]?.n;
    const before = await count();
    await wrong(`nobody${randomUUID()}`);
    await eventsOf(user);
    expect(await count()).toBe(before);
  });

  test('inboxes have events in the order of their changes, also of publications to many users', async () => {
    const [one, other] = [await createReader(), await createReader()];
    const [first] = await publish(one.user, [{}, {}, {}]);
    const both = [one, other].map(({ user }) => ({ user_id: user.id, notification_type: 'payment', description: 'y' }));
    await admin<Notification[]>('POST', '/notifications', both);
    await admin('PATCH', `/notifications/${first?.id}`, { description: 'changed' });
    await admin('DELETE', `/notifications/${first?.id}`);
    await postern.api('PUT', '/v1/notifications/marker', { bearer: one.token, body: { last_read_sequence: 2 } });
    const archived = { filter: '', through: 3, archived: true };
    await postern.api('PATCH', '/v1/notifications/states', { bearer: one.token, body: archived });
    await note(one.user);
    const inbox = (await eventsOf(one.user)).filter(({ type }) => /^(notification|marker)/.test(type));
    expect(inbox.map(({ type, data }) => [type, data.notification_sequence ?? data.last_read_sequence])).toEqual([
      ['notification.created', 1],
      ['notification.created', 2],
      ['notification.created', 3],
      ['notification.created', 4],
      ['notification.updated', 1],
      ['notification.deleted', 1],
      ['marker.moved', 2],
      ['notification.state_changed', undefined],
    ]);
    expect(inbox.at(-1)?.data).toMatchObject({ notification_ids: null, through: 3, archived: true, read: null });
    expect(inbox[4]?.data).toMatchObject({ notification_id: first?.id, changed_fields: ['description'] });
    expect((await typesOf(other.user)).filter((type) => type === 'notification.created')).toHaveLength(1);
  });

  test('parallel single publications to one inbox have the order of the inbox', async () => {
    const { user } = await createReader();
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        admin('POST', '/notifications', { user_id: user.id, notification_type: 'payment', description: `${n}` }),
      ),
    );
    const created = (await eventsOf(user)).filter(({ type }) => type === 'notification.created');
    expect(created.map(({ data }) => data.notification_sequence)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  test('audit events of other parts are events, and a refused push token is one', async () => {
    const user = await createUser(postern);
    const device = randomUUID();
    await signIn(postern, user, { id: device, gcm_device_token: 'gone-token' });
    const target = { user_id: user.id, device_id: device, channel: 'fcm' } as const;
    await deletePushToken(postern.database.user(user.id), target, 'another-token');
    await deletePushToken(postern.database.user(user.id), target, 'gone-token');
    const record = (type: EventType, data: object) =>
      recordEvent(postern.database.user(user.id), {
        userId: user.id,
        type,
        origin: { actor: 'user' },
        data: { ...data },
      });
    await record('identity.verified', { field: 'email' });
    await record('registration.completed', {});
    await record('guest.merged', { guest_id: randomUUID() });
    await record('recovery.completed', { recovers: 'password' });
    await record('message.failed', { message_id: randomUUID(), kind: 'sms.code' });
    await record('message.undelivered', { message_id: randomUUID(), kind: 'sms.code' });
    await record('message.sent', {});
    const types = await note(user);
    expect(types.slice(-7)).toEqual([
      'push.token_gone',
      'identity.verified',
      'registration.completed',
      'guest.merged',
      'recovery.completed',
      'message.failed',
      'message.failed',
    ]);
  });

  test('a sealed day of audit events is an event of no user, with its own numbers and its anchor', async () => {
    await rows(`
      insert into events (user_id, id, type, actor, created_at)
      select gen_random_uuid(), gen_random_uuid(), 'test', 'user', date_trunc('day', db_now(), 'UTC') - n * interval '1 day'
      from generate_series(2, 3) n`);
    const service = { id: nilId };
    // Transactions of other tests on the server delay it.
    await eventually('two sealed days', async () => {
      await runMaintenanceOnce(postern.database, [sealTask(365 * 86_400_000, () => undefined)]);
      return (await eventsOf(service)).length >= 2 ? true : undefined;
    });
    expect(await note(service)).toEqual(['audit.sealed', 'audit.sealed']);
    const days = await rows(
      `select day::text, events::int, encode(hash, 'hex') as hash from audit_days where hash is not null order by day`,
    );
    expect((await eventsOf(service)).map(({ data: { day, events, hash } }) => ({ day, events, hash }))).toEqual(days);
    const [last] = (await eventsOf(service)).slice(-1);
    const anchors = new Map([[String(last?.data.day), String(last?.data.hash)]]);
    expect(await verifyAudit(postern.database, { eventsAge: 365 * 86_400_000, anchors })).toMatchObject({
      findings: [],
    });
  });

  test('the numbers of events without a user do not start again while there is a webhook', async () => {
    await rows('delete from webhook_events where user_id = $1', [nilId]);
    await runMaintenanceOnce(postern.database, expiryTasks(365 * 86_400_000));
    expect(await rows('select last_sequence from webhook_users where user_id = $1', [nilId])).toEqual([
      { last_sequence: 2 },
    ]);
  });

  test('changes of topics and of publications are events of no user, and subscriptions are events of the user', async () => {
    const user = await createUser(postern);
    await admin('PUT', '/topics/chess', { title: 'Chess' });
    await admin('PUT', '/topics/chess', { title: 'The chess club' });
    await admin('PUT', `/topics/chess/subscriptions/${user.id}`);
    await admin('DELETE', `/topics/chess/subscriptions/${user.id}`);
    await admin('DELETE', '/topics/chess');
    expect(await note(user)).toEqual(['user.created', 'topic.subscribed', 'topic.unsubscribed']);

    const notification = { notification_type: 'payment', description: 'Lunch' };
    const publishTo = async (ids: readonly string[], more: object = {}) => {
      const { body } = await admin<{ id: string }>('POST', '/publications', {
        ...{ to: { user_ids: ids }, notification, ...more },
      });
      return body.id;
    };
    const until = (id: string, status: string) =>
      eventually(`a publication that is ${status}`, async () => {
        const { body } = await admin<{ status: string }>('GET', `/publications/${id}`);
        return body.status === status ? true : undefined;
      });
    const others = await Promise.all(Array.from({ length: 20 }, async () => (await createUser(postern)).id));
    // So slow that it still runs at the end.
    const slow = await publishTo(others, { rate: 1 });
    await until(slow, 'running');
    for (const name of ['pause', 'resume', 'cancel', 'recall']) await admin('POST', `/publications/${slow}/${name}`);
    await until(await publishTo([user.id]), 'done');
    await admin('PUT', '/categories/short', {});
    const impossible = await publishTo([user.id], {
      ...{ notification: { ...notification, category: 'short' } },
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await admin('DELETE', '/categories/short');
    await rows('update notification_publications set due_at = db_now() where id = $1', [impossible]);
    await until(impossible, 'failed');

    const wanted = webhookEventTypes.filter((type) => /^(topic|publication)\./.test(type));
    await eventually('all of these events', async () => {
      for (const event of await eventsOf({ id: nilId })) seen.set(event.type, event);
      return wanted.every((type) => seen.has(type)) ? true : undefined;
    });
    const ofSlow = (await eventsOf({ id: nilId })).filter(({ data }) => data.publication_id === slow);
    expect(ofSlow.map(({ type }) => type)).toEqual([
      ...['publication.started', 'publication.paused', 'publication.resumed'],
      ...['publication.cancelled', 'publication.recalled'],
    ]);
  });

  test('what becomes of mails are events of their user, and so is a suppressed address', async () => {
    await admin('PUT', '/categories/bill', { steps: [{ channel: 'email' }] });
    await admin('PUT', '/categories/slow', { steps: [{ channel: 'email', after: '30d' }] });
    const long = { subject: 'x', text: '{{description}}'.repeat(4000) };
    await admin('PUT', '/categories/long', { steps: [{ channel: 'email' }], templates: { 'email.en': long } });
    const user = await createUser(postern, { email: newEmail() });
    const [first, second, third] = await publish(
      user,
      Array.from({ length: 3 }, () => ({ category: 'bill' })),
    );
    const events = async (pattern: RegExp) => (await eventsOf(user)).filter(({ type }) => pattern.test(type));
    const until = (type: string, count: number) =>
      eventually(`${count} events ${type}`, async () =>
        (await events(/./)).filter((event) => event.type === type).length >= count ? true : undefined,
      );
    await until('delivery.sent', 3);

    for (const [type, of] of [
      ['mail.delivered', first],
      ['mail.hard_bounced', second],
      ['mail.complained', third],
    ] as const) {
      const mail = gateway.received.find(({ notification_id: id }) => id === of?.id);
      const body = JSON.stringify({ type, id: `gateway-${mail?.id}`, email: user.email });
      const [id, at] = [randomUUID(), new Date()];
      const answer = await fetch(`${postern.url}/v1/mail-events/webhook`, {
        ...{ method: 'POST', body },
        headers: {
          ...{ 'content-type': 'application/json', 'webhook-id': id },
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': new Webhook(mailSecret).sign(id, at, body),
        },
      });
      expect(answer.status).toBe(204);
    }
    await rows('delete from suppressions');
    // A text beyond the limit of templates, and a mail that is later than the 72 hours of its lifetime.
    const [tooLong] = await publish(user, [{ category: 'long', description: 'x'.repeat(200) }]);
    const [slow] = await publish(user, [{ category: 'slow' }]);
    await rows(
      `update pending_steps set due_at = db_now() - interval '73 hours' where notification_ids @> array[$1::uuid]`,
      [slow?.id],
    );
    await until('delivery.failed', 1);
    await until('delivery.expired', 1);
    await note(user);
    const told = (await events(/^(delivery|suppression)/)).map(({ type, data }) => [
      type,
      data.notification_id ?? data.suppression_id,
      data.reason,
      data.category,
    ]);
    expect(told.slice(0, 3)).toEqual(
      expect.arrayContaining([first, second, third].map((each) => ['delivery.sent', each?.id, 'accepted', 'bill'])),
    );
    expect(told.slice(3, 7)).toEqual([
      ['delivery.delivered', first?.id, 'delivered', 'bill'],
      ['delivery.bounced', second?.id, 'hard_bounce', 'bill'],
      ['suppression.created', expect.any(String), 'hard_bounce', undefined],
      ['delivery.complained', third?.id, 'complaint', 'bill'],
    ]);
    // Two jobs decided these at the same time, in any order.
    expect(told.slice(7).sort()).toEqual([
      ['delivery.expired', slow?.id, 'ttl', 'slow'],
      ['delivery.failed', tooLong?.id, 'template_too_large', 'long'],
    ]);

    const { body } = await admin<{ id: string }>('POST', '/suppressions', { email: newEmail() });
    await admin('DELETE', `/suppressions/${body.id}`);
    const ofNobody = (await eventsOf({ id: nilId })).filter(({ type }) => type.startsWith('suppression.'));
    for (const event of ofNobody) seen.set(event.type, event);
    expect(ofNobody.map(({ type, data }) => [type, data.suppression_id, data.reason])).toEqual([
      ['suppression.created', body.id, 'manual'],
      ['suppression.deleted', body.id, 'manual'],
    ]);
  });

  test('changed preferences and chosen actions are events, and what changes nothing is none', async () => {
    const { user, token } = await createReader();
    const prefer = (body: object) => postern.api('PATCH', '/v1/preferences', { bearer: token, body });
    await prefer({ time_zone: 'Europe/Madrid', channels: { push: 'off' } });
    await prefer({ time_zone: 'Europe/Madrid' });
    await admin('PATCH', `/users/${user.id}/preferences`, { categories: { payment: { push: 'off' } } });
    const [invitation] = await publish(user, [{ actions: [{ key: 'accept', label: 'Accept' }] }]);
    const act = () => postern.api('POST', `/v1/notifications/${invitation?.id}/actions/accept`, { bearer: token });
    expect([(await act()).status, (await act()).status]).toEqual([200, 200]);
    await note(user);
    const told = (await eventsOf(user)).filter(({ type }) => /^(preference|notification\.[as])/.test(type));
    expect(told.map(({ type, data }) => [type, data.actor, data.changed_fields, data.action])).toEqual([
      ['preference.changed', 'user', ['time_zone', 'channels.push'], undefined],
      ['preference.changed', 'key:environment', ['categories.payment.push'], undefined],
      ['notification.state_changed', null, [], undefined],
      ['notification.action', null, [], 'accept'],
    ]);
    expect(told.at(-1)?.data).toMatchObject({ notification_id: invitation?.id, notification_sequence: 1 });
  });

  test('a transaction that fails leaves no event', async () => {
    const user = await createUser(postern);
    const failing = postern.database.user(user.id).transaction(async (tx) => {
      await recordEvent(tx, { userId: user.id, type: 'user.locked', origin: { actor: 'user' } });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await typesOf(user)).toEqual(['user.created']);
  });

  test('every type of the catalogue was seen, with the members of its example', () => {
    expect([...seen.keys()].sort()).toEqual([...webhookEventTypes].sort());
    for (const [type, { data }] of seen) {
      const known = webhookEventTypes.find((one) => one === type);
      if (known === undefined) throw new Error(`${type} is not in the catalogue`);
      expect([type, ...Object.keys(data).sort()]).toEqual([type, ...Object.keys(exampleOf(known)).sort()]);
    }
  });

  test.each(webhookEventTypes)('a real event %s matches its JSON Schema, which names all its members', (type) => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
    formatsPlugin.default(ajv);
    const validate = ajv.compile(webhookEventSchema(type));
    const row = seen.get(type);
    if (row === undefined) throw new Error(`${type} was not seen`);
    for (const data of [row.data, exampleOf(type)]) {
      const event = { event_id: randomUUID(), type, user_id: randomUUID(), sequence: row.sequence, data };
      const body = JSON.parse(bodyOf(randomUUID(), { ...event, created_at: new Date().toISOString() }));
      expect([validate(body), validate.errors]).toEqual([true, null]);
      expect(validate({ ...body, type: 'other' })).toBe(false);
      const { required, properties: members } = webhookEventSchema(type).properties.data;
      expect([...required].sort()).toEqual(Object.keys(body.data).sort());
      expect(Object.keys(members).sort()).toEqual([...required].sort());
    }
  });
});

test('a pattern includes a type, a group or everything', () => {
  expect(includesType('login.*', 'login.locked')).toBe(true);
  expect(includesType('login.*', 'user.locked')).toBe(false);
  expect(includesType('*', 'user.locked')).toBe(true);
  expect(includesType('user.locked', 'user.locked')).toBe(true);
  expect(includesType('user.lock', 'user.locked')).toBe(false);
});
