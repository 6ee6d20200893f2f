import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { allQueriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let fresh: TestDatabase;
let database: Database;
let parts: ReturnType<typeof createStepParts>;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  parts = createStepParts(database);
});
afterEach(async () => {
  await stepClock(database, '0');
  const tables = [
    'graphile_worker._private_jobs',
    'pending_steps',
    'push_fan_outs',
    'step_deliveries',
    'step_refusals',
  ];
  for (const table of tables) await database.query(testSql(`delete from ${table}`));
});

const item = (user_ids: readonly string[], category?: string) => ({
  ...{ user_ids: [...user_ids], notification_type: 'payment', description: 'x' },
  ...(category !== undefined && { category }),
});
const publish = (...items: ReturnType<typeof item>[]): Promise<Notification[]> =>
  database.transaction((tx) => parts.notifications.publish(tx, items));
const rows = (text: string) => database.query<Record<string, unknown>>(testSql(text));
const mailsOf = (notifications: readonly Notification[]) =>
  Promise.all(notifications.map((notification) => parts.mailOf(notification)));

describe('publishing', () => {
  test('to a category with only the push at once sends the statements that it has always sent', async () => {
    const users = await parts.createPeople(3);
    parts.putCategory('billing', {});
    await publish(item(users, 'billing'));
    const many = await allQueriesOf(() => publish(item(users, 'billing')));
    const one = await allQueriesOf(() =>
      parts.notifications.publishOne({ user_id: users[0] ?? '', notification_type: 'payment', description: 'x' }),
    );
    expect(many.map(({ name, text }) => name ?? text)).toEqual([
      'begin',
      'notifications_publish_by_key',
      'notifications_publish_inboxes',
      'notifications_publish_rows',
      'commit',
    ]);
    expect(one.map(({ name, text }) => name ?? text)).toEqual(['notifications_publish_one']);
    expect(await rows('select size from push_fan_outs order by size')).toEqual([{ size: 1 }, { size: 3 }, { size: 3 }]);
    expect(await rows('select from pending_steps')).toEqual([]);
  });

  test('stores one row for each step, whatever the number of users, and pushes only where a step says so', async () => {
    const users = await parts.createPeople(9);
    parts.putCategory('push', {});
    parts.putCategory('both', { steps: [{ channel: 'push' }, { channel: 'email', after: '1h', if: 'unread' }] });
    parts.putCategory('mail', { steps: [{ channel: 'email' }] });
    parts.putCategory('silent', { steps: [] });
    const groups = [users.slice(0, 3), users.slice(3, 6), users.slice(6, 8), users.slice(8)] as const;
    const [first] = await publish(
      ...[item(groups[0], 'push'), item(groups[1], 'both'), item(groups[2], 'mail'), item(groups[3], 'silent')],
    );
    expect(await rows('select size, user_ids from push_fan_outs')).toEqual([
      { size: 6, user_ids: [...groups[0], ...groups[1]] },
    ]);
    const steps = `select channel, condition, size, user_ids, extract(epoch from due_at - published_at)::int as after
                   from pending_steps order by due_at`;
    expect(await rows(steps)).toEqual([
      { channel: 'email', condition: 'always', size: 2, user_ids: groups[2], after: 0 },
      { channel: 'email', condition: 'unread', size: 3, user_ids: groups[1], after: 3600 },
    ]);
    expect(first?.created_at).toBeDefined();
  });

  test('in a transaction that fails stores no step', async () => {
    const users = await parts.createPeople(1);
    parts.putCategory('mail', { steps: [{ channel: 'email' }] });
    const failing = database.transaction(async (tx) => {
      await parts.notifications.publish(tx, item(users, 'mail'));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await rows('select from pending_steps')).toEqual([]);
  });

  test('decides which steps there are: a later change of the category changes only texts and defaults', async () => {
    const users = await parts.createPeople(2);
    parts.putCategory('billing', { steps: [{ channel: 'email', after: '1h' }] });
    const notifications = await publish(item(users, 'billing'));
    parts.putCategory('billing', { steps: [], defaults: { email: 'off' }, is_critical: false });
    await database.query(
      testSql(`insert into preferences (user_id, categories) values ($1, '{"billing": {"email": {"value": "on"}}}')`, [
        users[0],
      ]),
    );
    await stepClock(database, '61 minutes');
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['queued/waiting', 'skipped/preference_off']);
  });
});

describe('a step that is due', () => {
  test('is carried out once, however many instances find it at once', async () => {
    const users = await parts.createPeople(20);
    parts.putCategory('mail', { steps: [{ channel: 'email' }] });
    for (let round = 0; round < 10; round += 1) await publish(item(users, 'mail'));
    await Promise.all(Array.from({ length: 4 }, () => parts.runDue()));
    const counts = `select (select count(*) from step_deliveries)::int as deliveries, (select count(*) from pending_steps)::int as steps,
                           (select count(*) from graphile_worker._private_jobs)::int as jobs`;
    expect(await rows(counts)).toEqual([{ deliveries: 200, steps: 0, jobs: 200 }]);
  });

  test('is not carried out before its time', async () => {
    const users = await parts.createPeople(1);
    parts.putCategory('mail', { steps: [{ channel: 'email', after: '10m' }] });
    const notifications = await publish(item(users, 'mail'));
    await stepClock(database, '9 minutes');
    expect(await parts.due()).toBe(false);
    expect(await mailsOf(notifications)).toEqual(['none/not_due']);
  });

  test('is skipped with "undelivered" if an earlier step was sent', async () => {
    const [pushed = '', other = ''] = await parts.createPeople(2);
    parts.putCategory('mail', { steps: [{ channel: 'push' }, { channel: 'email', after: '1m', if: 'undelivered' }] });
    const notifications = await publish(item([pushed, other], 'mail'));
    await database.query(
      testSql(
        `insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, created_at, updated_at)
         values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'fcm', 'sent', 'accepted', now(), now())`,
        [pushed, notifications[0]?.id],
      ),
    );
    await stepClock(database, '2 minutes');
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['skipped/already_delivered', 'queued/waiting']);
    // The decision before the hand-over looks at the same user too.
    await parts.runJobs();
    expect(await mailsOf(notifications)).toEqual(['skipped/already_delivered', 'sent/accepted']);
  });

  test('is not carried out while its channel is paused, and others are', async () => {
    const users = await parts.createPeople(1);
    parts.putCategory('both', {
      steps: [
        { channel: 'push', after: '1m' },
        { channel: 'email', after: '1m' },
      ],
    });
    parts.paused.add('email');
    const notifications = await publish(item(users, 'both'));
    await stepClock(database, '2 minutes');
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['none/not_due']);
    expect(await rows('select from push_fan_outs')).toHaveLength(1);
    parts.paused.clear();
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['queued/waiting']);
  });

  test('pushes later what is not read, and its age counts from then on', async () => {
    const users = await parts.createPeople(3);
    parts.putCategory('later', { steps: [{ channel: 'push', after: '1d' }] });
    const [first, ...others] = await publish(item(users, 'later'));
    if (first === undefined) throw new Error('nothing was published');
    await createReadPositions(database, () => undefined).move(first.user_id, { last_read_sequence: first.sequence });
    expect(await rows('select from push_fan_outs')).toEqual([]);
    await stepClock(database, '25 hours');
    await parts.runDue();
    const [fanOut] = await rows('select notification_ids, created_at from push_fan_outs');
    expect(new Set(fanOut?.notification_ids as string[])).toEqual(new Set(others.map(({ id }) => id)));
    // The step has the time of the notification that was inserted first: the users are in another order.
    const [earliest = ''] = [first, ...others].map(({ created_at }) => created_at).sort();
    const age = Date.parse(String(fanOut?.created_at)) - Date.parse(earliest);
    expect(age).toBe(24 * 3_600_000);
  });

  test('expires if nothing carried it out within the ttl of its category', async () => {
    const users = await parts.createPeople(1);
    parts.putCategory('mail', { steps: [{ channel: 'email' }], ttl: '1h' });
    const notifications = await publish(item(users, 'mail'));
    await stepClock(database, '61 minutes');
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['expired/ttl']);
  });

  test('of a channel without a provider fails, and says so', async () => {
    parts = createStepParts(database, ['push', 'email']);
    const users = await parts.createPeople(2);
    parts.putCategory('sms', { steps: [{ channel: 'sms' }] });
    await database.query(
      testSql(
        `update users set phone = '+1415555' || (random() * 8999 + 1000)::int, phone_verified = true where id = any ($1::uuid[])`,
        [users],
      ),
    );
    await publish(item(users, 'sms'));
    await parts.runDue();
    expect(
      await rows('select channel, state, reason, cardinality(notification_ids) as size from step_refusals'),
    ).toEqual([{ channel: 'sms', state: 'failed', reason: 'no_provider', size: 2 }]);
  });

  test('is dropped for users who were erased, and refusals name no user', async () => {
    const users = await parts.createPeople(2);
    parts.putCategory('mail', { steps: [{ channel: 'email', after: '1h' }] });
    const notifications = await publish(item(users, 'mail'));
    for (const table of ['notifications', 'inboxes']) {
      await database.query(testSql(`delete from ${table} where user_id = $1`, [users[0]]));
    }
    await database.query(testSql('delete from users where id = $1', [users[0]]));
    await stepClock(database, '61 minutes');
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual(['dropped/notification_deleted', 'queued/waiting']);
    const [refusal] = await rows('select * from step_refusals');
    expect(JSON.stringify(refusal)).not.toContain(users[0]);
  });

  test('tells a suppressed address, one that is not proven, and a missing one apart', async () => {
    const users = await parts.createPeople(4);
    parts.putCategory('mail', { steps: [{ channel: 'email' }] });
    parts.suppressed.add(`${users[0]}@example.org`);
    await database.query(testSql('update users set email_verified = false where id = $1', [users[1]]));
    await database.query(testSql('update users set email = null where id = $1', [users[2]]));
    const notifications = await publish(item(users, 'mail'));
    await parts.runDue();
    expect(await mailsOf(notifications)).toEqual([
      'skipped/suppressed',
      'skipped/not_proven',
      'skipped/no_address',
      'queued/waiting',
    ]);
  });
});
