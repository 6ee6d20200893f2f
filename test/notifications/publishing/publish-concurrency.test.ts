import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotificationInput } from '../../../src/contract/notification.js';
import type { Transaction } from '../../../src/database/database.js';
import { Problem } from '../../../src/lib/problem.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import {
  createInbox,
  createInboxes,
  createTestNotifications,
  inboxRowOf,
  input,
  problemOf,
} from '../../support/inbox.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  test = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  notifications = createTestNotifications(test.database);
});
afterAll(() => test.drop());

const rounds = Array.from({ length: raceRounds }, (_, round) => round);
const publish = (request: NotificationInput | readonly NotificationInput[]) =>
  test.database.transaction((tx) => notifications.publish(tx, request));

interface Numbered {
  sequence: number;
  change_sequence: number;
  created_at: string;
  updated_at: string;
}

async function rowsOf(userId: string, order: 'sequence' | 'change_sequence'): Promise<Numbered[]> {
  const columns = 'sequence, change_sequence, created_at, updated_at';
  return test.database.query<Numbered>(
    testSql(`select ${columns} from notifications where user_id = $1 order by ${order}`, [userId]),
  );
}

function expectAscending(values: readonly (string | number)[]) {
  const unsorted = values.findIndex((value, index) => index > 0 && value <= (values[index - 1] ?? value));
  expect(unsorted).toBe(-1);
}

const content = { notification_type: 'pool', description: 'To many' };
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('parallel publishing', () => {
  it.each(rounds)('numbers an inbox without gaps or duplicates, in the order of its times (round %i)', async () => {
    const user = await createInbox(test.database);
    await Promise.all(upTo(12).map((count) => publish(upTo(count).map(() => input(user)))));
    const rows = await rowsOf(user, 'sequence');
    expect(rows.map(({ sequence }) => sequence)).toEqual(upTo(78));
    expect(rows.map(({ change_sequence }) => change_sequence)).toEqual(upTo(78));
    expectAscending(rows.map(({ created_at }) => created_at));
    const last = rows.at(-1);
    expect(await inboxRowOf(test.database, user)).toEqual({
      last_change_sequence: 78,
      last_time: last?.created_at,
      total: 78,
    });
  });

  it.each(rounds)('to several users in any order never deadlocks, also while some fail (round %i)', async (round) => {
    const users = await createInboxes(test.database, 5);
    const rotated = (by: number) => users.map((_, index) => users[(index * (by % 2 ? 1 : 4) + by) % 5] ?? '');
    const failure = new Problem('malformed_request');
    const acts = upTo(12).map(async (act) => {
      const item = { user_ids: rotated(act + round), notification_type: 'pool', description: `${act}` };
      await test.database.transaction(async (tx) => {
        await notifications.publish(tx, [item, input(users[act % 5] ?? '')]);
        if (act % 3 === 0) throw failure;
      });
    });
    const outcomes = await Promise.allSettled(acts);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual(
      Array(4).fill({ status: 'rejected', reason: failure }),
    );
    const rows = await Promise.all(users.map((user) => rowsOf(user, 'sequence')));
    expect(rows.flat()).toHaveLength(8 * 6);
    for (const own of rows) {
      expect(own.map(({ sequence }) => sequence)).toEqual(upTo(own.length));
      expectAscending(own.map(({ created_at }) => created_at));
    }
  });

  it.each(rounds)('to many of the same users in opposite orders never deadlocks (round %i)', async (round) => {
    const users = await createInboxes(test.database, 200);
    const [one = '', another = ''] = users;
    const orders = [users, users.toReversed(), users.toSorted(), users.toSorted().toReversed()];
    const items = upTo(8).map((act) => ({ user_ids: orders[(act + round) % 4] ?? [], ...content }));
    const published = await Promise.all(items.map((item) => publish([item, input(another), input(one)])));
    for (const [act, notifications] of published.entries()) {
      expect(notifications.map(({ user_id }) => user_id)).toEqual([...(items[act]?.user_ids ?? []), another, one]);
    }
    const heads = await test.database.query(
      testSql(
        `select last_change_sequence, total, (select count(*) from notifications n where n.user_id = i.user_id) as rows,
             (select bool_and(earlier) from (select created_at < lead(created_at) over (order by sequence) as earlier
                from notifications n where n.user_id = i.user_id) times) as in_order
           from inboxes i where user_id = any ($1::uuid[]) order by total desc`,
        [users],
      ),
    );
    const head = (count: number) => ({ last_change_sequence: count, total: count, rows: count, in_order: true });
    expect(heads).toEqual([head(16), head(16), ...Array(198).fill(head(8))]);
  });

  it('shows every reader an inbox without gaps: sequences are in the order of commits', async () => {
    const user = await createInbox(test.database);
    const seen: { rows: number; last: number; head: number; total: number }[] = [];
    let isPublishing = true;
    const look = `select count(*) as rows, coalesce(max(sequence), 0) as last,
      (select last_change_sequence from inboxes where user_id = $1) as head, (select total from inboxes where user_id = $1)
      from notifications where user_id = $1`;
    const reading = (async () => {
      while (isPublishing) seen.push(...(await test.database.query<(typeof seen)[number]>(testSql(look, [user]))));
    })();
    await Promise.all(upTo(40).map((count) => publish(upTo(1 + (count % 3)).map(() => input(user)))));
    isPublishing = false;
    await reading;
    expect(seen.length).toBeGreaterThan(0);
    for (const { rows, last, head, total } of seen) expect([last, head, total]).toEqual([rows, rows, rows]);
  });
});

describe('publishing, changing and deleting at once', () => {
  it.each(rounds)('keep sequences and times unique and in the same order (round %i)', async () => {
    const user = await createInbox(test.database);
    const old = await publish(upTo(8).map(() => input(user)));
    const [first] = old;
    await Promise.all([
      ...old.map(({ id }, index) =>
        test.database.transaction<unknown>((tx) =>
          index % 2 === 0 ? notifications.remove(tx, id) : notifications.change(tx, id, { description: 'changed' }),
        ),
      ),
      ...upTo(4).map(() => publish([input(user), input(user)])),
    ]);
    const rows = await rowsOf(user, 'change_sequence');
    expect(rows).toHaveLength(12);
    expectAscending(rows.map(({ change_sequence }) => change_sequence));
    expectAscending(rows.map(({ updated_at }) => updated_at));
    expectAscending((await rowsOf(user, 'sequence')).map(({ created_at }) => created_at));
    expect(await inboxRowOf(test.database, user)).toMatchObject({ last_change_sequence: 24, total: 12 });
    expect(first?.sequence).toBe(1);
  });

  it('let one of several deletions of the same notification succeed', async () => {
    for (const _ of rounds) {
      const user = await createInbox(test.database);
      const [created] = await publish([input(user)]);
      const acts = upTo(5).map(() => test.database.transaction((tx) => notifications.remove(tx, created?.id ?? '')));
      const outcomes = await Promise.allSettled(acts);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('not_found'));
      expect(await inboxRowOf(test.database, user)).toMatchObject({ last_change_sequence: 2, total: 0 });
    }
  });

  it('never lose a change to a parallel change of other members', async () => {
    for (const _ of rounds) {
      const user = await createInbox(test.database);
      const [created] = await publish([input(user)]);
      const change = (fields: object) =>
        test.database.transaction((tx) => notifications.change(tx, created?.id ?? '', fields));
      await Promise.all([change({ description: 'a' }), change({ actor: 'b' }), change({ object_data_number: 3 })]);
      const [row] = await test.database.query(
        testSql(
          'select description, actor, object_data_number, change_sequence from notifications where user_id = $1',
          [user],
        ),
      );
      expect(row).toEqual({ description: 'a', actor: 'b', object_data_number: '3', change_sequence: 4 });
    }
  });

  it('find no user when the user was deleted while they waited', async () => {
    const user = await createInbox(test.database);
    const [created] = await publish([input(user)]);
    let waiting: Promise<Problem>[] = [];
    await test.database.transaction(async (tx) => {
      await tx.query(testSql('delete from inboxes where user_id = $1', [user]));
      const id = created?.id ?? '';
      waiting = [
        problemOf(publish(input(user))),
        problemOf(test.database.transaction((other) => notifications.change(other, id, { actor: 'x' }))),
        problemOf(test.database.transaction((other) => notifications.remove(other, id))),
      ];
      await untilWaitingForLocks(3);
    });
    const [published, changed, removed] = await Promise.all(waiting);
    expect(published?.options.errors).toEqual([{ field: 'user_id', code: 'unknown_user' }]);
    expect([changed?.code, removed?.code]).toEqual(['not_found', 'not_found']);
  });
});

describe('the time of a statement that waited for a lock', () => {
  const acts: Readonly<Record<string, (tx: Transaction, userId: string, id: string) => Promise<unknown>>> = {
    publish: (tx, userId) => notifications.publish(tx, input(userId)),
    change: (tx, _, id) => notifications.change(tx, id, { actor: 'x' }),
    remove: (tx, _, id) => notifications.remove(tx, id),
  };

  it.each(Object.entries(acts))(
    'is read by %s after it holds the lock, even after the transaction before it failed',
    async (_, act) => {
      const user = await createInbox(test.database);
      const [created] = await publish([input(user)]);
      const failure = new Problem('malformed_request');
      let waiting: Promise<unknown> | undefined;
      let whileWaiting: string | undefined;
      const before = test.database.transaction(async (tx) => {
        await notifications.publish(tx, input(user));
        waiting = test.database.transaction((other) => act(other, user, created?.id ?? ''));
        await untilWaitingForLocks(1);
        [{ now: whileWaiting } = { now: '' }] = await tx.query<{ now: string }>(testSql('select db_now() as now'));
        throw failure;
      });
      expect(await problemOf(before)).toBe(failure);
      await waiting;
      const { last_time: time } = await inboxRowOf(test.database, user);
      expect([whileWaiting, time].toSorted()).toEqual([whileWaiting, time]);
      expect(time).not.toBe(whileWaiting);
    },
  );
});

async function untilWaitingForLocks(number: number): Promise<void> {
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const look = async () => ((await test.database.query(testSql(waiting))).length === number ? true : undefined);
  await eventually(`${number} acts to wait for the lock`, look);
}
