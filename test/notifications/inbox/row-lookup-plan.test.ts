import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications, input, publishAll } from '../../support/inbox.js';
import { queriesOf, type SentQuery } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

let db: TestDatabase;
let notifications: Notifications;
let users: string[];
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  notifications = createTestNotifications(db.database);
  users = await createInboxes(db.database, 20);
  // Each user gets more rows than a block, which is a range of sequence numbers whose rows are counted together. The
  // first block of the last user is full, but is marked as not counted.
  for (let count = 0; count < 1200; count += 400) {
    const items = Array.from({ length: 400 }, (_, nth) => ({
      user_ids: users,
      notification_type: ['payment', 'pool', 'request'][nth % 3] ?? '',
      description: 'A payment',
    }));
    await publishAll({ database: db.database, notifications }, items);
  }
  await db.database.query(testSql('update inboxes set counted_blocks = 0 where user_id = $1', [users[19]]));
  await db.database.query(testSql('analyze'));
});
afterAll(() => db.drop());

/** The nodes of a plan that read notifications. */
async function nodesOf({ text, values = [] }: SentQuery): Promise<PlanNode[]> {
  const [row] = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    testSql(`explain (format json) ${text}`, values),
  );
  return row === undefined ? [] : readsOf(row['QUERY PLAN'][0].Plan);
}

/** The nodes below that read the table or an index of notifications. A bitmap scan is replaced by its index scans. */
function readsOf(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(readsOf);
  const isRead = node['Node Type'].endsWith('Scan') && node['Node Type'] !== 'Bitmap Heap Scan';
  const isOfNotifications =
    node['Relation Name'] === 'notifications' || node['Index Name']?.startsWith('notifications_');
  return isRead && isOfNotifications ? [node, ...below] : below;
}

test('a notification whose id is known is found by the index on ids', async () => {
  const [row] = await db.database.query<{ id: string; user_id: string }>(
    testSql('select id, user_id from notifications where user_id = $1 order by sequence limit 1', [users[0]]),
  );
  const { id = '', user_id: userId = '' } = row ?? {};
  const sent = await queriesOf(async () => {
    await createReadPositions(db.database, () => undefined).move(userId, { last_read_id: id });
    await db.database.transaction((tx) => notifications.change(tx, id, { notification_type: 'pool' }));
    await db.database.transaction((tx) => notifications.remove(tx, id));
  });
  const byId = sent.filter(({ text }) => /notifications[^;]* id = \$/.test(text));
  expect(byId.length).toBeGreaterThanOrEqual(5);
  for (const query of byId) {
    const nodes = await nodesOf(query);
    expect(new Set(nodes.map((node) => node['Index Name'])), query.text).toEqual(new Set(['notifications_by_id']));
  }
});

test('a full block is counted by reading its part of one index only', async () => {
  const counting = await queriesOf(() =>
    publishAll({ database: db.database, notifications }, [input(users[19] ?? '')]),
  );
  const query = counting.find(({ name }) => name === 'blocks_count');
  await db.database.query(testSql('update inboxes set counted_blocks = 0 where user_id = $1', [users[19]]));
  const nodes = query === undefined ? [] : await nodesOf(query);
  expect(nodes.length).toBeGreaterThan(0);
  for (const node of nodes) {
    expect(node).toMatchObject({ 'Node Type': 'Index Only Scan', 'Index Name': 'notifications_by_type' });
  }
  expect(nodes.map((node) => node['Index Cond']).join()).toMatch(/notification_type = .*sequence >= .*sequence < /);
});
