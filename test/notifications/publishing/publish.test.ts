import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotificationInput } from '../../../src/contract/notification.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { maxDeliveries } from '../../../src/notifications/publishing/limits.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  createInbox,
  createInboxes,
  createTestNotifications,
  errorsOf,
  inboxRowOf,
  input,
  newestFirst,
  publishAll,
} from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
});
afterAll(() => test.drop());

const publish = (inputs: readonly NotificationInput[]) =>
  publishAll({ database: test.database, notifications }, inputs);
const listOf = async (userId: string) => (await notifications.list(userId, { ...newestFirst, limit: 100 }))?.items;
const inboxOf = () => createInbox(test.database);

describe('publish', () => {
  it('stores every field and returns what the list shows', async () => {
    const user = await inboxOf();
    const fields = {
      actor_id: randomUUID(),
      actor: 'Grace “Amazing” Hopper 😀',
      notification_type: 'pool',
      notification_key: 'invitation',
      object_id: randomUUID(),
      object_data_number: -12.5,
      object_data_string: 'Lunch',
      description: "Robert'); DROP TABLE notifications;--\n\\ % _ $1 {a,b} NULL",
    };
    const [created] = await publish([input(user, fields)]);
    expect(created).toEqual({
      ...fields,
      id: expect.any(String),
      user_id: user,
      sequence: 1,
      image: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      updated_at: created?.created_at,
    });
    expect(await listOf(user)).toEqual([created]);
  });

  it('stores absent and null members as null, but the string as empty', async () => {
    const user = await inboxOf();
    const nulls = { actor_id: null, actor: null, notification_key: null, object_id: null, object_data_number: null };
    const created = await publish([input(user), input(user, { ...nulls, image: null, image_id: null })]);
    for (const notification of created) {
      expect(notification).toMatchObject({ ...nulls, object_data_string: '', image: null });
    }
    expect(await listOf(user)).toEqual(created.toReversed());
  });

  it('returns ids in lower case, even if the request has them in upper case', async () => {
    const user = await inboxOf();
    const actor = '582A5ABB-1335-4794-4855-11E067B8C55E';
    const [created] = await publish([input(user.toUpperCase(), { actor_id: actor, object_id: actor })]);
    const lower = actor.toLowerCase();
    expect(created).toMatchObject({ user_id: user, actor_id: lower, object_id: lower });
    expect(await listOf(user)).toEqual([created]);
  });

  it('returns notifications in the order of the request, and numbers each inbox in that order', async () => {
    const [ann = '', bob = '', cy = ''] = await createInboxes(test.database, 3);
    const created = await publish([
      { user_ids: [cy, ann, bob], notification_type: 'pool', description: 'first' },
      input(bob, { description: 'second' }),
      { user_ids: [bob, cy], notification_type: 'pool', description: 'third' },
    ]);
    expect(created.map(({ user_id, sequence, description }) => [user_id, sequence, description])).toEqual([
      [cy, 1, 'first'],
      [ann, 1, 'first'],
      [bob, 1, 'first'],
      [bob, 2, 'second'],
      [bob, 3, 'third'],
      [cy, 2, 'third'],
    ]);
    expect(await inboxRowOf(test.database, bob)).toEqual({
      last_change_sequence: 3,
      last_time: created[4]?.created_at,
      total: 3,
    });
    expect((await listOf(bob))?.map(({ description }) => description)).toEqual(['third', 'second', 'first']);
  });

  it('puts the times of one inbox a microsecond apart, even when the clock is behind the last one', async () => {
    const user = await inboxOf();
    const future = '2999-12-31T23:59:59.999998Z';
    await test.database.query(testSql('update inboxes set last_time = $2 where user_id = $1', [user, future]));
    const created = await publish([input(user), input(user), input(user)]);
    expect(created.map(({ created_at }) => created_at)).toEqual([
      '2999-12-31T23:59:59.999999Z',
      '3000-01-01T00:00:00.000000Z',
      '3000-01-01T00:00:00.000001Z',
    ]);
  });

  it('creates one image from a URL that a request repeats, and accepts images by id', async () => {
    const [ann = '', bob = ''] = await createInboxes(test.database, 2);
    const url = 'https://images.example.com/a.jpg';
    const [one, two, three] = await publish([
      { user_ids: [ann, bob], notification_type: 'pool', description: 'x', image: url },
      input(ann, { image: url }),
    ]);
    expect(one?.image).toMatchObject({ url, full_screen_url: url, thumbnail_url: url });
    expect([two?.image, three?.image]).toEqual([one?.image, one?.image]);
    const [byId] = await publish([input(bob, { image_id: one?.image?.id.toUpperCase() ?? '' })]);
    expect(byId?.image).toEqual(one?.image);
    expect(await listOf(bob)).toEqual([byId, two]);
  });

  it('publishes the maximum number of deliveries of a request', async () => {
    const users = await createInboxes(test.database, maxDeliveries / 2);
    const item = { user_ids: users, notification_type: 'request', description: 'x' };
    const created = await publish([item, item]);
    expect(created.map(({ user_id }) => user_id)).toEqual([...users, ...users]);
    const [wrong] = await test.database.query<{ count: number }>(
      testSql('select count(*) from inboxes where user_id = any ($1) and (total, last_change_sequence) <> (2, 2)', [
        users,
      ]),
    );
    expect(wrong?.count).toBe(0);
  });
});

describe('a publication whose onPart callback throws', () => {
  it('is rolled back, and runs no statement after the end of its transaction', async () => {
    const users = await createInboxes(test.database, 2);
    await publish(Array.from({ length: 1100 }, () => input(users[0] ?? '')));
    // As an older release leaves it: full blocks are not counted.
    await test.database.query(testSql('update inboxes set counted_blocks = 0 where user_id = any ($1)', [users]));
    const heads = () =>
      test.database.query(
        testSql('select to_jsonb(i) as head from inboxes i where user_id = any ($1) order by total', [users]),
      );
    const before = await heads();
    const request = users.map((user) => input(user));
    const failing = test.database.transaction((tx) =>
      notifications.publish(tx, request, [], () => {
        throw new Error('the callback failed');
      }),
    );
    await expect(failing).rejects.toThrow('the callback failed');
    expect(await heads()).toEqual(before);
  });
});

describe('a refused request', () => {
  it('names every error of every item, and writes nothing', async () => {
    const user = await inboxOf();
    const unknown = randomUUID();
    const act = publish([
      input(user),
      input(unknown, { notification_type: 'toString', object_data_number: 1234567890123456 }),
      { user_ids: [user, unknown, user.toUpperCase()], notification_type: 'pool', description: 'x' },
      { notification_type: 'pool', description: 'x', image: 'https://bad.example/a.jpg' },
      { ...input(user), user_ids: [user], image: 'https://good.example/', image_id: unknown },
    ]);
    expect(await errorsOf(act)).toEqual([
      { field: '1.user_id', code: 'unknown_user' },
      { field: '1.notification_type', code: 'invalid_choice', params: { allowed: 'payment, pool, request' } },
      { field: '1.object_data_number', code: 'invalid_number' },
      { field: '2.user_ids.1', code: 'unknown_user' },
      { field: '2.user_ids.2', code: 'duplicate_items' },
      { field: '3.user_id', code: 'required' },
      { field: '3.image', code: 'invalid_url', params: { reason: 'a bad example' } },
      { field: '4.user_ids', code: 'conflicting_fields', params: { fields: 'user_id, user_ids' } },
      { field: '4.user_ids.0', code: 'duplicate_items' },
      { field: '4.image', code: 'conflicting_fields', params: { fields: 'image_id, image' } },
      { field: '4.image_id', code: 'unknown_image' },
    ]);
    expect(await inboxRowOf(test.database, user)).toMatchObject({ last_change_sequence: 0, last_time: null, total: 0 });
  });

  it('rolls back notifications of known users and new images when one user is unknown', async () => {
    const user = await inboxOf();
    const url = `https://images.example.com/${randomUUID()}`;
    const item = { notification_type: 'pool', description: 'x', image: url };
    const act = publish([
      { ...item, user_ids: [user, randomUUID(), randomUUID()] },
      { ...item, user_id: user },
    ]);
    expect(await errorsOf(act)).toEqual([
      { field: '0.user_ids.1', code: 'unknown_user' },
      { field: '0.user_ids.2', code: 'unknown_user' },
    ]);
    expect(await inboxRowOf(test.database, user)).toMatchObject({ last_change_sequence: 0, total: 0 });
    expect(await listOf(user)).toEqual([]);
    expect(await test.database.query(testSql('select id from images where external_url = $1', [url]))).toEqual([]);
  });

  it('names fields without an index when the request is one object', async () => {
    const single = (request: NotificationInput) =>
      errorsOf(test.database.transaction((tx) => notifications.publish(tx, request)));
    expect(await single(input(randomUUID()))).toEqual([{ field: 'user_id', code: 'unknown_user' }]);
    const user = await inboxOf();
    expect(await single({ user_ids: [user, randomUUID()], notification_type: 'pool', description: 'x' })).toEqual([
      { field: 'user_ids.1', code: 'unknown_user' },
    ]);
  });

  it('names the limit when it has too many deliveries', async () => {
    const users = await createInboxes(test.database, maxDeliveries / 2);
    const item = { user_ids: users, notification_type: 'request', description: 'x' };
    expect(await errorsOf(publish([item, item, input(users[0] ?? '')]))).toEqual([
      { code: 'too_many_deliveries', params: { max: maxDeliveries } },
    ]);
  });
});
