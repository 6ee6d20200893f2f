import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StatesChange } from '../../../src/contract/notification-states.js';
import type { Step } from '../../../src/database/maintenance/tasks.js';
import type { ExpensiveReadLimit } from '../../../src/notifications/inbox/expensive-reads.js';
import { createItemStates, type ItemStates } from '../../../src/notifications/inbox/item-states.js';
import { createReadPositions, type ReadPositions } from '../../../src/notifications/inbox/read-position.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { statesTask } from '../../../src/notifications/retention/states.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInbox, createTestNotifications, input, problemOf, publishAll, types } from '../../support/inbox.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
let notifications: Notifications;
let states: ItemStates;
let positions: ReadPositions;
let changedUsers: string[] = [];
let limitedUsers: string[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
  const { database } = test;
  const onChanged = (userIds: readonly string[]) => changedUsers.push(...userIds);
  const { filterFields } = notifications;
  const limitExpensive: ExpensiveReadLimit = (userId, read) => {
    limitedUsers.push(userId);
    return read();
  };
  const countChange = async () => undefined;
  states = createItemStates({ database, filterFields, limitExpensive, countChange, onChanged });
  positions = createReadPositions(database, () => undefined);
});
afterAll(() => test.drop());
beforeEach(() => {
  changedUsers = [];
  limitedUsers = [];
});

const publish = (userId: string, count: number, notificationType = 'payment') =>
  publishAll(
    { database: test.database, notifications },
    Array.from({ length: count }, () => input(userId, { notification_type: notificationType })),
  );
const counts = (userId: string) => states.counts(userId);
const future = '2999-01-01T00:00:00Z';

/** All states of a user, by sequence. */
async function statesOf(userId: string) {
  const { states: all } = await states.list(userId, { version: 0, limit: 1000 });
  return Object.fromEntries(
    all.map(({ sequence, read, archived, snoozed_until }) => [
      sequence,
      `${read ? 'read' : 'unread'}${archived ? ' archived' : ''}${snoozed_until === null ? '' : ' snoozed'}`,
    ]),
  );
}
const rowsOf = async (userId: string) =>
  (await test.database.query(testSql('select 1 as row from notification_states where user_id = $1', [userId]))).length;

describe('the limit of expensive requests of a user', () => {
  it.each([
    ['with a filter', { filter: 'notification_type:payment', read: true }],
    ['that reads everything', { filter: '', read: true }],
    ['that makes everything unread', { filter: '', read: false }],
    ['that takes everything out of the archive', { filter: '', archived: false }],
    ['that snoozes everything', { filter: '', snoozed_until: future }],
  ])('holds for a change %s, because it can look at a whole inbox', async (_, change) => {
    const user = await createInbox(test.database);
    await publish(user, 1);
    await states.change(user, { ...change, through: 1 });
    expect(limitedUsers).toEqual([user]);
  });

  it('does not hold for a change of named notifications', async () => {
    const user = await createInbox(test.database);
    const [one] = await publish(user, 1);
    await states.change(user, { ids: [one?.id ?? ''], read: true });
    expect(limitedUsers).toEqual([]);
  });
});

describe('states of named notifications', () => {
  it('are read and unread on both sides of the read position', async () => {
    const user = await createInbox(test.database);
    const [one, , three, four] = await publish(user, 5);
    await positions.move(user, { last_read_sequence: 3 });
    const answer = await states.change(user, { ids: [four?.id ?? ''], read: true });
    expect(answer).toEqual({ unseen: 1, unread: 1, is_capped: false, by: {}, not_found: [] });
    expect((await states.change(user, { ids: [one?.id ?? '', three?.id ?? ''], read: false })).unread).toBe(3);
    expect(await statesOf(user)).toEqual({ 1: 'unread', 3: 'unread', 4: 'read' });
    expect((await positions.read(user)).unread_count).toBe(3);
    expect(changedUsers).toEqual([user, user]);
  });

  it('store nothing that the read position says already', async () => {
    const user = await createInbox(test.database);
    const [one, two] = await publish(user, 2);
    await positions.move(user, { last_read_sequence: 1 });
    await states.change(user, { ids: [one?.id ?? ''], read: true });
    await states.change(user, { ids: [two?.id ?? ''], read: false });
    expect(await rowsOf(user)).toBe(0);
    expect(changedUsers).toEqual([]);
  });

  it('that are archived or snoozed are not counted, until that ends', async () => {
    const user = await createInbox(test.database);
    const [one, two, three] = await publish(user, 3);
    await states.change(user, { ids: [one?.id ?? ''], archived: true });
    expect((await states.change(user, { ids: [two?.id ?? ''], snoozed_until: future })).unread).toBe(1);
    expect(await statesOf(user)).toEqual({ 1: 'unread archived', 2: 'unread snoozed' });
    // The snooze is over, and it did not change whether the notification is read.
    await test.database.query(
      testSql(
        "update notification_states set snoozed_until = db_now() - interval '1 s' where user_id = $1 and sequence = 2",
        [user],
      ),
    );
    expect((await counts(user)).unread).toBe(2);
    for (const snoozed_until of [null, '2001-01-01T00:00:00Z']) {
      await states.change(user, { ids: [three?.id ?? ''], snoozed_until: future });
      expect((await states.change(user, { ids: [three?.id ?? ''], snoozed_until })).unread).toBe(2);
    }
    expect((await states.change(user, { ids: [one?.id ?? ''], archived: false })).unread).toBe(3);
  });

  it('names the ids that the user does not have, and changes the others', async () => {
    const [user, other] = [await createInbox(test.database), await createInbox(test.database)];
    const [own] = await publish(user, 1);
    const [foreign] = await publish(other, 1);
    const ids = [foreign?.id ?? '', own?.id ?? '', own?.id.toUpperCase() ?? '', '00000000-0000-4000-8000-000000000000'];
    const { unread, not_found } = await states.change(user, { ids, read: true });
    expect(not_found).toEqual([ids[0], ids[3]]);
    expect(unread).toBe(0);
    expect((await counts(other)).unread).toBe(1);
  });

  it('go with the notification', async () => {
    const user = await createInbox(test.database);
    const [one] = await publish(user, 2);
    await states.change(user, { ids: [one?.id ?? ''], read: true, archived: true });
    await test.database.transaction((tx) => notifications.remove(tx, one?.id ?? ''));
    expect(await rowsOf(user)).toBe(0);
    expect((await counts(user)).unread).toBe(1);
  });
});

describe('states by a filter', () => {
  it('read and archive everything up to a sequence with one row', async () => {
    const user = await createInbox(test.database);
    const [, two] = await publish(user, 5);
    await states.change(user, { ids: [two?.id ?? ''], read: true });
    await positions.move(user, { last_read_sequence: 3 });
    await states.change(user, { ids: [two?.id ?? ''], read: false });
    const answer = await states.change(user, { filter: '', through: 4, read: true });
    expect(answer).toMatchObject({ unread: 1, not_found: [] });
    expect((await positions.read(user)).last_read_sequence).toBe(4);
    expect(await statesOf(user)).toEqual({ 2: 'read' });
    expect((await states.change(user, { filter: '', through: 99, archived: true })).unread).toBe(0);
    await publish(user, 1);
    expect(await counts(user)).toMatchObject({ unread: 1 });
    expect(await states.list(user, { version: 0, limit: 10 })).toMatchObject({ archived_through: 5 });
  });

  it('mark the matches above the read position, and remove unread marks below it', async () => {
    const user = await createInbox(test.database);
    const [first] = await publish(user, 2, 'pool');
    await publish(user, 2);
    await publish(user, 2, 'pool');
    await positions.move(user, { last_read_sequence: 2 });
    await states.change(user, { ids: [first?.id ?? ''], read: false });
    expect((await counts(user)).unread).toBe(5);
    const { unread } = await states.change(user, { filter: 'notification_type:pool', through: 5, read: true });
    expect(unread).toBe(3);
    expect(await statesOf(user)).toEqual({ 1: 'read', 5: 'read' });
    expect((await states.counts(user, 'notification_type')).by).toEqual({
      payment: { unseen: 2, unread: 2, is_capped: false },
      pool: { unseen: 1, unread: 1, is_capped: false },
    });
  });

  it('leave what arrives later as it is', async () => {
    const user = await createInbox(test.database);
    await publish(user, 3);
    const [changed] = await Promise.all([
      states.change(user, { filter: 'notification_type:payment', through: 3, archived: true }),
      publish(user, 3),
    ]);
    expect(changed.not_found).toEqual([]);
    expect(Object.keys(await statesOf(user))).toEqual(['1', '2', '3']);
    expect((await counts(user)).unread).toBe(3);
  });

  it('change nothing if they would make more than 10,000 marks', async () => {
    const user = await createInbox(test.database);
    await publish(user, 6000);
    await publish(user, 4001);
    const problem = await problemOf(
      states.change(user, { filter: 'notification_type:payment', through: 99_999, read: true }),
    );
    expect(problem.code).toBe('too_many_marks');
    expect(await rowsOf(user)).toBe(0);
    const within: StatesChange = { filter: 'notification_type:payment', through: 10_000, archived: true };
    expect(await states.change(user, within)).toMatchObject({ unread: 1 });
    expect((await states.change(user, { filter: '', through: 99_999, read: true, archived: true })).unread).toBe(0);
  });

  it.each<[StatesChange, { field: string; code: string }[]]>([
    [
      {},
      [
        { field: 'ids', code: 'required' },
        { field: 'read', code: 'required' },
      ],
    ],
    [{ filter: '', read: true }, [{ field: 'through', code: 'through_required' }]],
    [{ ids: [types[0] ?? ''], through: 1, read: true }, [{ field: 'ids', code: 'conflicting_fields' }]],
    [{ ids: [types[0] ?? ''], filter: '', read: true }, [{ field: 'ids', code: 'conflicting_fields' }]],
    [
      { filter: 'colour:red', snoozed_until: 'tomorrow' },
      [
        { field: 'through', code: 'through_required' },
        { field: 'filter', code: 'unknown_filter_field' },
        { field: 'snoozed_until', code: 'invalid_time' },
      ],
    ],
  ])('refuse %j with all its errors', async (change, errors) => {
    const problem = await problemOf(states.change(await createInbox(test.database), change));
    expect(problem.options.errors).toMatchObject(errors);
    expect(problem.options.errors).toHaveLength(errors.length);
  });
});

describe('the counts', () => {
  it('have unseen notifications until the user opens the inbox', async () => {
    const user = await createInbox(test.database);
    await publish(user, 3);
    expect(await states.moveSeen(user, 2)).toMatchObject({ unseen: 1, unread: 3 });
    expect(await states.moveSeen(user, 1)).toMatchObject({ unseen: 1 });
    expect(await states.moveSeen(user, 999)).toMatchObject({ unseen: 0, unread: 3 });
    await publish(user, 1);
    expect(await counts(user)).toMatchObject({ unseen: 1, unread: 4 });
  });

  it('end at 100', async () => {
    const user = await createInbox(test.database);
    await publish(user, 101);
    expect(await counts(user)).toEqual({ unseen: 100, unread: 100, is_capped: true, by: {} });
    await states.change(user, { filter: '', through: 1, read: true });
    expect(await counts(user)).toMatchObject({ unread: 100, is_capped: false });
    expect((await positions.read(user)).unread_count_capped).toBe(false);
  });

  it('are a problem without a user', async () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    expect((await problemOf(counts(nobody))).code).toBe('invalid_session_token');
    expect((await problemOf(states.moveSeen(nobody, 1))).code).toBe('invalid_session_token');
    expect((await problemOf(states.change(nobody, { ids: [nobody], read: true }))).code).toBe('invalid_session_token');
    expect((await problemOf(states.list(nobody, { version: 0, limit: 1 }))).code).toBe('invalid_session_token');
  });

  it('equal what a scan of the rows says, whatever happens in parallel', async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 3 }), pool: fc.boolean() }),
      fc.record({ kind: fc.constant('marker' as const), to: fc.integer({ min: 0, max: 12 }) }),
      fc.record({ kind: fc.constant('seen' as const), to: fc.integer({ min: 0, max: 12 }) }),
      fc.record({ kind: fc.constant('delete' as const), nth: fc.nat(11) }),
      fc.record({
        kind: fc.constant('named' as const),
        nth: fc.array(fc.nat(11), { minLength: 1, maxLength: 4 }),
        read: fc.option(fc.boolean(), { nil: undefined }),
        archived: fc.option(fc.boolean(), { nil: undefined }),
        snooze: fc.boolean(),
      }),
      fc.record({
        kind: fc.constant('filter' as const),
        filter: fc.constantFrom('', 'notification_type:pool'),
        through: fc.integer({ min: 0, max: 12 }),
        read: fc.option(fc.boolean(), { nil: undefined }),
        archived: fc.option(fc.boolean(), { nil: undefined }),
        snooze: fc.boolean(),
      }),
    );
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
        const user = await createInbox(test.database);
        const ids = (await publish(user, 4)).map(({ id }) => id);
        for (const round of rounds) {
          await Promise.all(
            round.map(async (step) => {
              steps += 1;
              switch (step.kind) {
                case 'publish':
                  ids.push(...(await publish(user, step.count, step.pool ? 'pool' : 'payment')).map(({ id }) => id));
                  return;
                case 'marker':
                  await positions.move(user, { last_read_sequence: step.to });
                  return;
                case 'seen':
                  await states.moveSeen(user, step.to);
                  return;
                case 'delete': {
                  const id = ids[step.nth];
                  const remove = test.database.transaction((tx) => notifications.remove(tx, id ?? ''));
                  if (id !== undefined) await remove.catch(expectNotFound);
                  else await remove.catch(() => undefined);
                  return;
                }
                default: {
                  const { read, archived } = step;
                  const values = {
                    ...(read !== undefined && { read }),
                    ...(archived !== undefined && { archived }),
                    ...(step.snooze && { snoozed_until: future }),
                  };
                  if (Object.keys(values).length === 0) return;
                  await states.change(
                    user,
                    step.kind === 'named'
                      ? { ids: step.nth.map((nth) => ids[nth] ?? ids[0] ?? ''), ...values }
                      : { filter: step.filter, through: step.through, ...values },
                  );
                }
              }
            }),
          );
          const scanned = await scan(user);
          expect(await states.counts(user, 'notification_type')).toEqual(scanned);
          expect((await positions.read(user)).unread_count).toBe(scanned.unread);
        }
      }),
      { numRuns: Math.round((40 * raceRounds) / 3) },
    );
    // 1,000 with RACE_ROUNDS=20.
    expect(steps).toBeGreaterThanOrEqual(50 * raceRounds);
  });
});

const expectNotFound = (error: unknown) => expect(error).toMatchObject({ code: 'not_found' });

/** The counts by reading every row, with the definitions of the documentation. */
async function scan(userId: string) {
  const rows = await test.database.query<{
    sequence: number;
    notification_type: string;
    last_read: number;
    seen: number;
    archived_through: number;
    is_read: boolean | null;
    is_archived: boolean | null;
    is_snoozed: boolean | null;
  }>(
    testSql(
      `select n.sequence, notification_type, coalesce(last_read_sequence, 0) as last_read,
              coalesce(seen_sequence, 0) as seen, coalesce(archived_through, 0) as archived_through,
              is_read, is_archived, snoozed_until > db_now() as is_snoozed
       from notifications n left join markers using (user_id)
         left join notification_states s on s.user_id = n.user_id and s.sequence = n.sequence
       where n.user_id = $1`,
      [userId],
    ),
  );
  const unread = rows.filter((row) => {
    const isRead = row.is_read === true || (row.sequence <= row.last_read && row.is_read !== false);
    const isArchived = row.is_archived ?? row.sequence <= row.archived_through;
    return !isRead && !isArchived && row.is_snoozed !== true;
  });
  const count = (some: typeof rows) => ({
    unseen: some.filter((row) => row.sequence > row.seen).length,
    unread: some.length,
    is_capped: false,
  });
  const by: Record<string, ReturnType<typeof count>> = {};
  for (const type of new Set(unread.map((row) => row.notification_type))) {
    by[type] = count(unread.filter((row) => row.notification_type === type));
  }
  return { ...count(unread), by };
}

describe('the list of states', () => {
  it('continues after a position, in pages within one change', async () => {
    const user = await createInbox(test.database);
    await publish(user, 5);
    await states.change(user, { filter: 'notification_type:payment', through: 5, archived: true });
    const seen: number[] = [];
    let place: { version: number; sequence?: number } = { version: 0 };
    for (let isLast = false; !isLast; ) {
      const page = await states.list(user, { ...place, limit: 2 });
      seen.push(...page.states.map(({ sequence }) => sequence));
      const [version = 0, sequence] = page.after.split('-').map(Number);
      place = { version, ...(sequence !== undefined && { sequence }) };
      isLast = !page.has_more;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect((await states.list(user, { ...place, limit: 10 })).states).toEqual([]);
    await states.change(user, { filter: 'notification_type:payment', through: 2, archived: false });
    expect((await states.list(user, { ...place, limit: 10 })).states).toMatchObject([
      { sequence: 1, archived: false },
      { sequence: 2, archived: false },
    ]);
  });

  it('starts again beyond the end, and before states that were removed', async () => {
    const user = await createInbox(test.database);
    const [one, two] = await publish(user, 3);
    await states.change(user, { ids: [one?.id ?? ''], read: true });
    await states.change(user, { ids: [two?.id ?? ''], archived: true });
    const { after } = await states.list(user, { version: 0, limit: 10 });
    await positions.move(user, { last_read_sequence: 2 });
    expect(await states.list(user, { version: 99, limit: 10 })).toMatchObject({ reset: true, states: [] });

    /** Runs the task to its end. @returns how many states it removed */
    const clean = async () => {
      let step: Step = { removed: 0, next: {} };
      let removed = 0;
      for (let from: Step['next']; step.next !== undefined; from = step.next) {
        step = await test.database.transaction((tx) => statesTask.step(tx, from));
        removed += step.removed;
      }
      return removed;
    };
    expect(await clean()).toBe(0);
    await test.database.query(
      testSql("update notification_states set updated_at = db_now() - interval '31 days' where user_id = $1", [user]),
    );
    expect(await clean()).toBe(1);
    expect(await statesOf(user)).toEqual({ 2: 'read archived' });
    // The removed state was the first change, and this client has synchronised after it.
    expect(await states.list(user, { version: Number(after), limit: 10 })).toMatchObject({ reset: false });
  });
});
