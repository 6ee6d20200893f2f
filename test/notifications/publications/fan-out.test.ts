import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bound, sql } from '../../../src/database/sql.js';
import { Problem } from '../../../src/lib/problem.js';
import { createFanOut, type FanOutOptions } from '../../../src/notifications/publications/fan-out.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications } from '../../support/inbox.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
let users: string[];
const topicId = randomUUID();
const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  fresh.database.query<Row>(testSql(text, values));

beforeAll(async () => {
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  users = (await createInboxes(fresh.database, 20_000)).sort();
  await rows(
    `insert into topics (id, key, title, is_open, created_at, updated_at)
     select id, key, '', false, db_now(), db_now()
     from (values ($1::uuid, 'club'), (gen_random_uuid(), 'other')) topic (id, key)`,
    [topicId],
  );
  await rows(
    `insert into subscriptions (topic_id, user_id, created_at)
     select topics.id, u.id, db_now() from topics, unnest($1::uuid[]) u (id) where topics.id <> $2 or u.id <= $3`,
    [users, topicId, users[4999]],
  );
  await rows('analyze');
});
afterAll(() => fresh.drop());

function createStep(options: Partial<FanOutOptions> = {}) {
  const notifications = createTestNotifications(fresh.database);
  return createFanOut({
    database: fresh.database,
    userCondition: async () => sql`u.locale is distinct from ${bound('xx')}::text`,
    publish: notifications.publishTo,
    remove: notifications.removeAll,
    announce: async () => undefined,
    onFailure: () => undefined,
    isBusy: () => false,
    ...options,
  });
}

const notification = { notification_type: 'payment', description: 'A payment' };
async function newPublication(target: object, of: string | null = null): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into notification_publications (id, status, target, topic_id, notification, due_at, created_at, updated_at)
     values ($1, 'scheduled', $2, $3, $4, db_now(), db_now(), db_now())`,
    [id, JSON.stringify(target), of, JSON.stringify(notification)],
  );
  return id;
}
interface Stored {
  status: string;
  created: number;
  recipients: number;
  error_code: string | null;
  due_at: string | null;
  recall_finished_at: string | null;
}
const read = async (id: string) =>
  (await rows<Stored>('select * from notification_publications where id = $1', [id]))[0];

test('two instances share a publication: each user gets one notification', async () => {
  await rows('delete from notifications');
  const id = await newPublication({ topic: 'club' }, topicId);
  const steps = [createStep(), createStep()];
  while ((await read(id))?.status !== 'done') await Promise.all(steps.map((step) => step()));
  expect(await read(id)).toMatchObject({ created: 5000, recipients: 5000, skipped: 0 });
  const counts =
    'select count(*)::int as users, sum(n)::int as rows from (select count(*) as n from notifications group by user_id) i';
  expect(await rows(counts)).toEqual([{ users: 5000, rows: 5000 }]);
});

test('publications that run at the same time take turns', async () => {
  const ids = [await newPublication({ topic: 'club' }, topicId), await newPublication({ topic: 'club' }, topicId)];
  const step = createStep();
  // Two starts, and two chunks.
  for (let nth = 0; nth < 4; nth += 1) await step();
  for (const id of ids) expect((await read(id))?.created).toBeGreaterThan(0);
  while ((await step()).isDone);
});

describe('a publication whose step fails', () => {
  test('holds up no other, is repeated later, with smaller chunks, and shows why', async () => {
    const broken = await newPublication({ topic: 'club' }, topicId);
    const other = await newPublication({ topic: 'club' }, topicId);
    await rows(`update notification_publications set due_at = due_at - interval '1 hour' where id = $1`, [broken]);
    await rows(
      `update notification_publications set notification = notification || '{"description": "Broken"}' where id = $1`,
      [broken],
    );
    const { publishTo } = createTestNotifications(fresh.database);
    const sizes: number[] = [];
    const failed: string[] = [];
    let isBroken = true;
    const step = createStep({
      async publish(tx, content, to) {
        if (content.description === 'Broken') sizes.push(to.userIds.length);
        if (content.description === 'Broken' && isBroken) throw new Problem('storage_unavailable');
        return publishTo(tx, content, to);
      },
      onFailure: (_error, id) => failed.push(id),
    });
    while ((await step()).isDone);
    expect(await read(other)).toMatchObject({ status: 'done', created: 5000, error_code: null });
    expect(await read(broken)).toMatchObject({ status: 'running', created: 0, error_code: 'storage_unavailable' });
    // A slow machine may have repeated it meanwhile.
    expect(new Set(failed)).toEqual(new Set([broken]));
    const wait = async () =>
      (
        await rows<{ s: number }>(
          'select extract(epoch from due_at - updated_at)::float8 as s from notification_publications where id = $1',
          [broken],
        )
      )[0]?.s ?? 0;
    const dueNow = () => rows('update notification_publications set due_at = db_now() where id = $1', [broken]);
    const first = await wait();
    await dueNow();
    while ((await step()).isDone);
    expect(await wait()).toBeGreaterThan(2 * first);
    isBroken = false;
    await dueNow();
    while ((await step()).isDone);
    expect(await read(broken)).toMatchObject({ status: 'done', created: 5000, error_code: null });
    const [one = 0, two = 0, three = 0] = sizes;
    expect([two < one, three < two]).toEqual([true, true]);
  });

  test('is due at once if a request has changed it meanwhile', async () => {
    const id = await newPublication({ topic: 'club' }, topicId);
    const step = createStep({
      async publish() {
        throw new Problem('storage_unavailable');
      },
      // The transaction of the step has ended, and the failure is not recorded yet.
      database: {
        ...fresh.database,
        async transaction(work) {
          try {
            return await fresh.database.transaction(work);
          } catch (error) {
            await rows(
              `update notification_publications set status = 'cancelled', ended_at = db_now(), updated_at = db_now(),
                 recall_requested_at = db_now() where id = $1`,
              [id],
            );
            throw error;
          }
        },
      },
    });
    while ((await step()).isDone);
    expect(await read(id)).toMatchObject({ status: 'cancelled', error_code: null, due_at: null });
  });
});

test('a filter that takes long to count does not delay the start', async () => {
  const id = await newPublication({ users: 'locale:neq:xx' });
  // The fan-out counts with `status`, and reads a chunk by the key.
  const step = createStep({ userCondition: async () => sql`(pg_sleep(0.001) is not null)` });
  await step();
  const { status, recipients = 0 } = (await read(id)) ?? {};
  expect(status).toBe('running');
  expect(recipients).toBeGreaterThan(0);
  await rows('update notification_publications set due_at = null where id = $1', [id]);
});

test.each([
  ['deleted', async (first: string) => rows('delete from users where id = $1', [first])],
  [
    'inserted',
    async () =>
      rows(
        `insert into users (id, created_at, updated_at) values ('00000000-0000-4000-8000-000000000000', db_now(), db_now())`,
      ),
  ],
])(
  'a user who is %s while a chunk of a filter is read makes it neither miss nor repeat others',
  async (_name, change) => {
    await rows('delete from notifications');
    const all = (await rows<{ id: string }>('select id from users order by id')).map(({ id }) => id);
    const more = await createInboxes(fresh.database, 100);
    const sorted = [...all, ...more].sort();
    // Around the end of the 20,000 users that a chunk examines.
    const matching = sorted.slice(19_990, 20_010);
    const id = await newPublication({ users: 'locale:neq:xx' });
    let isChanged = false;
    const step = createStep({
      userCondition: async () => sql`u.id = any (${bound(matching)}::uuid[])`,
      database: {
        ...fresh.database,
        transaction: (work) =>
          fresh.database.transaction((tx) =>
            work({
              ...tx,
              async query(statement) {
                const found = await tx.query(statement);
                const isRead = /is_active/.test(statement.text) && !isChanged;
                if (isRead) isChanged = true;
                if (isRead) await change(more.sort()[0] ?? '');
                return found;
              },
            }),
          ),
      },
    });
    while ((await step()).isDone);
    expect(isChanged).toBe(true);
    expect(await read(id)).toMatchObject({ status: 'done', created: matching.length });
    const counts = await rows<{ n: number }>('select count(*)::int as n from notifications group by user_id');
    expect(counts).toEqual(matching.map(() => ({ n: 1 })));
    await rows('delete from users where id = any ($1)', [[...more, '00000000-0000-4000-8000-000000000000']]);
  },
);

test('a clock that is set back does not stop a publication that runs, and does not start one early', async () => {
  const later = await newPublication({ topic: 'club' }, topicId);
  await rows(`update notification_publications set due_at = db_now() + interval '30 minutes' where id = $1`, [later]);
  const running = await newPublication({ topic: 'club' }, topicId);
  const steps = [createStep(), createStep()];
  await steps[0]?.();
  while ((await read(running))?.created === 0) await steps[0]?.();
  await rows(`update notification_publications set rate = 1000 where id = $1`, [running]);
  await stepClock(fresh.database, '-1 hour');
  // The second instance has not looked at the clock before.
  await steps[1]?.();
  await steps[1]?.();
  const [row] = await rows<{ s: number }>(
    `select extract(epoch from due_at - db_now())::float8 as s from notification_publications where id = $1`,
    [running],
  );
  expect(row?.s).toBeLessThan(60);
  await rows(`update notification_publications set rate = null, due_at = db_now() where id = $1`, [running]);
  while ((await read(running))?.status !== 'done') await steps[1]?.();
  expect(await read(later)).toMatchObject({ status: 'scheduled' });
  await stepClock(fresh.database, '0');
  await rows('update notification_publications set due_at = null where id = $1', [later]);
});

test('a slow recall removes smaller parts of a chunk', async () => {
  await rows('delete from notifications');
  const id = await newPublication({ topic: 'club' }, topicId);
  while ((await createStep()()).isDone);
  await rows('update notification_publications set due_at = db_now(), recall_requested_at = db_now() where id = $1', [
    id,
  ]);
  const { removeAll } = createTestNotifications(fresh.database);
  const sizes: number[] = [];
  const step = createStep({
    async remove(tx, userIds, ids) {
      sizes.push(userIds.length);
      if (userIds.length > 300) throw new Problem('storage_unavailable');
      return removeAll(tx, userIds, ids);
    },
  });
  while ((await read(id))?.recall_finished_at === null) {
    await step();
    await rows('update notification_publications set due_at = db_now() where id = $1 and due_at is not null', [id]);
  }
  expect(await read(id)).toMatchObject({ removed: 5000 });
  expect(await rows('select count(*)::int as n from notifications')).toEqual([{ n: 0 }]);
  expect(sizes[0]).toBeGreaterThan(300);
});

test('what became due while nothing ran starts with the first step of the next process, and once for all processes', async () => {
  await rows('delete from notifications');
  const id = await newPublication({ topic: 'club' }, topicId);
  await rows(
    `update notification_publications set due_at = db_now() - interval '3 days', send_at = db_now() - interval '3 days' where id = $1`,
    [id],
  );
  const news: string[] = [];
  const announce = async (_tx: unknown, event: { readonly type: string; readonly id: string }) => {
    if (event.id === id) news.push(event.type);
  };
  const steps = [createStep({ announce }), createStep({ announce })];
  await steps[0]?.();
  expect(news).toEqual(['publication.started']);
  await Promise.all(
    steps.map(async (step) => {
      while ((await read(id))?.status !== 'done') await step();
    }),
  );
  expect(news).toEqual(['publication.started', 'publication.done']);
  expect(await rows('select user_id from notifications group by user_id having count(*) > 1')).toEqual([]);
  expect(await read(id)).toMatchObject({ created: 5000 });
});

test('a recall of a slow publication, whose chunks are small, takes large steps', async () => {
  await rows('delete from notifications');
  const id = await newPublication({ topic: 'club' }, topicId);
  const step = createStep();
  while ((await step()).isDone);
  // As a publication with the rate 2 has written them.
  await rows(
    `with old as (delete from publication_chunks where publication_id = $1 returning user_ids, notification_ids)
     insert into publication_chunks (publication_id, first_user, last_user, user_ids, notification_ids)
     select $1, u, u, array[u], array[n] from old, unnest(user_ids, notification_ids) item (u, n)
     where not exists (select from old where user_ids[1] = u)`,
    [id],
  );
  const [stored] = await rows<{ n: number }>(
    'select count(*)::int as n from publication_chunks where publication_id = $1',
    [id],
  );
  const all = stored?.n ?? 0;
  expect(all).toBeGreaterThan(4900);
  await rows('update notification_publications set due_at = db_now(), recall_requested_at = db_now() where id = $1', [
    id,
  ]);
  let steps = 0;
  // A step that failed because the machine is busy is repeated later: nothing is due until then.
  while ((await read(id))?.recall_finished_at === null) if ((await step()).isDone) steps += 1;
  // Hundreds in each step, unless the database is slow.
  expect(steps).toBeLessThan(all / 20);
  expect(await rows('select removed::int from notification_publications where id = $1', [id])).toEqual([
    { removed: all },
  ]);
});

test('a recall finds the notification of a guest who is merged meanwhile', async () => {
  await rows('delete from notifications');
  const [guest = '', account = ''] = users;
  const id = await newPublication({ topic: 'club' }, topicId);
  while ((await createStep()()).isDone);
  await rows('update notification_publications set due_at = db_now(), recall_requested_at = db_now() where id = $1', [
    id,
  ]);
  const { removeAll } = createTestNotifications(fresh.database);
  let merges = 0;
  const step = createStep({
    async remove(tx, userIds, ids) {
      if (merges === 0 && userIds.includes(guest)) {
        merges += 1;
        await rows(
          'update notifications set user_id = $2, sequence = sequence + 1000, change_sequence = change_sequence + 1000 where user_id = $1',
          [guest, account],
        );
      }
      return removeAll(tx, userIds, ids);
    },
  });
  while ((await read(id))?.recall_finished_at === null) await step();
  expect(merges).toBe(1);
  expect(await rows('select from notifications')).toEqual([]);
});

test('a publication that cannot be started now does not hold up the others', async () => {
  const broken = await newPublication({ users: 'broken' });
  const other = await newPublication({ topic: 'club' }, topicId);
  const step = createStep({ userCondition: () => Promise.reject(new Error('not now')) });
  while ((await read(other))?.status !== 'done') await step();
  expect(await read(broken)).toMatchObject({ status: 'scheduled', created: 0, error_code: 'internal_error' });
  await rows('update notification_publications set due_at = null where id = $1', [broken]);
});

test('while other requests use the database, a chunk is smaller and a rest follows', async () => {
  const id = await newPublication({ topic: 'club' }, topicId);
  const step = createStep({ isBusy: () => true });
  await step();
  const { rest } = await step();
  expect(rest).toBeGreaterThan(0);
  const { created = 0 } = (await read(id)) ?? {};
  expect(created).toBeGreaterThan(0);
  expect(created).toBeLessThanOrEqual(500);
  while ((await createStep()()).isDone);
});

test.each([
  ['a topic', { topic: 'club' }, topicId],
  ['a filter', { users: 'locale:neq:xx' }, null],
  ['everyone', { everyone: true }, null],
])('a chunk for %s reads users by their key, as many as it needs', async (_name, target, of) => {
  const id = await newPublication(target, of);
  const step = createStep();
  await step();
  const sent = await queriesOf(step);
  const texts = sent.filter(({ text }) => /^\s*(select|with|insert|update|delete)/.test(text));
  expect(texts.length).toBeGreaterThan(4);
  const seen: string[] = [];
  for (const { text, values = [] } of texts) {
    // 20,000 rows are so few that the planner may read them all. Then it shows whether it has to.
    const plan = await fresh.database.transaction(async (tx) => {
      await tx.query(testSql('set local enable_seqscan = off'));
      return tx.query<object>(testSql(`explain (format json) ${text}`, [...values]));
    });
    seen.push(...(JSON.stringify(plan).match(/"Node Type":"Seq Scan"[^{}]*"Relation Name":"\w+"/g) ?? []));
  }
  const large = seen.filter((node) => /"(users|subscriptions|inboxes|notifications)"/.test(node));
  expect(large).toEqual([]);
  await rows(`update notification_publications set due_at = null where id = $1`, [id]);
});

test.each([
  ['a topic', 'with', { topic: 'club' }, 'subscriptions'],
  ['a topic', 'without', { topic: 'club' }, 'subscriptions'],
  ['a list of users', 'with', { count: 20_000 }, 'publication_recipients'],
  ['a list of users', 'without', { count: 20_000 }, 'publication_recipients'],
])('a chunk for %s reads as many rows as it needs, %s statistics', async (_name, statistics, target, table) => {
  const large = randomUUID();
  await rows(
    `insert into topics (id, key, title, is_open, created_at, updated_at) values ($1, $2, '', false, db_now(), db_now())`,
    [...[large, `large-${table}-${statistics}`]],
  );
  await rows(
    'insert into subscriptions (topic_id, user_id, created_at) select $1, id, db_now() from unnest($2::uuid[]) id',
    [...[large, users]],
  );
  const id = await newPublication(target, large);
  await rows('insert into publication_recipients (publication_id, user_id) select $1, id from unnest($2::uuid[]) id', [
    ...[id, users],
  ]);
  await rows(`analyze users, ${table}`);
  if (statistics === 'without') {
    await rows(`delete from pg_statistic where starelid = any ($1::regclass[])`, [['users', table]]);
    await rows(`update pg_class set reltuples = -1, relpages = 0 where oid = any ($1::regclass[])`, [['users', table]]);
  }
  const step = createStep();
  await step();
  const sent = await queriesOf(step);
  const { text = '', values = [] } = sent.find((query) => query.text.includes('page as materialized')) ?? {};
  const plan = await rows(`explain (analyze, format json) ${text}`, [...values]);
  const scans = JSON.stringify(plan).matchAll(
    /"Relation Name":"(\w+)"[^{}]*?"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g,
  );
  const read = [...scans].map(([, name, count, loops]) => [name, Number(count) * Number(loops)]).sort();
  expect(read).toEqual(
    [
      [table, 2000],
      ['users', 2000],
    ].sort(),
  );
  await rows('delete from notification_publications where id = $1', [id]);
});
