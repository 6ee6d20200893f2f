import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { createWebhookDeliveries } from '../../src/webhooks/deliveries.js';
import { createWebhooks } from '../../src/webhooks/endpoints.js';
import { relayEvents } from '../../src/webhooks/relay.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';

const keys = createSecretKeys(['secret '.repeat(8)]);
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
});
afterAll(() => db.drop());

const rows = <T extends object>(text: string, values: unknown[] = []) => db.database.query<T>(testSql(text, values));

/** An endpoint that is disabled, so that nothing is sent. */
async function createEndpoint(): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, enabled, secret,
                                    created_at, updated_at)
     values ($1, '', '', '{user.*}', '', 'thin', false, false, '', now(), now())`,
    [id],
  );
  return id;
}

/** The statements that wait for a lock. */
const waitingStatements = () =>
  rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

test('a replay continues although new events arrive without a pause', async () => {
  const id = await createEndpoint();
  const user = randomUUID();
  await rows(
    `with event as (
       insert into webhook_events (user_id, sequence, id, type, data, created_at)
       select $1, sequence, gen_random_uuid(), 'user.updated', '{}', now() from generate_series(1, 3) as sequence)
     insert into webhook_users (user_id, last_sequence) values ($1, 3)`,
    [user],
  );
  await rows(
    `insert into webhook_replays (id, endpoint_id, from_time, until_time, created_at)
     values (gen_random_uuid(), $1, now() - interval '1 hour', now() + interval '1 hour', now())`,
    [id],
  );
  for (let step = 0; step < 3; step += 1) {
    await rows(
      `insert into webhook_outbox (created_at, type, user_ids) values (now(), 'user.locked', array[$1::uuid])`,
      [randomUUID()],
    );
    expect(await relayEvents(db.database)).toBe(true);
  }
  expect(await rows('select from webhook_replays')).toEqual([]);
  const replayed = await rows('select sequence::int from webhook_deliveries where user_id = $1 order by sequence', [
    user,
  ]);
  expect(replayed).toEqual([{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }]);
});

test('a replay leaves out no event that was recorded before it and waits for the relay', async () => {
  const id = await createEndpoint();
  const user = randomUUID();
  // More rows than one step takes.
  await rows(
    `with recorded as (
       insert into webhook_outbox (created_at, type, user_ids)
       select now() - interval '1 minute', 'user.locked', array[$1::uuid] from generate_series(1, 501))
     insert into webhook_replays (id, endpoint_id, from_time, until_time, created_at)
     values (gen_random_uuid(), $2, now() - interval '1 hour', now(), now())`,
    [user, id],
  );
  for (let hasMore = true; hasMore; ) hasMore = await relayEvents(db.database);
  const [replayed] = await rows<{ count: number }>(
    'select count(*)::int as count from webhook_deliveries where endpoint_id = $1 and user_id = $2',
    [id, user],
  );
  expect(replayed?.count).toBe(501);
});

test('a replay of an endpoint that is deleted at the same time leaves nothing', async () => {
  const id = await createEndpoint();
  const other = new pg.Client(db.target);
  await other.connect();
  try {
    await other.query('begin');
    await other.query('delete from webhook_replays where endpoint_id = $1', [id]);
    await other.query('delete from webhook_endpoints where id = $1', [id]);
    let isOver = false;
    const replay = createWebhookDeliveries(db.database)
      .replay(id, { from: '2020-01-01T00:00:00Z' }, { actor: 'key:environment' })
      .then(
        () => 'replayed',
        (error: Error & { code?: string }) => error.code,
      )
      .finally(() => {
        isOver = true;
      });
    await eventually('the replay or its wait for the deletion', async () => {
      return isOver || (await waitingStatements()).length > 0 || undefined;
    });
    await other.query('commit');
    expect(await replay).toBe('not_found');
    expect(await rows('select from webhook_replays')).toEqual([]);
  } finally {
    await other.end();
  }
});

test('a deletion that waits for a replay removes the replay', async () => {
  const id = await createEndpoint();
  const other = new pg.Client(db.target);
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from webhook_endpoints where id = $1 for key share', [id]);
    const webhooks = createWebhooks({ database: db.database, keys, checkUrl: () => undefined });
    const removal = db.database.transaction((tx) => webhooks.remove(tx, id, { actor: 'key:environment' }));
    await eventually('the wait of the deletion', async () => (await waitingStatements()).length > 0 || undefined);
    await other.query(
      `insert into webhook_replays (id, endpoint_id, from_time, until_time, created_at)
       values (gen_random_uuid(), $1, now(), now(), now())`,
      [id],
    );
    await other.query('commit');
    await removal;
    expect(await rows('select from webhook_replays')).toEqual([]);
  } finally {
    await other.end();
  }
});
