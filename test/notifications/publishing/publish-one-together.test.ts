import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import { createDatabase } from '../../../src/database/database.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { createInboxes, createTestNotifications } from '../../support/inbox.js';
import { queriesOf } from '../../support/queries.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

let db: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  notifications = createTestNotifications(db.database);
});
afterAll(() => db.drop());

const publishTo = (userId: string, description = 'A payment') =>
  notifications.publishOne({ user_id: userId, notification_type: 'payment', description, actor: 'Ada' });

/** The notifications and the inbox row of a user, as the tables have them. */
async function inboxOf(userId: string) {
  const [found] = await db.database.query<{
    sequences: string[];
    in_order: boolean;
    head: number;
    total: number;
  }>(
    testSql(
      `select array_agg(n.sequence order by n.sequence) as sequences,
           array_agg(n.sequence order by n.sequence) = array_agg(n.sequence order by n.created_at) as in_order,
           i.last_change_sequence as head, i.total
         from inboxes i join notifications n using (user_id) where i.user_id = $1 group by i.user_id`,
      [userId],
    ),
  );
  return found && { ...found, sequences: found.sequences.map(Number) };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('single notifications that are published at the same time', () => {
  test('are numbered without a gap in every inbox', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const [busy = '', ...others] = await createInboxes(db.database, 10);
      const to = upTo(40).flatMap((nth) => [busy, others[nth % others.length] ?? '']);
      const published = await Promise.all(to.map((userId, place) => publishTo(userId, `number ${place}`)));
      expect(published.map(({ user_id, description }) => [user_id, description])).toEqual(
        to.map((userId, place) => [userId, `number ${place}`]),
      );
      for (const userId of [busy, ...others]) {
        const count = to.filter((each) => each === userId).length;
        const own = published.filter(({ user_id }) => user_id === userId).map(({ sequence }) => sequence);
        expect(own.sort((a, b) => a - b)).toEqual(upTo(count));
        expect(await inboxOf(userId)).toEqual({
          sequences: upTo(count),
          in_order: true,
          head: count,
          total: count,
        });
      }
    }
  });

  test('are refused one by one: an unknown user does not affect the others', async () => {
    const users = await createInboxes(db.database, 10);
    const publications = users.flatMap((userId) => [publishTo(userId), publishTo(randomUUID())]);
    const outcomes = await Promise.allSettled(publications);
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject(
        index % 2 === 0
          ? { status: 'fulfilled', value: { user_id: users[index / 2], sequence: 1 } }
          : {
              reason: { code: 'validation_failed', options: { errors: [{ field: 'user_id', code: 'unknown_user' }] } },
            },
      );
    }
  });

  test('are inserted while one inbox is locked, except the one for this inbox, which is inserted after the lock', async () => {
    const [locked = '', ...others] = await createInboxes(db.database, 20);
    const holder = new pg.Client(db.target);
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from inboxes where user_id = $1 for update', [locked]);
      const first = publishTo(others[0] ?? '');
      const late = publishTo(locked);
      const rest = others.map((userId) => publishTo(userId));
      await Promise.all([first, ...rest]);
      await eventually('the notification for the locked inbox to wait', async () => {
        // Not on the connection of the holder: a transaction sees the activity of the moment in which it first asked.
        const blocked = await db.database.query(
          testSql(
            'select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0',
          ),
        );
        return blocked.length === 1 ? true : undefined;
      });
      await holder.query('commit');
      expect(await late).toMatchObject({ user_id: locked, sequence: 1 });
    } finally {
      await holder.end();
    }
  });

  test('take one statement each when they arrive alone, and share one when they arrive together', async () => {
    const users = await createInboxes(db.database, 11);
    const namesOf = async (userIds: readonly string[]) =>
      (await queriesOf(() => Promise.all(userIds.map((userId) => publishTo(userId))))).map(({ name }) => name);
    expect(await namesOf(users.slice(0, 1))).toEqual(['notifications_publish_one']);
    expect(await namesOf(users)).toEqual(['notifications_publish_one', 'notifications_publish_together']);
  });
});

describe('single notifications that are published to one inbox at once', () => {
  test('share statements, in order of arrival, with times at least a microsecond apart', async () => {
    const [inbox = ''] = await createInboxes(db.database, 1);
    const places = upTo(64);
    let published: Notification[] = [];
    const queries = await queriesOf(async () => {
      published = await Promise.all(places.map((place) => publishTo(inbox, `number ${place}`)));
    });
    expect(queries.map(({ name }) => name)).toEqual(['notifications_publish_one', 'notifications_publish_inbox']);
    expect(published.map(({ description }) => description)).toEqual(places.map((place) => `number ${place}`));
    expect(published.map(({ sequence }) => sequence)).toEqual(places);
    expect(new Set(published.map(({ created_at: at }) => at)).size).toBe(places.length);
    expect(await inboxOf(inbox)).toMatchObject({ sequences: places, in_order: true, head: 64, total: 64 });
  });

  test('by several instances, with transactions that lock the inbox, are numbered without gaps or duplicates', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const [inbox = ''] = await createInboxes(db.database, 1);
      const instances = [notifications, createTestNotifications(db.database), createTestNotifications(db.database)];
      const input = { user_id: inbox, notification_type: 'payment' };
      const published = await Promise.all(
        // Few enough that none waits for more than a second on a busy machine: it would be refused.
        upTo(48).map(async (nth) => {
          const each = instances[nth % instances.length] ?? notifications;
          const description = `number ${nth}`;
          const inOwnTransaction = nth % 16 === 0;
          const [found] = inOwnTransaction
            ? await db.database.transaction((tx) => each.publish(tx, { ...input, description }))
            : [await each.publishOne({ ...input, description })];
          expect(found?.description).toBe(description);
          return found?.sequence ?? 0;
        }),
      );
      expect(published.toSorted((a, b) => a - b)).toEqual(upTo(48));
      expect(await inboxOf(inbox)).toMatchObject({ sequences: upTo(48), in_order: true, head: 48, total: 48 });
    }
  });

  test('that does not exist are refused one by one', async () => {
    const nobody = randomUUID();
    const outcomes = await Promise.allSettled(upTo(20).map(() => publishTo(nobody)));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ reason: { code: 'validation_failed' } });
    }
  });

  test('count only once the block that they fill together', async () => {
    const [inbox = ''] = await createInboxes(db.database, 1);
    await db.database.query(
      testSql('update inboxes set last_change_sequence = 1000, counted_blocks = 0 where user_id = $1', [inbox]),
    );
    const queries = await queriesOf(() => Promise.all(upTo(64).map(() => publishTo(inbox))));
    expect(queries.filter(({ name }) => name === 'blocks_count')).toHaveLength(1);
  });

  test('wait for a lock together, and fail together when it is not released', async () => {
    const [inbox = ''] = await createInboxes(db.database, 1);
    const holder = new pg.Client(db.target);
    await holder.connect();
    // With the time limits of the service.
    const impatient = createDatabase({ target: db.target, size: 10, onConnectionError: () => undefined });
    const { publishOne } = createTestNotifications(impatient);
    try {
      await holder.query('begin');
      await holder.query('select from inboxes where user_id = $1 for update', [inbox]);
      const input = { user_id: inbox, notification_type: 'payment', description: 'A payment' };
      const outcomes = await Promise.allSettled(upTo(64).map(() => publishOne(input)));
      const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'published'));
      // The first waits for the lock until the timeout. The others wait for the first.
      expect(codes).toEqual(['storage_unavailable', ...upTo(63).map(() => 'overloaded')]);
      await holder.query('commit');
      expect(await publishOne(input)).toMatchObject({ sequence: 1 });
    } finally {
      await impatient.close();
      await holder.end();
    }
  });
});
