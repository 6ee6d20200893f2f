import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Changes } from '../../../../src/contract/changes.js';
import type { Notification } from '../../../../src/contract/notification.js';
import type { InboxCounts } from '../../../../src/contract/notification-states.js';
import type { DeliveryTrace, DryRun } from '../../../../src/contract/push.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventsOf, openStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { idsOf } from '../../../support/readers.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, newPhone, signIn } from '../../../support/users.js';

let fcm: FcmFake;
let postern: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  // Requests wait for a lock of a test, on a busy machine for a long time.
  postern = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
});
afterAll(async () => {
  await postern?.close();
  await fcm.close();
});

const { admin, refused } = createAdministration(() => postern);
const putCategory = async (name: string, body: object = {}) => {
  const { status, text } = await admin('PUT', `/categories/${name}`, body);
  expect([200, 201], text).toContain(status);
};
beforeEach(() => putCategory('billing'));

async function newPerson() {
  const user = await createUser(postern);
  const token = `token-of-${user.username}`;
  const { session } = await signIn(postern, user, { gcm_device_token: token });
  const own = <Body>(path: string) => postern.api<Body>('GET', `/v1/notifications${path}`, { bearer: session.token });
  return { user, token, session: session.token, own };
}
const item = (user: { readonly id: string }, more: object = {}) => ({
  user_id: user.id,
  notification_type: 'pool',
  description: 'x',
  ...more,
});
const publish = async (user: { readonly id: string }, more: object = {}) => {
  const answer = await admin<Notification>('POST', '/notifications', item(user, more));
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};

describe('the category of a notification', () => {
  test('is that of its type, unless the publisher names another one; the list shows neither', async () => {
    const { user, own } = await newPerson();
    const [plain, same, billing] = [
      await publish(user),
      await publish(user, { category: 'pool' }),
      await publish(user, { category: 'billing' }),
    ];
    const { body } = await own<(Notification & { extra: { category: string } })[]>('?include=extra');
    expect(body.map(({ id, extra }) => [id, extra.category])).toEqual([
      [billing.id, 'billing'],
      [same.id, 'pool'],
      [plain.id, 'pool'],
    ]);
    const list = await own<Notification[]>('');
    expect(list.body).toEqual([billing, same, plain]);
    expect(list.text).not.toContain('category');
  });

  test('is a field of every filter: lists, changes, streams, states and mutes', async () => {
    const { user, own, session } = await newPerson();
    const stream = await openStream(postern.url, { bearer: session, query: { filter: 'category:billing' } });
    const [plain, billing] = [await publish(user), await publish(user, { category: 'billing' })];
    const listed = async (filter: string) => idsOf((await own<Notification[]>(`?filter=${filter}`)).body);
    expect(await listed('category:eq:billing')).toEqual([billing.id]);
    expect(await listed('category:eq:pool')).toEqual([plain.id]);
    expect(await listed('category:in:pool;billing')).toEqual([billing.id, plain.id]);
    expect(await listed('category:neq:billing')).toEqual([plain.id]);
    const { body: changes } = await own<Changes>('/changes?after=0&filter=category:billing');
    expect(changes.changes.map(({ id }) => id)).toEqual([billing.id]);
    expect(idsOf(await eventsOf<Notification>(stream, 'message', 1))).toEqual([billing.id]);
    stream.destroy();
    await postern.api('PATCH', '/v1/notifications/states', {
      bearer: session,
      body: { filter: 'category:billing', through: billing.sequence, read: true },
    });
    const { body: counts } = await own<InboxCounts>('/counts?by=category');
    expect([counts.unread, counts.by]).toEqual([1, { pool: { unseen: 1, unread: 1, is_capped: false } }]);
  });

  test('is counted with by=category', async () => {
    const { user, own } = await newPerson();
    for (const category of [undefined, 'billing', 'billing']) await publish(user, { category });
    const { body } = await own<InboxCounts>('/counts?by=category');
    expect(
      Object.entries(body.by)
        .map(([name, { unread }]) => [name, unread])
        .sort(),
    ).toEqual([
      ['billing', 2],
      ['pool', 1],
    ]);
  });

  test('that does not exist is refused with the nearest name, among all other faults', async () => {
    const { user } = await newPerson();
    const { status, body } = await admin<ProblemAnswer>('POST', '/notifications', [
      item(user),
      item(user, { category: 'biling', url: 'javascript:x' }),
    ]);
    expect([status, body.errors.map(({ field, code, message }) => [field, code, message])]).toEqual([
      422,
      [
        ['1.url', 'invalid_url', expect.any(String)],
        ['1.category', 'unknown_category', 'There is no category with this name. Did you mean billing?'],
      ],
    ]);
  });

  test('is known to another instance at the first publication', async () => {
    // It lives for this test only: it learns of changes later, and would take some of the pushes.
    const other = await postern.another();
    onTestFinished(() => other.close());
    const { user } = await newPerson();
    await putCategory('brand.new');
    const body = item(user, { category: 'brand.new' });
    expect((await other.api('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body })).status).toBe(201);
  });

  test('gets a suggestion for the first 20 unknown names of a request only, because each is compared with all', async () => {
    const { user } = await newPerson();
    const names = Array.from({ length: 25 }, (_, index) => `billing${index}`);
    const items = [...names, ...names].map((category) => item(user, { category }));
    const { status, body } = await admin<ProblemAnswer>('POST', '/notifications', items);
    expect(status).toBe(422);
    const suggested = new Set(
      body.errors
        .filter(({ message }) => message.includes('Did you mean'))
        .map(({ field }) => Number.parseInt(field ?? '', 10) % 25),
    );
    expect([suggested.size, body.errors.length]).toEqual([20, 50]);
  });

  test('that is unknown makes no publisher wait for a second connection while it holds one', async () => {
    const { user } = await newPerson();
    const items = [item(user, { category: 'nobody.knows' }), item(user)];
    // Nobody can read the categories until each connection has a transaction of a publisher.
    const answers = await postern.database.transaction(async (tx) => {
      await tx.query(testSql('lock table notification_categories in access exclusive mode'));
      const all = Promise.all(Array.from({ length: 40 }, () => admin('POST', '/notifications', items)));
      await eventually('20 transactions', async () => {
        const running = await postern.database.query(
          testSql('select from pg_stat_activity where datname = current_database() and xact_start is not null'),
        );
        return running.length >= 20 ? true : undefined;
      });
      return { all };
    });
    expect(new Set((await answers.all).map(({ status }) => status))).toEqual(new Set([422]));
  });

  test('does not check data that is too long, which could take any time', async () => {
    const { user } = await newPerson();
    await putCategory('billing', { data_schema: { properties: { list: { items: { type: 'string' } } } } });
    const data = { list: Array.from({ length: 5000 }, () => 1) };
    expect(await refused('POST', '/notifications', item(user, { category: 'billing', data }))).toEqual({
      status: 422,
      errors: [['data', 'too_many_bytes']],
    });
    const preview = { channel: 'push', notification: { description: 'x', data } };
    expect(await refused('POST', '/categories/billing/preview', preview)).toEqual({
      status: 422,
      errors: [['notification.data', 'too_many_bytes']],
    });
  });

  test('checks data against its schema when it is published and when it is changed', async () => {
    const { user } = await newPerson();
    const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    await putCategory('billing', { data_schema: schema });
    const withData = (data?: object) => item(user, { category: 'billing', ...(data && { data }) });
    expect(await refused('POST', '/notifications', withData({ sum: '1' }))).toEqual({
      status: 422,
      errors: [['data.sum', 'data_invalid']],
    });
    expect(await refused('POST', '/notifications', withData())).toEqual({
      status: 422,
      errors: [['data', 'data_invalid']],
    });
    const { id } = await publish(user, { category: 'billing', data: { sum: 1 } });
    expect(await refused('PATCH', `/notifications/${id}`, { data: {} })).toEqual({
      status: 422,
      errors: [['data', 'data_invalid']],
    });
    expect((await admin('PATCH', `/notifications/${id}`, { data: { sum: 2 } })).status).toBe(200);
    expect((await admin('PATCH', `/notifications/${id}`, { description: 'y' })).status).toBe(200);
    expect(await refused('PATCH', `/notifications/${id}`, { category: 'pool' })).toEqual({
      status: 422,
      errors: [['category', 'unknown_member']],
    });
  });

  test('stays with the notification when the category is deleted', async () => {
    const { user, own } = await newPerson();
    await putCategory('short');
    const { id } = await publish(user, { category: 'short' });
    await admin('DELETE', '/categories/short');
    expect(idsOf((await own<Notification[]>('?filter=category:short')).body)).toEqual([id]);
    expect(await refused('POST', '/notifications', item(user, { category: 'short' }))).toMatchObject({ status: 422 });
  });
});

describe('replace_key', () => {
  test('removes the older notification of the user, across categories, and offline clients learn it', async () => {
    const [{ user, own }, stranger] = [await newPerson(), await newPerson()];
    const first = await publish(user, { replace_key: 'order-7' });
    const kept = [await publish(user, { replace_key: 'order-8' }), await publish(user)];
    const foreign = await publish(stranger.user, { replace_key: 'order-7' });
    const { body: before } = await own<Changes>('/changes?after=0');
    const second = await publish(user, { replace_key: 'order-7', category: 'billing' });
    const list = await own<Notification[]>('');
    expect(idsOf(list.body)).toEqual([second.id, ...idsOf(kept).reverse()]);
    expect(list.headers['x-total-count']).toBe('3');
    const { body: after } = await own<Changes>(`/changes?after=${before.after}`);
    expect(after.changes.map(({ id, operation }) => [id, operation])).toEqual([
      [first.id, 'delete'],
      [second.id, 'create'],
    ]);
    expect(idsOf((await stranger.own<Notification[]>('')).body)).toEqual([foreign.id]);
  });

  test('works for many users and items in one request', async () => {
    const people = [await newPerson(), await newPerson()];
    const users = people.map(({ user }) => user.id);
    const body = (n: number) => [
      { user_ids: users, notification_type: 'pool', description: `a${n}`, replace_key: 'a' },
      { user_ids: users, notification_type: 'pool', description: `b${n}`, replace_key: 'b' },
      { user_ids: users, notification_type: 'pool', description: `c${n}` },
    ];
    for (const n of [1, 2]) expect((await admin('POST', '/notifications', body(n))).status).toBe(201);
    for (const { own } of people) {
      const { body: list } = await own<Notification[]>('');
      expect(list.map(({ description }) => description)).toEqual(['c2', 'b2', 'a2', 'c1']);
    }
  });

  test('twice for one user in one request is refused', async () => {
    const { user } = await newPerson();
    expect(
      await refused('POST', '/notifications', [item(user, { replace_key: 'a' }), item(user, { replace_key: 'a' })]),
    ).toEqual({
      status: 422,
      errors: [['1.replace_key', 'duplicate_items']],
    });
  });

  test('leaves one notification when many requests use it at once', async () => {
    const people = [await newPerson(), await newPerson()];
    const users = people.map(({ user }) => user.id);
    for (let round = 0; round < raceRounds; round += 1) {
      const statuses = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const body = {
            notification_type: 'pool',
            description: `${n}`,
            replace_key: 'race',
            ...(n % 3 === 0 ? { user_ids: n % 2 === 0 ? users : users.toReversed() } : { user_id: users[n % 2] }),
          };
          return (await admin('POST', '/notifications', body)).status;
        }),
      );
      expect(new Set(statuses)).toEqual(new Set([201]));
      for (const { own } of people) {
        const list = await own<Notification[]>('');
        expect([list.body.length, list.headers['x-total-count']]).toEqual([1, '1']);
      }
    }
  });
});

describe('a recipient', () => {
  test('may be named by a proven address, a user name or the external id', async () => {
    const [email, phone, external] = [newEmail(), newPhone(), `ext-${Date.now()}`];
    const user = await createUser(postern, { email, phone, external_id: external });
    const names = [
      `email:${email.toUpperCase()}`,
      `phone:${phone}`,
      `username:${user.username}`,
      `external:${external}`,
      user.id,
    ];
    for (const name of names) expect((await publish({ id: name })).user_id).toBe(user.id);
    expect(
      await refused('POST', '/notifications', {
        ...item(user),
        user_id: undefined,
        user_ids: [`email:${email}`, user.id],
      }),
    ).toEqual({
      status: 422,
      errors: [['user_ids.1', 'duplicate_items']],
    });
  });

  test('by an address that is not proven, or that nobody has, is unknown', async () => {
    const email = newEmail();
    const user = await createUser(postern, { email });
    await admin('PATCH', `/users/${user.id}`, { email_verified: false });
    const unknown = { status: 422, errors: [['user_id', 'unknown_user']] };
    for (const name of [`email:${email}`, `email:${newEmail()}`, 'phone:+1', 'username:nobody.at.all']) {
      expect([name, await refused('POST', '/notifications', item({ id: name }))]).toEqual([name, unknown]);
    }
    expect(await refused('POST', '/notifications', item({ id: 'mail:x' }))).toEqual({
      status: 422,
      errors: [['user_id', 'invalid_format']],
    });
  });
});

describe('a push', () => {
  const traceOf = async (id: string) => (await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`)).body;
  const pushOf = (id: string) =>
    eventually(`the end of the push of ${id}`, async () => {
      const [push] = (await traceOf(id)).push;
      return push === undefined || push.state === 'queued' || push.reason === 'being_prepared'
        ? undefined
        : [push.state, push.reason];
    });
  const mute = (session: string, filter: string) =>
    postern.api('POST', '/v1/notifications/mutes', { bearer: session, body: { filter } });

  test('is not made for a category without steps, and the delivery status says so', async () => {
    const { user, token } = await newPerson();
    await putCategory('silent', { steps: [] });
    const silent = await publish(user, { category: 'silent' });
    const loud = await publish(user);
    expect(await pushOf(loud.id)).toEqual(['sent', 'accepted']);
    expect(await pushOf(silent.id)).toEqual(['none', 'no_step']);
    expect(fcm.received.filter(({ to }) => to === token)).toHaveLength(1);
    const { body } = await admin<DryRun>('POST', '/notifications?dry_run=true', item(user, { category: 'silent' }));
    expect(body.push).toEqual({ apns: 0, fcm: 0, web_push: 0, muted: 0 });
  });

  test('ends if the category is off by default, unless it is critical', async () => {
    const { user } = await newPerson();
    await putCategory('news', { defaults: { push: 'off' } });
    expect(await pushOf((await publish(user, { category: 'news' })).id)).toEqual(['dropped', 'preference_off']);
    await putCategory('alarm', { defaults: { push: 'off' }, is_critical: true });
    expect(await pushOf((await publish(user, { category: 'alarm' })).id)).toEqual(['sent', 'accepted']);
  });

  test('of a critical category ignores mutes, which may filter by category', async () => {
    const { user, session } = await newPerson();
    await putCategory('alarm', { is_critical: true });
    await mute(session, 'category:in:billing;alarm');
    expect(await pushOf((await publish(user, { category: 'billing' })).id)).toEqual(['muted', 'muted']);
    expect(await pushOf((await publish(user, { category: 'alarm' })).id)).toEqual(['sent', 'accepted']);
    expect(await pushOf((await publish(user)).id)).toEqual(['sent', 'accepted']);
  });

  test('has the text of the template in the language of the user, cut to what fits', async () => {
    const { user, token } = await newPerson();
    await admin('PATCH', `/users/${user.id}`, { locale: 'es-MX', name: 'Ada' });
    // A name of its own: the other instance may still know an earlier definition of a name that it has seen.
    await putCategory('letter', {
      templates: {
        'push.en': { text: 'Hello' },
        'push.es': {
          title: '{{actor}} en {{app}}',
          text: '{{user.name}}: {{data.sum | currency "EUR"}} {{data.more}}',
        },
      },
    });
    const more = 'm'.repeat(4000);
    const published = await publish(user, { category: 'letter', actor: 'Grace\nHopper', data: { sum: 12.5, more } });
    expect(await pushOf(published.id)).toEqual(['sent', 'accepted']);
    const [push] = fcm.received.filter(({ to }) => to === token);
    expect(push?.content.notification).toEqual({
      title: 'Grace Hopper en Postern',
      body: expect.stringMatching(/^Ada: 12,50\s€ m+…$/),
    });
  });

  test('fails if the template makes too much text', async () => {
    const { user } = await newPerson();
    const loop = '{{#data.a}}{{#data.a}}{{#data.a}}x{{/data.a}}{{/data.a}}{{/data.a}}';
    await putCategory('bomb', { templates: { 'push.en': { text: loop } } });
    const { id } = await publish(user, { category: 'bomb', data: { a: Array.from({ length: 100 }, () => 1) } });
    expect(await pushOf(id)).toEqual(['failed', 'template_too_large']);
  });

  test('ends if the user has read the notification before it is sent', async () => {
    const { user, own, session, token } = await newPerson();
    fcm.behave({ status: 503 }, token);
    const { id, sequence } = await publish(user);
    await eventually('a first attempt', async () => ((await traceOf(id)).push[0]?.attempts ?? 0) > 0 || undefined);
    fcm.behave({ status: 200 }, token);
    await postern.api('PUT', '/v1/notifications/marker', { bearer: session, body: { last_read_sequence: sequence } });
    await postern.database.query(testSql('update graphile_worker._private_jobs set run_at = now()'));
    await postern.database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
    expect(await pushOf(id)).toEqual(['dropped', 'read']);
    expect((await own<Notification[]>('')).body).toHaveLength(1);
  });

  test('replaces on the device the push of the notification with the same key', async () => {
    const { user, token } = await newPerson();
    for (const key of ['k', 'k', 'l'])
      expect(await pushOf((await publish(user, { replace_key: key })).id)).toEqual(['sent', 'accepted']);
    const tags = fcm.received.filter(({ to }) => to === token).map(({ content }) => content.android.collapse_key);
    expect([tags.length, new Set(tags).size, tags[0] === tags[1]]).toEqual([3, 2, true]);
  });
});
