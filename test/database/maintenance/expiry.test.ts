import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expiryTasks } from '../../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { tombstoneTask } from '../../../src/notifications/retention/tombstones.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  // Many rows are inserted at a time, on a busy machine slowly.
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
});
afterAll(() => fresh.drop());

const day = 86_400_000;
const removeExpired = () => runMaintenanceOnce(fresh.database, expiryTasks(365 * day));

test('expired rows are removed in steps, and no others', async () => {
  const { database } = fresh;
  await database.query(
    testSql(`insert into guess_budgets (user_id, bucket, failures, total_failures, permanent, updated_at)
         select gen_random_uuid(), gen_random_uuid(), 1, 1, n = 2501, db_now() - interval '31 days'
         from generate_series(1, 2501) n
         union all
         select gen_random_uuid(), gen_random_uuid(), 1, 1, false, db_now() - interval '29 days'`),
  );
  await database.query(
    testSql(`insert into request_limits select sha256(n::text::bytea), db_now() + n * interval '1 minute'
         from generate_series(-5, 5) n where n <> 0`),
  );
  await database.query(
    testSql(`insert into message_limits select sha256(n::text::bytea), '{}', db_now() - n * interval '6 hours 1 minute'
         from generate_series(1, 8) n`),
  );
  await database.query(
    testSql(`insert into idempotency_keys (caller, key_digest, request, lease_ends_at, created_at)
         select 'key:x', sha256(n::text::bytea), '', db_now(), db_now() - n * interval '5 hours' from generate_series(1, 10) n`),
  );
  await database.query(
    testSql(`insert into outbox (user_id, id, channel, kind, state, expires_at, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), 'sms', 'code', 'sent', at, at, at
         from (select db_now() - n * interval '10 days 1 minute' as at from generate_series(1, 5) n) times`),
  );
  await database.query(
    testSql(`insert into events (user_id, id, type, actor, created_at)
         select gen_random_uuid(), gen_random_uuid(), 'user.created', 'user', db_now() - n * interval '73 days 1 minute'
         from generate_series(1, 7) n`),
  );
  await database.query(
    testSql(`insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'fcm', 'sent', 'accepted',
                db_now() - n * interval '10 days 1 minute', db_now() from generate_series(1, 5) n`),
  );
  await database.query(
    testSql(`insert into push_fan_outs (id, user_ids, notification_ids, size, created_at)
         select gen_random_uuid(), '{}', '{}', 0, db_now() - n * interval '14 days 1 minute' from generate_series(1, 3) n`),
  );
  await database.query(
    testSql(`insert into step_deliveries (user_id, id, notification_id, channel, condition, state, reason, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'email', 'always', 'sent', 'accepted',
                db_now() - n * interval '10 days 1 minute', db_now() from generate_series(1, 5) n`),
  );
  await database.query(
    testSql(`insert into category_caps (user_id, name, notification_ids, times, updated_at)
         select gen_random_uuid(), 'push.payment', '{}', '{}', db_now() - n * interval '15 days 1 hour' from generate_series(1, 4) n`),
  );
  await database.query(
    testSql(`insert into digests (user_id, category, channel, closed_through, due_at, updated_at)
         select gen_random_uuid(), 'payment', 'email', 0, case when n = 4 then db_now() end, db_now() - n * interval '31 days 1 hour'
         from generate_series(1, 4) n`),
  );
  await database.query(
    testSql(`insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
         select gen_random_uuid(), '{}', 'email', 'skipped', 'read', db_now() - interval '40 days',
                db_now() - n * interval '10 days 1 minute' from generate_series(1, 5) n`),
  );
  await database.query(
    testSql(`insert into pending_steps (id, user_ids, notification_ids, size, channel, condition, published_at, due_at)
         select gen_random_uuid(), '{}', '{}', 0, 'email', 'unread', db_now() - interval '60 days',
                db_now() - (n - 2) * interval '16 days' from generate_series(1, 5) n`),
  );
  await database.query(
    testSql(`insert into challenges (user_id, id, purpose, kept, created_at, expires_at)
         select gen_random_uuid(), gen_random_uuid(), 'proof', '{}', db_now(), db_now() - n * interval '12 hours 1 minute'
         from generate_series(1, 3) n`),
  );
  // Those of the last year stay, and so do older ones that exist.
  await database.query(
    testSql(`insert into backups (id, started_at, finished_at, is_scheduled, location, error, removed_at)
         select gen_random_uuid(), at, finished, true, 'x', error, removed
         from (values (366, true, null, true), (366, true, 'full', false), (366, false, null, false),
                      (364, true, null, true), (366, true, null, false)) rows (age, has_end, error, is_removed),
              lateral (select db_now() - age * interval '1 day' as at) times,
              lateral (select case when has_end then at end as finished, case when is_removed then at end as removed) ends`),
  );
  expect(await removeExpired()).toBe(2500 + 5 + 5 + 6 + 3 + 3 + 3 + 2 + 2 + 3 + 3 + 3 + 2 + 2 + 2);
  const [left] = await database.query(
    testSql(`select (select count(*) from guess_budgets) as budgets, (select count(*) from request_limits) as requests,
                (select count(*) from message_limits) as messages, (select count(*) from idempotency_keys) as keys,
                (select count(*) from outbox) as outbox, (select count(*) from events) as events,
                (select count(*) from step_deliveries) as mails, (select count(*) from step_refusals) as refusals,
                (select count(*) from pending_steps) as steps, (select count(*) from push_deliveries) as pushes, (select count(*) from push_fan_outs) as fan_outs,
                (select count(*) from category_caps) as caps, (select count(*) from digests) as digests,
                (select count(*) from backups) as backups`),
  );
  expect(left).toEqual({
    budgets: 2,
    requests: 5,
    messages: 3,
    keys: 4,
    outbox: 2,
    events: 4,
    mails: 2,
    caps: 2,
    digests: 2,
    refusals: 2,
    steps: 3,
    pushes: 2,
    fan_outs: 1,
    backups: 2,
  });
  expect(await removeExpired()).toBe(0);
});

test('sessions are removed a day after they expired, also between valid ones', async () => {
  const { database } = fresh;
  await database.query(
    testSql(`insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', at, at
         from (select db_now() - (n % 3) * interval '23 hours' as at from generate_series(1, 6000) n) times`),
  );
  expect(await removeExpired()).toBe(2000);
  const old = testSql(`select count(*) as old from sessions where expires_at < db_now() - interval '1 day'`);
  expect(await database.query(old)).toEqual([{ old: 0 }]);
  expect(await removeExpired()).toBe(0);
});

test('incomplete logins are removed after a day, approved ones 30 days after they ended or expired', async () => {
  const { database } = fresh;
  const rows = [
    // status, expires_at, updated_at, ended_at: hours from now; and whether it stays.
    ['rejected', -23, -23, null, true],
    ['rejected', -26, -26, null, false],
    // Rejected by its last wrong guess, after its expiry.
    ['rejected', -26, -23, null, true],
    ['pending', -23, -24, null, true],
    ['pending', -26, -27, null, false],
    ['created', 0.1, -0.1, null, true],
    ['created', -26, -26, null, false],
    ['approved', 24, -9000, null, true],
    ['approved', -719, -9000, null, true],
    ['approved', -721, -9000, null, false],
    ['approved', 24, -719, -719, true],
    ['approved', 24, -721, -721, false],
  ] as const;
  const stays = new Set<string>();
  for (const [status, expires, updated, ended, isKept] of rows) {
    const id = randomUUID();
    if (isKept) stays.add(id);
    await database.query(
      testSql(
        `insert into authentications
             (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at, ended_at)
           select gen_random_uuid(), $1, gen_random_uuid(), 'password', $2, 0, now + $3 * interval '1 hour', now,
             now + $4 * interval '1 hour', now + $5 * interval '1 hour' from (select db_now() as now) clock`,
        [id, status, expires, updated, ended],
      ),
    );
  }
  expect(await removeExpired()).toBe(rows.length - stays.size);
  const left = await database.query<{ id: string }>(testSql('select id from authentications'));
  expect(new Set(left.map(({ id }) => id))).toEqual(stays);
});

const recentRows: readonly [table: string, columns: string, values: string][] = [
  ['events', 'user_id, id, type, actor, created_at', `gen_random_uuid(), gen_random_uuid(), 'test', 'user', at`],
  [
    'idempotency_keys',
    'caller, key_digest, request, lease_ends_at, created_at',
    `'key:y', sha256(n::text::bytea), '', at, at`,
  ],
  [
    'outbox',
    'user_id, id, channel, kind, state, expires_at, created_at, updated_at',
    `gen_random_uuid(), gen_random_uuid(), 'sms', 'code', 'sent', at, at, at`,
  ],
  [
    'push_deliveries',
    'user_id, id, notification_id, device_id, channel, state, reason, created_at, updated_at',
    `gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'fcm', 'sent', 'accepted', at, at`,
  ],
  [
    'webhook_deliveries',
    'user_id, id, endpoint_id, sequence, event_id, type, state, created_at',
    `gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), n, gen_random_uuid(), 'test', 'delivered', at`,
  ],
  [
    'webhook_events',
    'user_id, sequence, id, type, data, created_at',
    `gen_random_uuid(), n, gen_random_uuid(), 'test', '{}', at`,
  ],
  [
    'notification_tombstones',
    'user_id, change_sequence, id, sequence, deleted_at',
    `gen_random_uuid(), n, gen_random_uuid(), n, at`,
  ],
];

test.each(recentRows)('a step that finds no expired row in %s reads almost no rows', async (table, columns, values) => {
  const { database } = fresh;
  await database.query(
    testSql(`insert into ${table} (${columns})
             select ${values} from generate_series(1, 20000) n, lateral (select db_now() - n * interval '1 second' as at) t`),
  );
  await database.query(testSql(`analyze ${table}`));
  const names = [`expire ${table}`, table.replace('_', ' ')];
  const task = [...expiryTasks(365 * day), tombstoneTask].find(({ name }) => names.includes(name));
  if (task === undefined) throw new Error(`no task removes rows of ${table}`);
  const rowsRead = await database.transaction(async (tx) => {
    await task.step(tx, undefined);
    const [read] = await tx.query<{ rows: string }>(
      testSql(
        'select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables where relname = $1',
        [table],
      ),
    );
    return Number(read?.rows);
  });
  expect(rowsRead).toBeLessThan(100);
});

test('the text of a publication stays for 30 days after its end, with what it has created, and as long as anything is to do', async () => {
  const { database } = fresh;
  await database.query(
    testSql(`insert into notification_publications (id, status, target, notification, due_at, ended_at, created_at, updated_at)
         select ('00000000-0000-4000-8000-00000000000' || n)::uuid, status, '{"everyone": true}', '{}', due_at, ended_at, db_now(), db_now()
         from (values (1, 'done', null, db_now() - interval '30 days 1 minute'), (2, 'done', null, db_now() - interval '29 days'),
                      (3, 'done', db_now(), db_now() - interval '31 days'), (4, 'paused', null::timestamptz, null::timestamptz)) old (n, status, due_at, ended_at)`),
  );
  await database.query(
    testSql(`insert into publication_chunks (publication_id, first_user, last_user, user_ids, notification_ids)
         select id, id, id, array[id], array[id] from notification_publications`),
  );
  await removeExpired();
  const left = async (table: string, column: string) =>
    (
      await database.query<{ n: string }>(testSql(`select right(${column}::text, 1) as n from ${table} order by 1`))
    ).map(({ n }) => n);
  // The third is being recalled.
  expect(await left('notification_publications', 'id')).toEqual(['2', '3', '4']);
  expect(await left('publication_chunks', 'publication_id')).toEqual(['2', '3', '4']);
});
