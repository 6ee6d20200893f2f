import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import { type Instant, parseTime } from '../../../src/lib/times.js';
import type { NotificationQuery } from '../../../src/notifications/inbox/list-queries.js';
import type { InboxPage, Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  countedBlocksOf,
  createInbox,
  createInboxes,
  createTestNotifications,
  input,
  newestFirst,
  publishAll,
} from '../../support/inbox.js';
import { runs } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
});
afterAll(() => test.drop());

async function list(userId: string, query: Partial<NotificationQuery> = {}): Promise<InboxPage> {
  const page = await notifications.list(userId, { ...newestFirst, ...query });
  if (page === undefined) throw new Error('there is no such inbox');
  return page;
}

const publishTo = (userId: string, count: number, fields: object = {}) =>
  publishAll(
    { database: test.database, notifications },
    Array.from({ length: count }, () => input(userId, fields)),
  );
const filterOf = (text: string) => parseFilter(text, notifications.filterFields);
const idsOf = (items: readonly Notification[]) => items.map(({ id }) => id);

type Row = Notification & { readonly change_sequence: number };

/** An inbox with changes and deletions, and its rows as the database has them. */
async function createLivelyInbox(): Promise<{ user: string; rows: Row[] }> {
  const user = await createInbox(test.database);
  const created = [...(await publishTo(user, 30, { actor: 'ann' })), ...(await publishTo(user, 15, { actor: 'bob' }))];
  await test.database.transaction(async (tx) => {
    for (const index of [3, 17, 18, 44, 3]) {
      await notifications.change(tx, created[index]?.id ?? '', { notification_type: 'pool' });
    }
    for (const index of [0, 9, 10, 11, 25, 43]) await notifications.remove(tx, created[index]?.id ?? '');
  });
  const { items } = await list(user, { limit: 100 });
  const numbers = await test.database.query<{ id: string; change_sequence: number }>(
    testSql('select id, change_sequence from notifications where user_id = $1', [user]),
  );
  const changes = new Map(numbers.map((row) => [row.id, row.change_sequence]));
  return { user, rows: items.map((item) => ({ ...item, change_sequence: changes.get(item.id) ?? 0 })) };
}

describe('list', () => {
  it('pages, sorts and limits by time and by `mark` (the last sequence to show) like a simple implementation of the rules', async () => {
    const { user, rows } = await createLivelyInbox();
    expect(rows).toHaveLength(39);
    const times = rows.flatMap(({ created_at, updated_at }) => [created_at, updated_at]);
    const other = ['1970-01-01T00:00:00.000000Z', '2999-01-01T00:00:00.000000Z'];
    const since = fc.constantFrom(...times, ...other).map((time) => parseTime(time));
    const filter = fc.constantFrom('', 'actor:ann', 'notification_type:neq:pool', 'actor:bob,notification_type:pool');
    const queries = fc.record({
      page: fc.integer({ min: 1, max: 6 }),
      limit: fc.integer({ min: 1, max: 45 }),
      field: fc.constantFrom('created_at' as const, 'updated_at' as const),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      since: fc.option(since, { nil: undefined }),
      mark: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
      filter,
    });
    const property = fc.asyncProperty(queries, async ({ field, direction, since, mark, filter, ...page }) => {
      const key = field === 'created_at' ? 'sequence' : 'change_sequence';
      const clauses = filter === '' ? [] : filterOf(filter);
      const matching = rows
        .filter((row) => since === undefined || row[field] > since)
        .filter((row) => mark === undefined || row.sequence <= mark)
        .filter((row) => !filter.includes('actor:ann') || row.actor === 'ann')
        .filter((row) => !filter.includes('actor:bob') || row.actor === 'bob')
        .filter((row) => !filter.includes('neq:pool') || row.notification_type !== 'pool')
        .filter((row) => !filter.includes('type:pool') || row.notification_type === 'pool')
        .sort((one, two) => (direction === 'asc' ? one[key] - two[key] : two[key] - one[key]));
      const start = (page.page - 1) * page.limit;
      const answer = await list(user, {
        ...page,
        sort: { field, direction },
        filter: clauses,
        ...(since && { since }),
        ...(mark !== undefined && { mark }),
      });
      expect(idsOf(answer.items)).toEqual(idsOf(matching.slice(start, start + page.limit)));
      expect(answer).toMatchObject({
        hasNext: matching.length > start + page.limit,
        total: matching.length,
        totalIsExact: true,
        // 45 creations, 5 changes, 6 deletions.
        mark: Math.min(mark ?? 56, 56),
      });
    });
    await fc.assert(property, { numRuns: runs(100, 300) });
  });

  it('continues from any row in either direction like a simple implementation of the rules', async () => {
    const { user, rows } = await createLivelyInbox();
    const walks = fc.record({
      limit: fc.integer({ min: 1, max: 45 }),
      field: fc.constantFrom('created_at' as const, 'updated_at' as const),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      side: fc.constantFrom('after' as const, 'before' as const),
      place: fc.integer({ min: 0, max: 57 }),
    });
    const property = fc.asyncProperty(walks, async ({ field, direction, side, place, limit }) => {
      const key = field === 'created_at' ? 'sequence' : 'change_sequence';
      const ordered = rows.toSorted((one, two) => (direction === 'asc' ? one[key] - two[key] : two[key] - one[key]));
      const isLater = (row: Row) => (direction === 'asc' ? row[key] > place : row[key] < place);
      const isEarlier = (row: Row) => (direction === 'asc' ? row[key] < place : row[key] > place);
      const beyond = ordered.filter(side === 'after' ? isLater : isEarlier);
      const expected = side === 'after' ? beyond.slice(0, limit) : beyond.slice(-limit);
      const answer = await list(user, { page: 2, limit, sort: { field, direction }, anchor: { side, place } });
      expect(idsOf(answer.items)).toEqual(idsOf(expected));
      expect(answer.places).toEqual(
        expected.length === 0 ? undefined : { first: expected[0]?.[key], last: expected.at(-1)?.[key] },
      );
      if (side === 'after') expect(answer.hasNext).toBe(beyond.length > limit);
    });
    await fc.assert(property, { numRuns: runs(80, 200) });
  });

  it('is empty for an inbox without notifications, and undefined without an inbox', async () => {
    const user = await createInbox(test.database);
    const empty = {
      items: [],
      hasNext: false,
      total: 0,
      totalIsExact: true,
      mark: 0,
      state: { changeSequence: 0, stamp: '0 -infinity' },
    };
    expect(await list(user)).toEqual(empty);
    expect(await list(user, { since: parseTime('2020-01-01 00:00:00') as Instant })).toEqual(empty);
    expect(await notifications.list('582a5abb-1335-4794-4855-11e067b8c55e', newestFirst)).toBeUndefined();
  });

  it("never shows another user's notifications, with any parameters", async () => {
    const [ann = '', bob = ''] = await createInboxes(test.database, 2);
    await publishTo(ann, 3, { actor: 'secret' });
    const [own] = await publishTo(bob, 1);
    const filters = [
      `user_id:${ann}`,
      `user_id:in:${ann};${bob}`,
      'actor:like:secret',
      `id:neq:${own?.id}`,
      'sequence:gte:0',
    ];
    for (const filter of filters) {
      const { items } = await list(bob, { filter: filterOf(filter), countsExactly: true });
      expect(items.filter(({ user_id }) => user_id !== bob)).toEqual([]);
    }
    expect(idsOf((await list(bob)).items)).toEqual([own?.id]);
  });

  it('counts all rows without extra work, but with a filter or since up to 1000 unless asked for more', async () => {
    const user = await createInbox(test.database);
    const [first] = await publishTo(user, 1, { actor: 'other' });
    await publishTo(user, 600, { actor: 'many' });
    await publishTo(user, 401, { actor: 'many' });
    const count = async (query: Partial<NotificationQuery>) => {
      const { total, totalIsExact } = await list(user, query);
      return [total, totalIsExact];
    };
    const since = first?.created_at as Instant;
    expect(await count({})).toEqual([1002, true]);
    expect(await count({ mark: 1001 })).toEqual([1001, true]);
    expect(await count({ filter: filterOf('actor:many') })).toEqual([1000, false]);
    expect(await count({ filter: filterOf('actor:many'), mark: 1001 })).toEqual([1000, true]);
    expect(await count({ filter: filterOf('actor:many'), countsExactly: true })).toEqual([1001, true]);
    expect(await count({ since })).toEqual([1000, false]);
    expect(await count({ since, countsExactly: true })).toEqual([1001, true]);
    expect(await count({ since, mark: 1001 })).toEqual([1000, true]);
  });

  it('misses and repeats nothing for a reader who sends the `mark` of each page for the next one, while others publish', async () => {
    for (const direction of ['asc', 'desc'] as const) {
      const user = await createInbox(test.database);
      const before = await publishTo(user, 30);
      const seen: string[] = [];
      let next: Partial<NotificationQuery> | undefined = { page: 1 };
      while (next !== undefined) {
        const page: InboxPage = await list(user, {
          ...next,
          limit: 7,
          sort: { field: 'created_at', direction },
        });
        seen.push(...idsOf(page.items));
        next = page.hasNext ? { page: (next.page ?? 1) + 1, mark: page.mark } : undefined;
        await publishTo(user, 3);
      }
      expect(seen).toEqual(direction === 'asc' ? idsOf(before) : idsOf(before).toReversed());
    }
  });
});

describe('a page far down that is asked for by number', () => {
  it('is found by the counts of blocks after changes and deletions', async () => {
    const user = await createInbox(test.database);
    const created: Notification[] = [];
    for (const type of ['payment', 'pool', 'payment', 'request'])
      created.push(...(await publishTo(user, 1000, { notification_type: type })));
    await test.database.transaction(async (tx) => {
      // Long ranges, the first and the last row of a block, and changed types.
      const stretches = [...created.slice(1200, 2300), ...created.slice(0, 3), ...created.slice(1022, 1026)];
      for (const { id } of stretches) await notifications.remove(tx, id);
      for (const { id } of created.slice(3000, 3100)) await notifications.change(tx, id, { notification_type: 'pool' });
      for (const { id } of created.slice(3050, 3060)) await notifications.change(tx, id, { notification_type: 'pool' });
    });
    const rows = await test.database.query<Row>(
      testSql(
        'select id, sequence, notification_type, created_at from notifications where user_id = $1 order by sequence',
        [user],
      ),
    );
    const jumps = fc.record({
      skipped: fc.integer({ min: 0, max: 3000 }),
      limit: fc.integer({ min: 1, max: 100 }),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      type: fc.constantFrom(undefined, 'payment', 'pool', 'request'),
      mark: fc.option(fc.integer({ min: 0, max: 6000 }), { nil: undefined }),
      since: fc.option(fc.constantFrom(...rows.map(({ created_at }) => created_at as Instant)), { nil: undefined }),
    });
    const property = fc.asyncProperty(jumps, async ({ skipped, limit, direction, type, mark, since }) => {
      const page = Math.floor(skipped / limit) + 1;
      const matching = rows.filter(
        (row) =>
          (type === undefined || row.notification_type === type) &&
          (mark === undefined || row.sequence <= mark) &&
          (since === undefined || row.created_at > since),
      );
      const ordered = direction === 'asc' ? matching : matching.toReversed();
      const filter = type === undefined ? [] : filterOf(`notification_type:${type}`);
      const answer = await list(user, {
        page,
        limit,
        filter,
        sort: { field: 'created_at', direction },
        ...(mark !== undefined && { mark }),
        ...(since !== undefined && { since }),
      });
      expect(idsOf(answer.items)).toEqual(idsOf(ordered.slice((page - 1) * limit, page * limit)));
      expect(answer.hasNext).toBe(ordered.length > page * limit);
      if (type === undefined && since === undefined) expect(answer.total).toBe(ordered.length);
    });
    await fc.assert(property, { numRuns: runs(130, 400) });
    expect(await countedBlocksOf(test.database, user)).toEqual({ counted: 3, wrong: 0 });
  });
});

describe('change and remove', () => {
  it('write the members that are present, and get a new change sequence', async () => {
    const user = await createInbox(test.database);
    const [created, later] = await publishTo(user, 2, { actor: 'ann', object_data_number: 1, object_data_string: 'x' });
    const id = created?.id ?? '';
    const change = (fields: object) =>
      test.database.transaction(async (tx) => (await notifications.change(tx, id, fields)).notification);
    const changed = await change({
      actor: null,
      description: 'new',
      object_data_number: 0.1,
      user_id: later?.user_id,
      id: later?.id,
    });
    expect(changed).toEqual({
      ...created,
      actor: null,
      description: 'new',
      object_data_number: 0.1,
      updated_at: expect.any(String),
    });
    expect(changed.updated_at > (later?.updated_at ?? '')).toBe(true);
    expect((await list(user, { sort: { field: 'updated_at', direction: 'desc' } })).items).toEqual([changed, later]);
    expect((await list(user)).items).toEqual([later, changed]);
  });

  it('set, replace and remove the image', async () => {
    const user = await createInbox(test.database);
    const [created] = await publishTo(user, 1);
    const change = (fields: object) =>
      test.database.transaction(async (tx) => (await notifications.change(tx, created?.id ?? '', fields)).notification);
    const one = 'https://images.example.com/1.jpg';
    const byUrl = await change({ image: one });
    expect(byUrl.image).toMatchObject({ url: one, full_screen_url: one, thumbnail_url: one });
    expect((await change({ actor: 'x' })).image).toEqual(byUrl.image);
    expect((await change({ image_id: null })).image).toBeNull();
    expect((await change({ image_id: byUrl.image?.id })).image).toEqual(byUrl.image);
    expect((await change({ image: null })).image).toBeNull();
    expect((await change({ image: null, image_id: byUrl.image?.id })).image).toEqual(byUrl.image);
  });
});
