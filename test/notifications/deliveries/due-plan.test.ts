import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyReceipt, applyReport } from '../../../src/notifications/deliveries/reports.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { allQueriesOf, type SentQuery } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let db: TestDatabase;
let parts: ReturnType<typeof createStepParts>;
let users: string[];
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  parts = createStepParts(db.database);
  users = await parts.createPeople(2000);
  parts.putCategory('mail', { steps: [{ channel: 'email', if: 'undelivered' }] });
  await db.database.query(
    testSql(`insert into pending_steps (id, user_ids, notification_ids, size, channel, condition, published_at, due_at)
             select gen_random_uuid(), '{}', '{}', 0, 'email', 'unread', now() - n * interval '10 minutes', now() + n * interval '1 hour'
             from generate_series(1, 5000) n`),
  );
  await db.database.query(
    testSql(`insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
             select gen_random_uuid(), '{}', 'email', 'skipped', 'read', now() - n * interval '10 minutes', now()
             from generate_series(1, 5000) n`),
  );
  await db.database.query(
    testSql(
      `insert into step_deliveries (user_id, id, notification_id, channel, condition, state, reason, created_at, updated_at)
       select id, gen_random_uuid(), gen_random_uuid(), 'email', 'always', case when n = 1 then 'queued' else 'sent' end, 'accepted',
              now() - n * interval '1 day', now()
       from unnest($1::uuid[]) id, generate_series(1, 10) n`,
      [users],
    ),
  );
  await db.database.query(testSql('analyze'));
});
afterAll(() => db.drop());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}
const tablesThatAreScanned = async ({ text, values = [] }: SentQuery): Promise<string[]> => {
  const [row] = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    testSql(`explain (format json) ${text}`, values),
  );
  const scans = (node: PlanNode): string[] => [
    ...(node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : []),
    ...(node.Plans ?? []).flatMap(scans),
  ];
  return row === undefined ? [] : scans(row['QUERY PLAN'][0].Plan);
};

/** The tables that are filled here. The planner rightly scans the others, which are nearly empty. */
const large = ['pending_steps', 'step_deliveries', 'step_refusals', 'users'];

test('a step, its mail and the delivery status read rows only by indexes', async () => {
  const [free = ''] = await parts.createPeople(1);
  const publish = (userId: string) =>
    parts.notifications.publishOne({
      ...{ user_id: userId, notification_type: 'payment', category: 'mail', description: 'x' },
    });
  const sent = await allQueriesOf(async () => {
    // An earlier mail to this user still waits.
    const waiting = await publish(users[7] ?? '');
    await parts.runDue();
    await parts.runJobs();
    expect(await parts.mailOf(waiting)).toBe('queued/waiting');
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'busy' });
    const tried = await publish(free);
    await parts.runDue();
    await parts.runJobs();
    expect(await parts.mailOf(tried)).toBe('queued/retrying');
    parts.provider.answer = async ({ id }) => ({ outcome: 'sent', provider: 'test', reference: id });
    await parts.runJobs();
    expect(await parts.mailOf(tried)).toBe('sent/accepted');
    const [{ id = '' } = {}] = parts.handedOver;
    await db.database.transaction((tx) =>
      applyReport(tx, { user_id: free, id, outcome: 'delivered' }, createCounters()),
    );
    const receipt = { userId: free, id, provider: 'test', reference: id, reason: null };
    for (const outcome of ['delivered', 'undelivered'] as const) {
      await db.database.transaction((tx) => applyReceipt(tx, { ...receipt, outcome }, createCounters()));
    }
  });
  const ours = sent.filter(({ text }) => /pending_steps|step_deliveries|step_refusals/.test(text));
  // A statement that is not prepared has no name.
  expect(new Set(ours.map(({ name = 'pending_steps_facts' }) => name))).toEqual(
    new Set([
      ...['pending_step_insert', 'pending_steps_take', 'pending_steps_facts', 'pending_steps_delete'],
      ...['step_deliveries_insert', 'step_delivery_read', 'step_delivery_hand_over', 'step_delivery_settle'],
      ...[
        'step_delivery_postpone',
        'step_delivery_reported',
        'step_sms_delivered',
        'step_sms_undelivered',
        'step_trace',
      ],
    ]),
  );
  for (const query of ours) {
    const scanned = (await tablesThatAreScanned(query)).filter((table) => large.includes(table));
    expect(scanned, query.text).toEqual([]);
  }
});
