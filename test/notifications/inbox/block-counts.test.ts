import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  countedBlocksOf,
  createInbox,
  createInboxes,
  createTestNotifications,
  inboxRowOf,
  input,
  newestFirst,
  publishAll,
} from '../../support/inbox.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

let db: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  db = await createTestDatabase();
  notifications = createTestNotifications(db.database);
});
afterAll(() => db.drop());

const types = ['payment', 'pool', 'request'];
const typeOf = (nth: number) => types[nth % types.length] ?? '';

/** Publishes notifications of alternating types. */
const publishTo = (userIds: readonly string[], count: number) =>
  publishAll(
    { database: db.database, notifications },
    Array.from({ length: count }, (_, nth) => ({
      user_ids: [...userIds],
      notification_type: typeOf(nth),
      description: `number ${nth}`,
    })),
  );
const publishOne = (userId: string, nth = 0) =>
  notifications.publishOne(input(userId, { notification_type: typeOf(nth) }));

/** Expects pages beyond a block, of all types and of one type, to be the same as slices of the whole list. */
async function expectRightPages(userId: string) {
  const rows = await db.database.query<{ id: string; notification_type: string }>(
    testSql('select id, notification_type from notifications where user_id = $1 order by sequence desc', [userId]),
  );
  for (const type of [undefined, 'pool']) {
    const ids = rows.filter((row) => type === undefined || row.notification_type === type).map(({ id }) => id);
    const filter = type === undefined ? [] : parseFilter(`notification_type:${type}`, notifications.filterFields);
    for (const direction of ['asc', 'desc'] as const) {
      const ordered = direction === 'desc' ? ids : ids.toReversed();
      for (const page of [53, 60, 103, 110]) {
        const listed = await notifications.list(userId, {
          ...newestFirst,
          page,
          filter,
          sort: { field: 'created_at', direction },
        });
        expect(listed?.items.map(({ id }) => id)).toEqual(ordered.slice((page - 1) * 20, page * 20));
      }
    }
  }
}

describe('a block of an inbox', () => {
  test('is counted when it is full, and not before', async () => {
    const user = await createInbox(db.database);
    await publishTo([user], 1000);
    await publishTo([user], 23);
    expect(await db.database.query(testSql('select 1 from inbox_blocks where user_id = $1', [user]))).toEqual([]);
    await publishOne(user);
    expect(await countedBlocksOf(db.database, user)).toEqual({ counted: 1, wrong: 0 });
    await publishTo([user], 1000);
    await publishTo([user], 1000);
    expect(await countedBlocksOf(db.database, user)).toEqual({ counted: 2, wrong: 0 });
    await expectRightPages(user);
  });

  test('is counted correctly while many publish, change and delete at once', async () => {
    const user = await createInbox(db.database);
    let published = await publishTo([user], 1000);
    for (let round = 0; round < raceRounds; round += 1) {
      const { last_change_sequence: last } = await inboxRowOf(db.database, user);
      const missing = 1024 - (last % 1024);
      if (missing > 20) published = await publishTo([user], Math.min(1000, missing - 5));
      const [first, second] = published;
      await Promise.all([
        ...Array.from({ length: 10 }, (_, nth) => publishOne(user, nth)),
        publishTo([user], 7),
        publishTo([user], 8),
        db.database.transaction((tx) => notifications.remove(tx, first?.id ?? '')),
        db.database.transaction((tx) => notifications.change(tx, second?.id ?? '', { notification_type: 'request' })),
      ]);
      published = published.slice(2);
    }
    // The notification after the one that filled a block counts the block.
    await publishOne(user);
    const { last_change_sequence: last } = await inboxRowOf(db.database, user);
    expect(await countedBlocksOf(db.database, user)).toEqual({ counted: Math.floor(last / 1024), wrong: 0 });
    await expectRightPages(user);
  });

  test('can become full in the same request as other blocks: later requests count those that this request does not count', async () => {
    const users = await createInboxes(db.database, 45);
    for (let count = 0; count < 1020; count += 204) await publishTo(users, 204);
    const countedOf = async () => await Promise.all(users.map((user) => countedBlocksOf(db.database, user)));
    const sizes: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await publishTo(users, 4);
      const blocks = await countedOf();
      expect(blocks.filter(({ wrong }) => wrong > 0)).toEqual([]);
      sizes.push(blocks.filter(({ counted }) => counted === 1).length);
    }
    expect(sizes).toEqual([20, 40, 45]);
  });

  test('whose count an earlier release raised with each notification stays correct', async () => {
    const user = await createInbox(db.database);
    const published = [...(await publishTo([user], 1000)), ...(await publishTo([user], 1000))];
    await db.database.query(testSql('delete from inbox_blocks where user_id = $1', [user]));
    await db.database.query(
      testSql(
        `insert into inbox_blocks (user_id, block, notification_type, rows)
           select user_id, sequence / 1024, notification_type, count(*) from notifications where user_id = $1 group by 1, 2, 3`,
        [user],
      ),
    );
    await db.database.query(testSql('update inboxes set counted_blocks = null where user_id = $1', [user]));
    const changeAndRemove = async (notificationsOfBlock: typeof published) => {
      for (const { id } of notificationsOfBlock.slice(0, 5)) {
        await db.database.transaction((tx) => notifications.change(tx, id, { notification_type: 'request' }));
      }
      for (const { id } of notificationsOfBlock.slice(3, 8))
        await db.database.transaction((tx) => notifications.remove(tx, id));
    };
    await changeAndRemove(published.slice(0, 10));
    await changeAndRemove(published.slice(1500, 1510));
    expect(await countedBlocksOf(db.database, user)).toEqual({ counted: 1, wrong: 0 });
    await publishOne(user);
    await changeAndRemove(published.slice(20, 30));
    await changeAndRemove(published.slice(1600, 1610));
    await publishTo([user], 1000);
    expect(await countedBlocksOf(db.database, user)).toEqual({ counted: 2, wrong: 0 });
    await expectRightPages(user);
  });
});
