import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Statement, sql } from '../../src/database/database.js';
import { parseFilter } from '../../src/lib/filter/parse.js';
import { type Instant, parseTime } from '../../src/lib/times.js';
import { notificationFilterFields } from '../../src/notifications/filter-fields.js';
import { listStatement, type NotificationQuery } from '../../src/notifications/list-queries.js';
import { createMarkers } from '../../src/notifications/marker.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { queriesOf } from '../support/queries.js';
import { createInboxes, newestFirst, types } from './inbox.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

let test: TestDatabase;
let users: string[];
beforeAll(async () => {
  test = await createTestDatabase();
  users = await createInboxes(test.database, 50);
  // Users take turns, so that every user's rows lie all over the table.
  await test.database.query(
    sql(`insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
      select user_id, gen_random_uuid(), n, n, 'payment', 'A payment of some length', time, time
      from generate_series(1, 100) n
        cross join unnest($1::uuid[]) user_id
        cross join lateral (select timestamptz '2020-01-01Z' + n * interval '1 minute' as time) moment`),
    [users],
  );
  await test.database.query(
    sql(`update inboxes set last_change_sequence = 100, total = 100, last_time = '2020-01-01 02:00Z'`),
  );
  await test.database.query(sql('analyze'));
});
afterAll(() => test.drop());

const filterFields = notificationFilterFields(types);
const queries: Readonly<Record<string, Partial<NotificationQuery>>> = {
  'by default': {},
  'on a later page under a mark': { page: 3, mark: 90 },
  'behind an anchor': { page: 3, mark: 90, anchor: { side: 'after', place: 60 } },
  'before an anchor, of one type': {
    ...{ page: 3, mark: 90, anchor: { side: 'before', place: 60 } },
    filter: parseFilter('notification_type:payment', filterFields),
  },
  'far down by number': { page: 500, mark: 90 },
  'far down by number, of one type': { page: 500, filter: parseFilter('notification_type:payment', filterFields) },
  'by updated_at': { sort: { field: 'updated_at', direction: 'asc' } },
  'with since': { since: parseTime('2020-01-01 01:00:00') as Instant },
  'with a filter': { filter: parseFilter('notification_type:payment,description:like:some', filterFields) },
  'with a filter and a full count': { filter: parseFilter('sequence:gt:3', filterFields), countsExactly: true },
};

describe('the plan of a list', () => {
  it.each(Object.keys(queries))('touches rows of its user alone, by an index %s', async (name) => {
    await expectOwnRowsOnly(users[7] ?? '', { ...newestFirst, ...queries[name] });
  });
});

// There a scan of the table seems to come upon a thousand rows of the user soon; in truth they may all lie at its end.
describe('the plan in an inbox that makes up most of the table', () => {
  beforeAll(async () => {
    await test.database.query(
      sql(`insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
        select $1, gen_random_uuid(), n, n, 'payment', 'A payment of some length', now(), now()
        from generate_series(101, 30000) n on conflict do nothing`),
      [users[8]],
    );
    await test.database.query(sql('analyze notifications'));
  });

  it.each(['notification_type:payment', 'description:like:some'])(
    'of a list touches rows of its user alone, by an index with %s',
    async (filter) => {
      await expectOwnRowsOnly(users[8] ?? '', { ...newestFirst, filter: parseFilter(filter, filterFields) });
    },
  );

  it('of counting what is unread goes by the sequences alone', async () => {
    const markers = createMarkers(test.database, () => undefined);
    const [query] = await queriesOf(() => markers.read(users[8] ?? ''));
    const scans = query === undefined ? [] : await scansFor(query, query.values);
    expect(scans.map((scan) => scan['Index Name'])).toEqual(['notifications_by_sequence']);
  });
});

async function expectOwnRowsOnly(userId: string, query: NotificationQuery): Promise<void> {
  const { statement, values } = listStatement(userId, query);
  const scans = await scansFor(statement, values);
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans) {
    expect(scan['Node Type']).toMatch(/^(Index Scan|Index Only Scan|Bitmap Index Scan)$/);
    expect(scan['Index Name']).toMatch(/^notifications_(by_sequence|by_change|by_type)$/);
    expect(scan['Index Cond']).toContain('user_id =');
  }
}

async function scansFor({ text }: Statement, values: readonly unknown[] = []): Promise<PlanNode[]> {
  const explain = sql(`explain (format json) ${text}`);
  const [row] = await test.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, values);
  return row === undefined ? [] : scansOf(row['QUERY PLAN'][0].Plan);
}

/** The nodes that read `notifications`; of a bitmap scan the one that reads the index. */
function scansOf(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scansOf);
  if (node['Node Type'] === 'Bitmap Heap Scan') return below;
  const reads = node['Relation Name'] === 'notifications' || node['Node Type'] === 'Bitmap Index Scan';
  return reads ? [node, ...below] : below;
}
