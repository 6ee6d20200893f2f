import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { queriesOf, type SentQuery } from '../support/queries.js';
import { createInboxes, createTestNotifications, input, publishAll } from './inbox.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

let db: TestDatabase;
let client: pg.Client;
let users: string[];
beforeAll(async () => {
  db = await createTestDatabase();
  users = await createInboxes(db.database, 20_000);
  client = new pg.Client(db.target);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

/** What the service sends to publish to this many users. */
async function publicationTo(count: number): Promise<SentQuery> {
  const notifications = createTestNotifications(db.database);
  const inputs = users.slice(0, count).map((userId) => input(userId));
  const sent = await queriesOf(() => publishAll({ database: db.database, notifications }, inputs));
  const query = sent.find(({ name }) => name?.startsWith('notifications_publish'));
  if (query === undefined) throw new Error('nothing was sent');
  return query;
}

/** The plan by which it runs once more, as on the service's connections, and undone. */
async function nodesOf({ text, values = [] }: SentQuery): Promise<PlanNode[]> {
  await client.query('begin');
  await client.query('delete from notifications');
  try {
    const explained = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, timing off, format json) ${text}`,
      [...values],
    );
    return explained.rows.flatMap((row) => nodes(row['QUERY PLAN'][0].Plan));
  } finally {
    await client.query('rollback');
  }
}

function nodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodes)];
}

describe.each(['never analyzed', 'analyzed'])('the plan of publishing, on tables that were %s', (state) => {
  beforeAll(async () => {
    if (state === 'analyzed') await db.database.query(sql('analyze'));
  });

  test.each([1, 2, 1000])('reads the inboxes of its %i users by their key, and nothing twice', async (count) => {
    const plan = await nodesOf(await publicationTo(count));
    const reads = plan.filter((node) => node['Node Type'].endsWith('Scan'));
    expect(reads.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    const byKey = reads.filter((node) => node['Index Name'] !== undefined);
    expect(new Set(byKey.map((node) => node['Index Name']))).toEqual(new Set(['inboxes_pkey']));
    // What was sent is read once for all; a loop over it for each row would take the square of the time.
    for (const node of reads.filter((each) => /^(Function|CTE|Subquery) Scan$/.test(each['Node Type']))) {
      expect(node['Actual Loops']).toBe(1);
    }
  });
});
