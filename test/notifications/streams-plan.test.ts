import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heldSession } from '../../src/authentication/sessions.js';
import { type Queryable, sql } from '../../src/database/database.js';
import { readChanges } from '../../src/notifications/changes.js';
import { createStreamQueries } from '../../src/notifications/stream/queries.js';
import type { Stream } from '../../src/notifications/stream/stream.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createInboxes, createTestNotifications, input, publishAll } from './inbox.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

let db: TestDatabase;
let users: string[];
beforeAll(async () => {
  db = await createTestDatabase();
  users = await createInboxes(db.database, 5000);
  const fill = (statement: string) => db.database.query(sql(`${statement} from unnest($1::uuid[]) id`), [users]);
  await fill(`insert into authentications
      (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
    select id, id, id, 'password', 'approved', 0, now() + '1 day', now(), now()`);
  await fill(`insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
    select id, id, id, id, sha256(''), now(), now() + '1 day'`);
  await fill('insert into markers (user_id, last_read_sequence, updated_at) select id, 0, now()');
  const notifications = createTestNotifications(db.database);
  await publishAll(
    { database: db.database, notifications },
    users.map((userId) => input(userId)),
  );
});
afterAll(() => db.drop());

/** The rows that one statement of `work` has looked at, wanted or not. */
async function rowsReadBy(work: (handle: Queryable) => Promise<unknown>): Promise<number> {
  const plans: PlanNode[] = [];
  await work({
    async query<Row extends object>({ text }: { text: string }, values: readonly unknown[] = []): Promise<Row[]> {
      const explain = sql(`explain (analyze, timing off, format json) ${text}`);
      const rows = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, values);
      plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
      return [];
    },
  });
  expect(plans.length).toBe(1);
  return plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
}

function rowsRead(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const read = node['Relation Name'] === undefined ? 0 : node['Actual Rows'];
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
  return below + (read + removed) * node['Actual Loops'];
}

describe.each(['never analyzed', 'analyzed'])('streams of a service whose tables were %s', (state) => {
  beforeAll(async () => {
    if (state === 'analyzed') await db.database.query(sql('analyze'));
  });

  // Of the session, its authentication, its user, the inbox and the marker; and the stream, about which nothing is to be done.
  test.each([1, 100, 1000])('are checked by looking at five rows each, for %i', async (count) => {
    const streams = users.slice(0, count).map((id) => ({ userId: id, sessionId: id, position: 1, marker: 0, lead: 1 }));
    const read = await rowsReadBy((handle) =>
      createStreamQueries({ ...db.database, ...handle }, heldSession).check(streams as Stream[]),
    );
    expect(read).toBe(6 * count);
  });

  test.each([1, 100, 1000])('are read for by looking at three rows each, for %i', async (count) => {
    const wanted = users.slice(0, count).map((userId) => ({ userId, after: 0 }));
    expect(await rowsReadBy((handle) => readChanges(handle, wanted, 4))).toBe(3 * count);
  });
});
