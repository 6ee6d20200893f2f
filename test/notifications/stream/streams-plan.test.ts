import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Queryable } from '../../../src/database/database.js';
import { readChanges } from '../../../src/notifications/inbox/changes.js';
import { createStreamQueries } from '../../../src/notifications/stream/queries.js';
import type { Stream } from '../../../src/notifications/stream/stream.js';
import { validSession } from '../../../src/sessions/sessions.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications, input, publishAll } from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

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
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  users = await createInboxes(db.database, 5000);
  const fill = (statement: string) => db.database.query(testSql(`${statement} from unnest($1::uuid[]) id`, [users]));
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

/** The rows that the one statement of `work` reads, including rows that it discards. */
async function rowsReadBy(work: (handle: Queryable) => Promise<unknown>): Promise<number> {
  const plans: PlanNode[] = [];
  await work({
    async query({ text, values }) {
      const explain = `explain (analyze, timing off, format json) ${text}`;
      const rows = await db.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(testSql(explain, values));
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

/** The database, whose queries run on this handle. */
function withUsers(handle: Queryable): Database {
  return { ...db.database, ...handle };
}

describe.each(['never analyzed', 'analyzed'])('streams, with tables that were %s', (state) => {
  beforeAll(async () => {
    if (state === 'analyzed') await db.database.query(testSql('analyze'));
  });

  // The session, its authentication, its user, the inbox, the read position, and the stream itself, which needs nothing.
  test.each([1, 100, 1000])('are checked by reading six rows for each of %i streams', async (count) => {
    const streams = users
      .slice(0, count)
      .map((id) => ({ userId: id, sessionId: id, position: 1, lastRead: 0, stateVersion: 0, warningLeadMs: 1 }));
    const read = await rowsReadBy((handle) =>
      createStreamQueries(withUsers(handle), validSession).check(streams as Stream[]),
    );
    expect(read).toBe(6 * count);
  });

  test.each([1, 100, 1000])('find new notifications by reading three rows for each of %i streams', async (count) => {
    const wanted = users.slice(0, count).map((userId) => ({ userId, after: 0 }));
    expect(await rowsReadBy((handle) => readChanges(handle, wanted, 4))).toBe(3 * count);
  });
});
