import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications, input, publishAll } from '../../support/inbox.js';
import { queriesOf, type SentQuery } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/** A database with users, and a connection to it. */
interface Installation {
  readonly db: TestDatabase;
  readonly client: pg.Client;
  readonly users: readonly string[];
}

const installations: Installation[] = [];
async function install(size: number): Promise<Installation> {
  const db = await createTestDatabase();
  const client = new pg.Client(db.target);
  const installation = { db, client, users: await createInboxes(db.database, size) };
  await client.connect();
  installations.push(installation);
  return installation;
}
let large: Installation;
let small: Installation;
beforeAll(async () => {
  large = await install(20_000);
  small = await install(5);
});
afterAll(async () => {
  for (const { client, db } of installations) {
    await client.end();
    await db.drop();
  }
});

/** The statements that publish to these users. */
async function publicationTo({ database }: TestDatabase, userIds: readonly string[]): Promise<SentQuery[]> {
  const notifications = createTestNotifications(database);
  const inputs = userIds.map((userId) => input(userId));
  const sent = await queriesOf(() => publishAll({ database, notifications }, inputs));
  return sent.filter(({ name }) => name?.startsWith('notifications_publish'));
}

/** Publishes to these users, then explains the same statements and rolls back. @returns the plans by statement name */
async function plansOf({ db, client }: Installation, userIds: readonly string[]): Promise<Map<string, PlanNode>> {
  const publication = await publicationTo(db, userIds);
  const plans = new Map<string, PlanNode>();
  await client.query('begin');
  await client.query('delete from notifications');
  try {
    for (const { name = '', text, values = [] } of publication) {
      // A `set` statement has no plan.
      const asked = text.startsWith('set ') ? text : `explain (analyze, timing off, format json) ${text}`;
      const explained = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(asked, [...values]);
      const plan = explained.rows[0]?.['QUERY PLAN'][0].Plan;
      if (plan !== undefined) plans.set(name, plan);
    }
    return plans;
  } finally {
    await client.query('rollback');
  }
}

function nodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodes)];
}

describe.each(['never analyzed', 'analyzed'])('the plan of publishing, with tables that were %s', (state) => {
  beforeAll(async () => {
    if (state !== 'analyzed') return;
    for (const { db } of installations) await db.database.query(testSql('analyze'));
  });

  test.each([1, 2, 1000])('reads the inboxes of %i users by their key, and nothing twice', async (count) => {
    const plans = await plansOf(large, large.users.slice(0, count));
    const plan = [...plans.values()].flatMap(nodes);
    const relation = (node: PlanNode) => node['Relation Name'];
    // Nobody has chosen anything about these categories.
    expect(plan.filter((node) => relation(node) === 'preferences' && node['Actual Loops'] > 0)).toEqual([]);
    // The look-up whether there is a webhook scans a table of a few rows.
    const reads = plan.filter(
      (node) =>
        node['Node Type'].endsWith('Scan') && !['webhook_endpoints', 'preferences'].includes(relation(node) ?? ''),
    );
    expect(reads.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    const byKey = reads.filter((node) => node['Index Name'] !== undefined);
    expect(new Set(byKey.map((node) => node['Index Name']))).toEqual(new Set(['inboxes_pkey']));
    // The parameters are read once: a loop over them for each row would take quadratic time.
    for (const node of reads.filter((each) => /^(Function|CTE|Subquery) Scan$/.test(each['Node Type']))) {
      // Nodes that record events for webhooks have 0 loops, because there is no webhook.
      expect(node['Actual Loops']).toBeLessThanOrEqual(1);
    }
  });

  test.each([2, 1000])('locks the rows with the counts of %i inboxes one by one, in sorted order', async (count) => {
    const plans = await plansOf(large, large.users.slice(0, count).toReversed());
    const heads = [plans.get('notifications_publish_inboxes')].flatMap((plan) => (plan ? nodes(plan) : []));
    const [join, ...others] = heads.filter(({ 'Node Type': type }) => /Join|Nested Loop/.test(type));
    expect(others).toEqual([]);
    expect(join?.['Node Type']).toBe('Nested Loop');
    const [outer, inner] = join?.Plans ?? [];
    const sorts = (outer ? nodes(outer) : []).filter((node) => node['Sort Key'] !== undefined);
    expect(sorts.map((node) => node['Sort Key'])).toEqual([['requested.user_id']]);
    expect(inner).toMatchObject({ 'Node Type': 'Index Scan', 'Index Name': 'inboxes_pkey' });
  });

  test('reads the rows of `inboxes` in the order of their key, even with so few that a scan would be cheaper', async () => {
    const plans = await plansOf(small, small.users.toReversed());
    const heads = [plans.get('notifications_publish_inboxes')].flatMap((plan) => (plan ? nodes(plan) : []));
    const reads = heads.filter((node) => node['Relation Name'] === 'inboxes' && node['Node Type'].endsWith('Scan'));
    expect(reads).toMatchObject([
      { 'Node Type': 'Index Scan', 'Index Name': 'inboxes_pkey', 'Scan Direction': 'Forward' },
    ]);
  });
});
