import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import { type Instant, parseTime } from '../../../src/lib/times.js';
import { notificationFilterFields } from '../../../src/notifications/inbox/filter-fields.js';
import { listStatement, type NotificationQuery } from '../../../src/notifications/inbox/list-queries.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, newestFirst, types } from '../../support/inbox.js';
import { queriesOf, type SentQuery } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Parallel Aware'?: boolean;
  readonly Plans?: readonly PlanNode[];
}

let test: TestDatabase;
let users: string[];
beforeAll(async () => {
  test = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  users = await createInboxes(test.database, 50);
  // Rows of the users alternate, so that each user's rows are spread over the whole table.
  await test.database.query(
    testSql(
      `insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
      select user_id, gen_random_uuid(), n, n, 'payment', 'A payment of some length', time, time
      from generate_series(1, 100) n
        cross join unnest($1::uuid[]) user_id
        cross join lateral (select timestamptz '2020-01-01Z' + n * interval '1 minute' as time) moment`,
      [users],
    ),
  );
  await test.database.query(
    testSql(`update inboxes set last_change_sequence = 100, total = 100, last_time = '2020-01-01 02:00Z'`),
  );
  await test.database.query(testSql('analyze'));
});
afterAll(() => test.drop());

const filterFields = notificationFilterFields(types);
const queries: Readonly<Record<string, Partial<NotificationQuery>>> = {
  'by default': {},
  'on a later page under a mark': { page: 3, mark: 90 },
  'behind an anchor': { page: 3, mark: 90, anchor: { side: 'after', place: 60 } },
  'before an anchor, of one type': {
    page: 3,
    mark: 90,
    anchor: { side: 'before', place: 60 },
    filter: parseFilter('notification_type:payment', filterFields),
  },
  'far down by number': { page: 500, mark: 90 },
  'far down by number, of one type': { page: 500, filter: parseFilter('notification_type:payment', filterFields) },
  'by updated_at': { sort: { field: 'updated_at', direction: 'asc' } },
  'with since': { since: parseTime('2020-01-01 01:00:00') as Instant },
  'with a filter': { filter: parseFilter('notification_type:payment,description:like:some', filterFields) },
  'of the inbox without archived ones': { view: 'inbox' },
  'of archived ones': { view: 'archived' },
  'of snoozed ones, with a filter': { view: 'snoozed', filter: parseFilter('notification_type:payment', filterFields) },
  'with extras': { includesExtra: true },
  'with extras, of the inbox without archived ones': { includesExtra: true, view: 'inbox' },
  'with a filter and a full count': { filter: parseFilter('sequence:gt:3', filterFields), countsExactly: true },
};

describe('the plan of a list', () => {
  it.each(Object.keys(queries))('reads only rows of its user, by an index: %s', async (name) => {
    await expectOwnRowsOnly(users[7] ?? '', { ...newestFirst, ...queries[name] });
  });
});

// The planner expects that a scan of the table finds a thousand rows of the user soon, but they may all be at its end.
describe('the plan in an inbox that makes up most of the table', () => {
  beforeAll(async () => {
    await test.database.query(
      testSql(
        `insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
        select $1, gen_random_uuid(), n, n, 'payment', 'A payment of some length', now(), now()
        from generate_series(101, 30000) n on conflict do nothing`,
        [users[8]],
      ),
    );
    await test.database.query(testSql('analyze notifications'));
  });

  it.each(['notification_type:payment', 'description:like:some'])(
    'of a list with %s reads only rows of its user, by an index',
    async (filter) => {
      await expectOwnRowsOnly(users[8] ?? '', { ...newestFirst, filter: parseFilter(filter, filterFields) });
    },
  );

  it.each(['inbox', 'archived', 'snoozed'] as const)('of the view %s reads only rows of its user', async (view) => {
    await expectOwnRowsOnly(users[8] ?? '', { ...newestFirst, view });
  });

  it('of an expensive list uses one process, however cheap others seem', async () => {
    const filter = parseFilter('description:like:nowhere', filterFields);
    const { text, values } = listStatement(users[8] ?? '', { ...newestFirst, filter });
    const plan = await test.database.transaction(async (tx) => {
      for (const name of [
        'parallel_setup_cost',
        'parallel_tuple_cost',
        'min_parallel_table_scan_size',
        'min_parallel_index_scan_size',
      ])
        await tx.query(testSql("select set_config($1, '0', true)", [name]));
      const explain = testSql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${text}`, values);
      return await tx.query(explain);
    });
    const scans = plan.flatMap((row) => scansOf(row['QUERY PLAN'][0].Plan));
    expect(new Set(scans.map((scan) => scan['Parallel Aware']))).toEqual(new Set([false]));
  });

  it('of counting unread notifications reads only the index on sequences', async () => {
    const markers = createReadPositions(test.database, () => undefined);
    const [query] = await queriesOf(() => markers.read(users[8] ?? ''));
    const scans = query === undefined ? [] : await scansFor(query);
    // The second scan is that of notifications below the read position that were marked as unread.
    expect(scans.map((scan) => scan['Index Name'])).toEqual(['notifications_by_sequence', 'notifications_by_sequence']);
  });
});

// Last, because it fills a table that the planner reads for other lists too.
it('a list with extras looks up the state of each notification by its key, and no other states of its user', async () => {
  const user = users[7] ?? '';
  await test.database.transaction(async (tx) => {
    await tx.query(
      testSql(
        `insert into notification_states (user_id, sequence, is_read, version, updated_at)
         select user_id, sequence, true, 1, db_now() from notifications`,
      ),
    );
    await tx.query(testSql('set local enable_seqscan = off'));
    const { text, values = [] } = listStatement(user, { ...newestFirst, includesExtra: true });
    const [row] = await tx.query(
      testSql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${text}`, values),
    );
    const scans = row === undefined ? [] : scansOf(row['QUERY PLAN'][0].Plan, 'notification_states');
    expect(scans.map((scan) => [scan['Index Name'], scan['Index Cond']])).toEqual([
      ['notification_states_snoozed', expect.stringMatching(/user_id = .*snoozed_until <=/)],
      ['notification_states_pkey', expect.stringMatching(/user_id = .*sequence = /)],
    ]);
  });
});

async function expectOwnRowsOnly(userId: string, query: NotificationQuery): Promise<void> {
  const statement = listStatement(userId, query);
  const scans = await scansFor(statement);
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans) {
    expect(scan['Node Type']).toMatch(/^(Index Scan|Index Only Scan|Bitmap Index Scan)$/);
    expect(scan['Index Name']).toMatch(/^notifications_(by_sequence|by_change|by_type|expiring)$/);
    expect(scan['Index Cond']).toContain('user_id =');
  }
}

async function scansFor({ text, values = [] }: SentQuery): Promise<PlanNode[]> {
  const explain = testSql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${text}`, values);
  const [row] = await test.database.query(explain);
  return row === undefined ? [] : scansOf(row['QUERY PLAN'][0].Plan);
}

/** The nodes that read a table; for a bitmap scan, the one that reads the index. */
function scansOf(node: PlanNode, relation = 'notifications'): PlanNode[] {
  const below = (node.Plans ?? []).flatMap((each) => scansOf(each, relation));
  if (node['Node Type'] === 'Bitmap Heap Scan') return below;
  const reads = node['Relation Name'] === relation || node['Node Type'] === 'Bitmap Index Scan';
  return reads ? [node, ...below] : below;
}
