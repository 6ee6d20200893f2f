import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { retentionTask, startRetention } from '../../../src/notifications/retention/retention.js';
import { tombstoneTask } from '../../../src/notifications/retention/tombstones.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  createInbox,
  createInboxes,
  createTestNotifications,
  inboxRowOf,
  input,
  newestFirst,
  publishAll,
} from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  fresh = await createTestDatabase();
  notifications = createTestNotifications(fresh.database);
});
afterAll(() => fresh.drop());

const day = 86_400_000;
const task = retentionTask([
  { type: 'payment', age: 10 * day },
  { type: 'pool', age: 20 * day },
]);
const removeOld = () => runMaintenanceOnce(fresh.database, [task]);

/** Publishes notifications and makes them this many days old. */
async function fill(userId: string, contents: readonly (readonly [type: string, daysAgo: number])[]): Promise<void> {
  await publishAll(
    { database: fresh.database, notifications },
    contents.map(([type, daysAgo]) => input(userId, { notification_type: type, description: `${type} ${daysAgo}` })),
  );
  await fresh.database.query(
    testSql(
      `update notifications set created_at = created_at - split_part(description, ' ', 2)::float8 * interval '1 day'
         where user_id = $1`,
      [userId],
    ),
  );
}
const listOf = async (userId: string) =>
  (await notifications.list(userId, { ...newestFirst, limit: 100 }))?.items.map(({ description }) => description);
/** Blocks and inbox rows whose counts are wrong. */
const miscounted = () =>
  fresh.database.query(
    testSql(`select user_id, block, notification_type, rows from inbox_blocks
         except select user_id, sequence / 1024, notification_type, count(*) from notifications group by 1, 2, 3
         union all
         select user_id, null, null, total from inboxes
         except select user_id, null, null, count(n.id) from inboxes left join notifications n using (user_id) group by 1`),
  );

describe('retention', () => {
  test('removes notifications that are too old for their type, without tombstones, and updates the counts of the inbox once', async () => {
    const user = await createInbox(fresh.database);
    await fill(user, [
      ['request', 400],
      ['pool', 21],
      ['payment', 19],
      ['pool', 19],
      ['payment', 11],
      ['payment', 9],
    ]);
    const before = await inboxRowOf(fresh.database, user);
    expect(await removeOld()).toBe(3);
    expect(await listOf(user)).toEqual(['payment 9', 'pool 19', 'request 400']);
    const after = await inboxRowOf(fresh.database, user);
    expect(after).toMatchObject({ total: 3, last_change_sequence: before.last_change_sequence + 1 });
    expect(after.last_time > before.last_time).toBe(true);
    expect(await fresh.database.query(testSql('select 1 from notification_tombstones'))).toEqual([]);
    expect(await miscounted()).toEqual([]);
    expect(await removeOld()).toBe(0);
    expect(await inboxRowOf(fresh.database, user)).toMatchObject({
      last_change_sequence: before.last_change_sequence + 1,
    });
  });

  test('removes rows of many users and many rows of one user, at most 500 rows in a transaction', async () => {
    const users = await createInboxes(fresh.database, 450);
    for (const user of [users[0], users[449]]) {
      await fill(
        user ?? '',
        Array.from({ length: 1000 }, (_, index) => ['payment', 1000 - index]),
      );
    }
    for (const user of users.slice(1, 449)) await fill(user, [['pool', 30]]);
    const steps: number[] = [];
    const counted = {
      ...task,
      step: async (...args: Parameters<typeof task.step>) => {
        const step = await task.step(...args);
        steps.push(step.removed);
        return step;
      },
    };
    expect(await runMaintenanceOnce(fresh.database, [counted])).toBe(2 * 990 + 448);
    expect(Math.max(...steps)).toBeLessThanOrEqual(500);
    expect(Math.max(...steps)).toBeGreaterThan(100);
    expect(await listOf(users[449] ?? '')).toHaveLength(10);
    expect(await miscounted()).toEqual([]);
    expect(await fresh.database.query(testSql('select 1 from inbox_blocks where rows <= 0'))).toEqual([]);
  });

  test('skips a locked inbox until the next run, and does not wait for it', async () => {
    const [locked = '', other = ''] = await createInboxes(fresh.database, 2);
    await fill(locked, [['payment', 30]]);
    await fill(other, [['payment', 30]]);
    await fresh.database.transaction(async (tx) => {
      await tx.query(testSql('select 1 from inboxes where user_id = $1 for update', [locked]));
      expect(await removeOld()).toBe(1);
    });
    expect([await listOf(locked), await listOf(other)]).toEqual([['payment 30'], []]);
    expect(await removeOld()).toBe(1);
  });

  test('keeps the counts correct while others publish, change and delete in the same inbox', async () => {
    const user = await createInbox(fresh.database);
    await fill(
      user,
      Array.from({ length: 40 }, () => ['payment', 30]),
    );
    const old = await fresh.database.query<{ id: string }>(
      testSql('select id from notifications where user_id = $1', [user]),
    );
    const { transaction: tx } = fresh.database;
    await Promise.allSettled([
      ...old.slice(0, 10).map(({ id }) => tx((handle) => notifications.remove(handle, id))),
      ...old
        .slice(10, 20)
        .map(({ id }) => tx((handle) => notifications.change(handle, id, { notification_type: 'pool' }))),
      ...Array.from({ length: 10 }, () => tx((handle) => notifications.publish(handle, input(user)))),
      ...Array.from({ length: 5 }, removeOld),
    ]);
    await removeOld();
    expect(await inboxRowOf(fresh.database, user)).toMatchObject({ total: 10 });
    expect(await miscounted()).toEqual([]);
  });

  test('reports the time from which each type with a rule is complete, in the time of the database', async () => {
    const retention = await startRetention(
      fresh.database,
      [
        { type: 'payment', age: 10 * day },
        { type: 'pool', age: 20 * day },
      ],
      () => undefined,
    );
    const [clock] = await fresh.database.query<{ payment: string; pool: string }>(
      testSql(`select db_now() - interval '10 days' as payment, db_now() - interval '20 days' as pool`),
    );
    const { payment = '', pool = '', ...rest } = retention.retainedFrom();
    await retention.stop();
    expect(payment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect([payment <= (clock?.payment ?? ''), pool <= (clock?.pool ?? ''), pool < payment, rest]).toEqual([
      ...[true, true, true],
      {},
    ]);
    // Notifications that are reported as kept are not removed, even when the report is some minutes old.
    const user = await createInbox(fresh.database);
    await fill(user, [
      ['payment', 10 + 2 / 24],
      ['payment', 10 + 0.5 / 24],
    ]);
    expect(await removeOld()).toBe(1);
  });

  test('does nothing without rules', async () => {
    const retention = await startRetention(fresh.database, [], () => undefined);
    expect([retention.tasks, retention.retainedFrom()]).toEqual([[], {}]);
    await retention.stop();
  });
});

describe('tombstones', () => {
  const forgottenOf = async (userId: string) => {
    const [head] = await fresh.database.query<{ forgotten: number }>(
      testSql('select forgotten_change_sequence as forgotten from inboxes where user_id = $1', [userId]),
    );
    return head?.forgotten;
  };
  const addTombstones = (userId: string, sequences: readonly number[], daysAgo: number) =>
    fresh.database.query(
      testSql(
        `insert into notification_tombstones (user_id, change_sequence, id, sequence, deleted_at)
           select $1, n, gen_random_uuid(), n, db_now() - $3 * interval '1 day' from unnest($2::int[]) n`,
        [userId, sequences, daysAgo],
      ),
    );
  const tombstonesOf = async (userId: string) =>
    (
      await fresh.database.query<{ n: number }>(
        testSql('select change_sequence as n from notification_tombstones where user_id = $1 order by n', [userId]),
      )
    ).map(({ n }) => n);

  test('are removed after 30 days, and the inbox row stores up to which change', async () => {
    const [ann = '', bob = '', cy = '', gone = ''] = await createInboxes(fresh.database, 4);
    await addTombstones(ann, [3, 7], 31);
    await addTombstones(ann, [9], 29);
    await addTombstones(
      bob,
      Array.from({ length: 1200 }, (_, index) => index + 1),
      40,
    );
    await addTombstones(cy, [5], 1);
    await addTombstones(gone, [1], 31);
    await fresh.database.query(testSql('delete from inboxes where user_id = $1', [gone]));
    expect(await runMaintenanceOnce(fresh.database, [tombstoneTask])).toBe(2 + 1200 + 1);
    expect([
      await tombstonesOf(ann),
      await tombstonesOf(bob),
      await tombstonesOf(cy),
      await tombstonesOf(gone),
    ]).toEqual([[9], [], [5], []]);
    expect([await forgottenOf(ann), await forgottenOf(bob), await forgottenOf(cy)]).toEqual([7, 1200, 0]);
  });

  test('of a locked inbox stay until it is unlocked', async () => {
    const user = await createInbox(fresh.database);
    await addTombstones(user, [4], 31);
    await fresh.database.transaction(async (tx) => {
      await tx.query(testSql('select 1 from inboxes where user_id = $1 for update', [user]));
      expect(await runMaintenanceOnce(fresh.database, [tombstoneTask])).toBe(0);
    });
    expect([await tombstonesOf(user), await forgottenOf(user)]).toEqual([[4], 0]);
    expect(await runMaintenanceOnce(fresh.database, [tombstoneTask])).toBe(1);
    expect([await tombstonesOf(user), await forgottenOf(user)]).toEqual([[], 4]);
  });
});
