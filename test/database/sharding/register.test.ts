import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClient } from '../../../src/database/connections/open-client.js';
import { createServers } from '../../../src/database/connections/servers.js';
import { UnfitDatabaseError } from '../../../src/database/connections/suitability.js';
import { registerReturned, registerShards } from '../../../src/database/sharding/register.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let databases: readonly TestDatabase[];
beforeAll(async () => {
  databases = await Promise.all([1, 2, 3, 4].map(() => createTestDatabase()));
});
afterAll(async () => {
  for (const database of databases) await database.drop();
});

/** The server with a name. @param place the index of its database */
const serverAt = (name: string, place: number) => {
  const database = databases[place];
  if (database === undefined) throw new Error(`there is no database ${place}`);
  return { name, target: createServers(database.url) };
};

const register = (directory: number, others: Readonly<Record<string, number>>) =>
  registerShards(
    serverAt('main', directory),
    Object.entries(others).map(([name, place]) => serverAt(name, place)),
    new Map(),
  );

async function refusal(directory: number, others: Readonly<Record<string, number>>): Promise<string> {
  const error = await register(directory, others).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UnfitDatabaseError);
  return (error as Error).message;
}

test('a database with users, of another name or of another installation is refused, and the message names the server', async () => {
  const insert = `insert into users (id, username, created_at, updated_at)
                  values (gen_random_uuid(), 'somebody', now(), now())`;
  await databases[3]?.database.everyone.query(testSql(insert));
  expect(await refusal(0, { east: 3 })).toBe(
    'The database of east in SHARDS has users already: it must be new and empty',
  );
  await register(0, { east: 1 });
  await register(0, { east: 1 });
  expect(await refusal(0, { west: 1, east: 2 })).toBe(
    'The database of west in SHARDS is the server east: check the addresses',
  );
  expect(await refusal(0, { west: 2 })).toBe('Users may be on the server east, and SHARDS does not name it: add it');
  expect(await refusal(1, { east: 0 })).toBe('The database of DATABASE_URL is the server east: check the addresses');
  expect(await refusal(3, { east: 1 })).toBe(
    'The database of east in SHARDS belongs to another installation of Postern',
  );
});

test('an empty database is refused as a server that has users', async () => {
  const [directory, east, empty] = await Promise.all([1, 2, 3].map(() => createTestDatabase()));
  databases = [...databases, directory, east, empty].filter((database) => database !== undefined);
  const places = { directory: databases.length - 3, east: databases.length - 2, empty: databases.length - 1 };
  await register(places.directory, { east: places.east });
  const message =
    'The database of east in SHARDS is empty, but the server east has users: check its address, or restore its data';
  expect(await refusal(places.directory, { east: places.empty })).toBe(message);
  await expect(registerReturned(serverAt('main', places.directory), serverAt('east', places.empty))).rejects.toThrow(
    message,
  );
  await register(places.directory, { east: places.east });
});

test('servers are registered while another instance creates the first key', async () => {
  const [directory, east] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  databases = [...databases, directory, east];
  const places = { directory: databases.length - 2, east: databases.length - 1 };
  await register(places.directory, { east: places.east });
  const other = await openClient(directory.target, { application_name: 'test', connectionTimeoutMillis: 10_000 });
  try {
    await other.query('begin');
    // The lock of `ensureFirstKey`.
    await other.query('select pg_advisory_xact_lock(7203415002)');
    await register(places.directory, { east: places.east });
  } finally {
    await other.end();
  }
});

test('a server that accepts no prepared transactions is refused, and no server is added', async () => {
  const [directory, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  databases = [...databases, directory, other];
  const places = { directory: databases.length - 2, east: databases.length - 1 };
  const refuse = () => refusal(places.directory, { east: places.east });
  const rest =
    'has max_prepared_transactions = 0, and transactions over several servers need it: set it to at least 100, and restart that PostgreSQL';
  await disablePreparedTransactions(other);
  expect(await refuse()).toBe(`The server east of SHARDS ${rest}`);
  await disablePreparedTransactions(directory);
  expect(await refuse()).toBe(`The server of DATABASE_URL ${rest}`);
  expect(await directory.database.everyone.query(testSql('select from shards'))).toEqual([]);
  expect(await other.database.everyone.query(testSql('select from shard_map where name is not null'))).toEqual([]);
});

/** The setting belongs to the whole PostgreSQL of the tests. A function of the database gives another value. */
async function disablePreparedTransactions({ target, database }: TestDatabase): Promise<void> {
  for (const text of [
    'create schema fake',
    `create function fake.current_setting(text) returns text language sql as
     $$ select case $1 when 'max_prepared_transactions' then '0' else pg_catalog.current_setting($1) end $$`,
    `alter database ${target.database} set search_path = public, fake, pg_catalog`,
  ]) {
    await database.everyone.query(testSql(text));
  }
}
