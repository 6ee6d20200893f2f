import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bound, sql } from '../../../src/database/sql.js';
import { createFanOut, type FanOutOptions } from '../../../src/notifications/publications/fan-out.js';
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
  fresh = await createTestDatabase();
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
const read = async (id: string) =>
  (await rows<{ status: string; created: number }>('select * from notification_publications where id = $1', [id]))[0];

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

test('a publication that cannot be written now does not hold up the others', async () => {
  const broken = await newPublication({ users: 'broken' });
  const other = await newPublication({ topic: 'club' }, topicId);
  const step = createStep({ userCondition: () => Promise.reject(new Error('not now')) });
  await expect(step()).rejects.toThrow('not now');
  while ((await read(other))?.status !== 'done') await step().catch(() => undefined);
  expect(await read(broken)).toMatchObject({ status: 'scheduled', created: 0 });
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
    const plan = await rows<{ 'QUERY PLAN': object[] }>(`explain (format json) ${text}`, [...values]);
    seen.push(...(JSON.stringify(plan).match(/"Node Type":"Seq Scan"[^{}]*"Relation Name":"\w+"/g) ?? []));
  }
  const large = seen.filter((node) => /"(users|subscriptions|inboxes|notifications)"/.test(node));
  expect(large).toEqual([]);
  await rows(`update notification_publications set due_at = null where id = $1`, [id]);
});
