import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/contract/changes.js';
import type { Notification } from '../../../src/contract/notification.js';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  createInbox,
  createTestNotifications,
  input,
  newestFirst,
  problemOf,
  publishAll,
} from '../../support/inbox.js';
import { runs } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

/** The position of the text `42` or `7-42`. */
function positionOf(text: string) {
  const [after = 0, begunAt] = text.split('-').map(Number);
  return { after, ...(begunAt !== undefined && { begunAt }) };
}

let test: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
});
afterAll(() => test.drop());

const publish = (userId: string, count: number, fields: object = {}) =>
  publishAll(
    { database: test.database, notifications },
    Array.from({ length: count }, () => input(userId, fields)),
  );
const change = async (id: string, body: object) =>
  (await test.database.transaction((tx) => notifications.change(tx, id, body))).notification;
const remove = (id: string) => test.database.transaction((tx) => notifications.remove(tx, id));
/** Stores that the tombstones up to this change were removed. */
const forget = (userId: string, upTo: number) =>
  test.database.query(testSql('update inboxes set forgotten_change_sequence = $2 where user_id = $1', [userId, upTo]));

const changesOf = (userId: string, after = '0', limit = 100, filter = '') =>
  notifications.changes(userId, {
    ...positionOf(after),
    limit,
    filter: filter === '' ? [] : parseFilter(filter, notifications.filterFields),
  });

/** A client that keeps a copy, as the guide describes. */
function createClient(userId: string, limit: number) {
  const copy = new Map<string, Notification>();
  let after = '0';
  return {
    copy,
    /** Reads one page. @returns whether there is more */
    async read(): Promise<boolean> {
      const page = await changesOf(userId, after, limit);
      if (page.reset) copy.clear();
      for (const { id, notification } of page.changes) {
        if (notification === null) copy.delete(id);
        else copy.set(id, notification);
      }
      after = page.reset ? '0' : page.after;
      return page.has_more || page.reset;
    },
  };
}

describe('changes', () => {
  it('lists each notification once, in its current state, in the order of the changes', async () => {
    const user = await createInbox(test.database);
    const [one, two, three] = await publish(user, 3);
    const { after } = await changesOf(user);
    await change(one?.id ?? '', { actor: 'x' });
    const last = await change(one?.id ?? '', { actor: 'y' });
    await remove(two?.id ?? '');
    const [four] = await publish(user, 1);
    const page = await changesOf(user, after);
    expect(page).toEqual({
      changes: [
        { operation: 'update', change_sequence: 5, id: one?.id, sequence: 1, notification: last },
        { operation: 'delete', change_sequence: 6, id: two?.id, sequence: 2, notification: null },
        { operation: 'create', change_sequence: 7, id: four?.id, sequence: 7, notification: four },
      ],
      after: '7',
      has_more: false,
      reset: false,
      retained_from: {},
    });
    expect((await changesOf(user, page.after)).changes).toEqual([]);
    expect((await changesOf(user, '2')).changes.map(({ id }) => id)).toEqual([three?.id, one?.id, two?.id, four?.id]);
  });

  it('lists everything as new, without deletions, to a client that reads from the start', async () => {
    const user = await createInbox(test.database);
    const [one, two] = await publish(user, 3);
    await change(one?.id ?? '', { actor: 'x' });
    await remove(two?.id ?? '');
    const { changes } = await changesOf(user);
    expect(changes.map(({ operation, sequence }) => [operation, sequence])).toEqual([
      ['create', 3],
      ['create', 1],
    ]);
  });

  it('is empty for a new inbox, and refused without an inbox', async () => {
    const user = await createInbox(test.database);
    expect(await changesOf(user)).toMatchObject({ changes: [], after: '0', has_more: false, reset: false });
    const problem = await problemOf(changesOf('00000000-0000-4000-8000-000000000000'));
    expect(problem.code).toBe('invalid_session_token');
  });

  it('lists everything in pages, across tombstones that were removed before the first page', async () => {
    const user = await createInbox(test.database);
    await publish(user, 25);
    const deleted = await publish(user, 5);
    for (const { id } of deleted) await remove(id);
    await forget(user, 35);
    const seen: Change[] = [];
    let after = '0';
    for (let page = await changesOf(user, after, 10); ; page = await changesOf(user, after, 10)) {
      expect(page.reset).toBe(false);
      seen.push(...page.changes);
      after = page.after;
      if (!page.has_more) break;
    }
    expect(seen.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
    expect(after).toBe('35');
    expect(await changesOf(user, '10')).toMatchObject({ changes: [], after: '35', has_more: false, reset: true });
  });

  it('resets a client whose first reading began before removed tombstones', async () => {
    const user = await createInbox(test.database);
    await publish(user, 20);
    const { after } = await changesOf(user, '0', 10);
    const [last] = await publish(user, 1);
    await remove(last?.id ?? '');
    await forget(user, 22);
    expect(await changesOf(user, after, 10)).toMatchObject({ changes: [], after: '22', reset: true });
  });

  it.each(['9', '3-9', '9-3'])('resets a client whose position is beyond a restored backup: %s', async (after) => {
    const user = await createInbox(test.database);
    await publish(user, 5);
    expect(await changesOf(user, after)).toMatchObject({ changes: [], after: '5', has_more: false, reset: true });
    expect((await changesOf(user, '5')).reset).toBe(false);
  });

  it('filters created and changed notifications but not deletions, and always advances the position', async () => {
    const user = await createInbox(test.database);
    const [gone] = await publish(user, 1);
    const { after } = await changesOf(user);
    await publish(user, 1100);
    const pools = await publish(user, 3, { notification_type: 'pool' });
    await remove(gone?.id ?? '');
    const seen: Change[] = [];
    let position = after;
    for (let page = await changesOf(user, position, 2, 'notification_type:pool'); ; ) {
      seen.push(...page.changes);
      expect(page.changes.length).toBeLessThanOrEqual(2);
      expect(page.after).not.toBe(position);
      position = page.after;
      if (!page.has_more) break;
      page = await changesOf(user, position, 2, 'notification_type:pool');
    }
    expect(seen.map(({ operation, id }) => [operation, id])).toEqual([
      ...pools.map(({ id }) => ['create', id]),
      ['delete', gone?.id],
    ]);
  });

  it('advances past changes that left no trace', async () => {
    const user = await createInbox(test.database);
    const [, last] = await publish(user, 2);
    await test.database.query(testSql('delete from notifications where user_id = $1 and id = $2', [user, last?.id]));
    expect(await changesOf(user)).toMatchObject({ after: '2', has_more: false });
  });

  it("keeps a client's copy equal to the list, with any changes between its pages", async () => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constantFrom('change' as const, 'remove' as const), nth: fc.nat(20) }),
      fc.record({ kind: fc.constantFrom('read' as const, 'forget' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.integer({ min: 1, max: 4 }), async (acts, limit) => {
        const user = await createInbox(test.database);
        const client = createClient(user, limit);
        const listed = async () => (await notifications.list(user, { ...newestFirst, limit: 100 }))?.items ?? [];
        for (const { kind, ...how } of acts) {
          if ('count' in how) await publish(user, how.count);
          else if (kind === 'read') await client.read();
          else if (kind === 'forget') await forgetEverything(user);
          else if ('nth' in how) {
            const items = await listed();
            const item = items[how.nth % Math.max(1, items.length)];
            if (item !== undefined) await (kind === 'remove' ? remove(item.id) : change(item.id, { actor: 'x' }));
          }
        }
        while (await client.read());
        const kept = [...client.copy.values()].sort((one, two) => two.sequence - one.sequence);
        expect(kept).toEqual(await listed());
      }),
      { numRuns: runs(20, 40) },
    );
  });
});

/** Removes all tombstones, as the maintenance task does with old ones. */
async function forgetEverything(user: string): Promise<void> {
  await test.database.query(
    testSql(
      `with gone as (delete from notification_tombstones where user_id = $1 returning change_sequence)
         update inboxes set forgotten_change_sequence = greatest(forgotten_change_sequence, last)
         from (select max(change_sequence) as last from gone) newest where user_id = $1`,
      [user],
    ),
  );
}
