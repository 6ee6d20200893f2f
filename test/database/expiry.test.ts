import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/database.js';
import { removeExpired } from '../../src/database/expiry.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test('what has outlived its use is removed, in as many steps as it takes, and nothing else', async () => {
  const { database } = fresh;
  await database.query(
    sql(`insert into guess_budgets (user_id, bucket, failures, total_failures, permanent, updated_at)
         select gen_random_uuid(), gen_random_uuid(), 1, 1, n = 2501, db_now() - interval '31 days'
         from generate_series(1, 2501) n
         union all
         select gen_random_uuid(), gen_random_uuid(), 1, 1, false, db_now() - interval '29 days'`),
  );
  await database.query(
    sql(`insert into request_limits select sha256(n::text::bytea), db_now() + n * interval '1 minute'
         from generate_series(-5, 5) n where n <> 0`),
  );
  await database.query(
    sql(`insert into message_limits select sha256(n::text::bytea), '{}', db_now() - n * interval '6 hours 1 minute'
         from generate_series(1, 8) n`),
  );
  await database.query(
    sql(`insert into idempotency_keys (caller, key_digest, request, lease_ends_at, created_at)
         select 'key:x', sha256(n::text::bytea), '', db_now(), db_now() - n * interval '5 hours' from generate_series(1, 10) n`),
  );
  expect(await removeExpired(database)).toBe(2500 + 5 + 5 + 6);
  const [left] = await database.query(
    sql(`select (select count(*) from guess_budgets) as budgets, (select count(*) from request_limits) as requests,
                (select count(*) from message_limits) as messages, (select count(*) from idempotency_keys) as keys`),
  );
  expect(left).toEqual({ budgets: 2, requests: 5, messages: 3, keys: 4 });
  expect(await removeExpired(database)).toBe(0);
});
