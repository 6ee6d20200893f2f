import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settleQueues, takeQueues } from '../../src/webhooks/sending-queries.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

const [known, added] = [randomUUID(), randomUUID()];
let db: TestDatabase;
const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  db.database.query<Row>(testSql(text, values));

// The statistics contain delivered events of one endpoint only. The other one was created after them.
beforeAll(async () => {
  db = await createTestDatabase();
  await fill(known, 'delivered');
  await rows('analyze webhook_deliveries, webhook_queues');
  await fill(added, 'pending');
});
afterAll(() => db.drop());

async function fill(endpoint: string, state: string) {
  await rows(
    `with users as materialized (select gen_random_uuid() as id from generate_series(1, 5000)),
     queues as (insert into webhook_queues (user_id, endpoint_id, pending, due_at) select id, $1, 1, now() from users)
     insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, state, created_at)
     select id, gen_random_uuid(), $1, 1, gen_random_uuid(), 'user.updated', $2, now() from users`,
    [endpoint, state],
  );
}

/** The scans of a statement's plan: the line that names what is read, and the next one, which has the condition. */
async function scansOf({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) {
  const plan = await rows<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
  const lines = plan.map((line) => line['QUERY PLAN']);
  return lines.flatMap((line, index) =>
    line.includes('Scan') && line.includes(' on webhook_')
      ? [line.replace(/.*->\s+| {2}\(.*/g, ''), `${lines[index + 1]?.trim()}`]
      : [],
  );
}

test('deliveries are settled by their keys, also if none of those in the statistics was pending', async () => {
  const scans = await scansOf(settleQueues({ endpointId: added, lease: randomUUID(), queues: '[]', results: '[]' }));
  const delivery = scans.indexOf('Index Scan using webhook_deliveries_pkey on webhook_deliveries d');
  expect(scans[delivery + 1]).toMatch(/^Index Cond: .*user_id = .* AND .*id = /);
  expect(scans.join()).not.toContain('webhook_queues_due');
  expect(scans.join()).not.toContain('webhook_deliveries_pending');
});

test('the queues of a new endpoint are taken by their keys, although the statistics do not contain it', async () => {
  const scans = await scansOf(takeQueues({ endpointId: added, lease: randomUUID(), limit: 32 }));
  expect(scans.filter((scan) => scan.startsWith('Index Scan using'))).toEqual(
    expect.arrayContaining([
      'Index Scan using webhook_queues_due on webhook_queues',
      'Index Scan using webhook_queues_pkey on webhook_queues q',
      'Index Scan using webhook_deliveries_pending on webhook_deliveries',
    ]),
  );
  expect(scans.join()).not.toContain('webhook_deliveries_by_endpoint');
});
