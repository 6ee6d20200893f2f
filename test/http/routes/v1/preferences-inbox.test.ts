import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { InboxCounts } from '../../../../src/contract/notification-states.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { queriesOf } from '../../../support/queries.js';
import { createUser, signIn } from '../../../support/users.js';

/** The choice whether notifications of a category come to the inbox. */

let fcm: FcmFake;
let app: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' });
  const define = (name: string, body: object) =>
    app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body });
  await define('billing', {});
  await define('untouched', {});
  await define('digest', { defaults: { inbox: 'off' } });
  await define('alarm', { is_critical: true, defaults: { inbox: 'off' } });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});

interface Person {
  readonly id: string;
  readonly session: string;
}
async function newPerson(categories: object = {}): Promise<Person> {
  const user = await createUser(app);
  const { session } = await signIn(app, user, { gcm_device_token: `token-of-${user.username}` });
  const person = { id: user.id, session: session.token };
  await choose(person, categories);
  return person;
}
const choose = ({ session }: Person, categories: object) =>
  app.api('PATCH', '/v1/preferences', { bearer: session, body: { categories } });

const content = { notification_type: 'pool', description: 'A new pool' };
const publish = (body: object, by = app) =>
  by.api<Notification>('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
const counts = async ({ session }: Person, by = '') =>
  (await app.api<InboxCounts>('GET', `/v1/notifications/counts${by}`, { bearer: session })).body;
const list = async ({ session }: Person, query = '') =>
  (await app.api<Notification[]>('GET', `/v1/notifications?include=extra${query}`, { bearer: session })).body;
const unread = async (person: Person) => (await counts(person)).unread;

test('a hidden notification is in the list, and in no count and no tab', async () => {
  const person = await newPerson({ billing: { inbox: 'off' } });
  const { body } = await publish({ ...content, user_id: person.id, category: 'billing' });
  await publish({ ...content, user_id: person.id });
  expect(await counts(person, '?by=category')).toMatchObject({ unseen: 1, unread: 1, by: { pool: { unread: 1 } } });
  const [, hidden] = await list(person);
  expect(hidden).toMatchObject({ id: body.id, extra: { state: { read: true, archived: true } } });
  for (const [view, length] of [
    ['inbox', 1],
    ['archived', 0],
    ['snoozed', 0],
  ] as const) {
    expect([view, (await list(person, `&view=${view}`)).length]).toEqual([view, length]);
  }
  const plain = await app.api<Notification[]>('GET', '/v1/notifications', { bearer: person.session });
  expect(plain.body).toHaveLength(2);
  const marker = await app.api<{ unread_count: number }>('GET', '/v1/notifications/marker', { bearer: person.session });
  expect(marker.body.unread_count).toBe(1);
});

test('every way to publish looks the choice up, for each of its users', async () => {
  const [off, on] = [await newPerson({ billing: { inbox: 'off' } }), await newPerson()];
  const both = { user_ids: [off.id, on.id], category: 'billing' };
  await publish({ ...content, user_id: off.id, category: 'billing', replace_key: 'one' });
  await publish({ ...content, ...both });
  await app.api('POST', '/admin/v1/notifications/batch', {
    bearer: app.adminKey,
    body: [
      { ...content, user_id: off.id, category: 'billing' },
      { ...content, user_id: on.id, category: 'billing' },
      { ...content, user_id: off.id },
    ],
  });
  await Promise.all(
    [off, on].flatMap(({ id }) => [
      publish({ ...content, user_id: id, category: 'billing' }),
      publish({ ...content, user_id: id, category: 'billing' }),
    ]),
  );
  expect([await unread(off), await unread(on)]).toEqual([1, 4]);
  expect((await list(off)).length).toBe(6);
});

test('the category of a type can be hidden too, and an earlier notification stays as it was', async () => {
  const person = await newPerson();
  await publish({ ...content, user_id: person.id });
  await choose(person, { pool: { inbox: 'off' } });
  await publish({ ...content, user_id: person.id });
  expect(await unread(person)).toBe(1);
  await choose(person, { pool: { inbox: null } });
  await publish({ ...content, user_id: person.id });
  expect(await unread(person)).toBe(2);
});

test('a category that is off by default comes to those who chose it, and a critical one to everybody', async () => {
  const [chosen, other] = [await newPerson({ digest: { inbox: 'on' } }), await newPerson()];
  for (const category of ['digest', 'alarm']) await publish({ ...content, user_ids: [chosen.id, other.id], category });
  expect([await unread(chosen), await unread(other)]).toEqual([2, 1]);
});

test('a publication takes no more statements, whether somebody has chosen or not', async () => {
  const person = await newPerson({ billing: { inbox: 'off' } });
  const statements = async (category: string) =>
    (await queriesOf(() => publish({ ...content, user_id: person.id, category }))).flatMap(({ name }) =>
      // Pushes are created in the background.
      name === undefined || name.startsWith('push_') ? [] : name,
    );
  await statements('untouched');
  expect(await statements('billing')).toEqual(['notifications_publish_one']);
  expect(await statements('untouched')).toEqual(['notifications_publish_one']);
  expect(app.services.categories.known.isHidden('untouched')).toBeNull();
  expect(app.services.categories.known.isHidden('billing')).toBe(false);
});

test('another instance looks the choice up within two seconds', async () => {
  const other = await app.another({}, { blockInterval: 100 });
  try {
    await app.api('PUT', '/admin/v1/categories/news', { bearer: app.adminKey, body: {} });
    const person = await newPerson({ news: { inbox: 'off' } });
    await eventually(
      'the other instance to know',
      async () => other.services.categories.known.isHidden('news') === false || undefined,
    );
    await publish({ ...content, user_id: person.id, category: 'news' }, other);
    expect(await unread(person)).toBe(0);
  } finally {
    await other.close();
  }
});

test('a push that always goes is sent for a hidden notification', async () => {
  const person = await newPerson({ billing: { inbox: 'off' } });
  const { body } = await publish({ ...content, user_id: person.id, category: 'billing' });
  await eventually('the push to be sent', async () => {
    const path = `/admin/v1/notifications/${body.id}/deliveries`;
    const trace = await app.api<DeliveryTrace>('GET', path, { bearer: app.adminKey });
    return trace.body.push.find(({ state }) => state === 'sent');
  });
});
