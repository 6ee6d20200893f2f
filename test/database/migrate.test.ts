import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let db: TestDatabase;
const clients: pg.Client[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await db.drop();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...db.target });
  clients.push(client);
  await client.connect();
  return client;
}

test('a migration that waits for a table lets others read it meanwhile, and comes once it is free', async () => {
  const dump = await connect();
  const reader = await connect();
  const name = '0006_further_factors.sql';
  await dump.query('alter table authentications drop column factor, drop column second_factor');
  await dump.query('alter table authentications drop column approval_secret');
  await dump.query('delete from schema_migrations where name = $1', [name]);
  await dump.query('begin');
  await dump.query('lock table authentications in access share mode');

  const applied = migrate(db.target);
  await eventually('the migration to wait for the table', async () => {
    const { rows } = await reader.query(
      "select 1 from pg_locks where relation = 'authentications'::regclass and mode = 'AccessExclusiveLock' and not granted",
    );
    return rows.at(0);
  });
  // Queued behind the migration, which itself is behind the dump that goes on.
  await reader.query('select count(*) from authentications');
  await dump.query('commit');
  expect(await applied).toEqual([name]);
});
