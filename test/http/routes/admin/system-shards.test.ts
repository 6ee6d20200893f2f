import { afterAll, beforeAll, expect, test } from 'vitest';
import type { System } from '../../../../src/contract/operation/system.js';
import { bucketOf } from '../../../../src/database/sharding/bucket.js';
import { startShardedApp, type TestApp } from '../../../support/app.js';
import { createTestShards, type TestShards } from '../../../support/shards.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';

let shards: TestShards;
let app: TestApp;
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
});
afterAll(() => app.close());

const read = async () => (await app.api<System>('GET', '/admin/v1/system', { bearer: app.adminKey })).body;

test('each server is shown with its users, its buckets and its schema, and a server that does not answer is shown as such', async () => {
  const users = { main: 0, east: 0, west: 0 };
  for (let count = 0; count < 8; count += 1) {
    users[app.database.shardOf((await createUser(app)).id).name as keyof typeof users] += 1;
  }
  const [main, east] = app.database.shards;
  await east?.everyone.query(testSql(`delete from schema_migrations where name >= '0072'`));
  const move = `insert into shard_moves (bucket, source, target) values ($1, 'main', 'west')`;
  await main?.everyone.query(testSql(move, [bucketOf('00000000-0000-4000-8000-000000000000')]));
  const { servers, database } = await read();
  const { version } = database;
  expect(servers).toMatchObject([
    { name: 'main', answers: true, buckets: 1367, users: users.main, pending_migrations: 0, version },
    { name: 'east', answers: true, buckets: 1365, users: users.east, version, moves_to_complete: 0 },
    { name: 'west', answers: true, buckets: 1364, users: users.west, pending_migrations: 0, moves_to_complete: 1 },
  ]);
  expect(servers[1]?.pending_migrations).toBeGreaterThan(0);
  expect(servers[0]?.tables.map(({ name }) => name)).toEqual(database.tables.map(({ name }) => name));
  for (const { bytes, connections, max_connections, tables } of servers) {
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(connections).toBeGreaterThan(0);
    expect(max_connections).toBeGreaterThan(0);
    expect(tables).toHaveLength(10);
  }
  await shards.stop('west');
  try {
    expect((await read()).servers).toMatchObject([
      { name: 'main', answers: true },
      { name: 'east', answers: true },
      { name: 'west', answers: false, buckets: 1364, users: null, bytes: null, pending_migrations: null, tables: [] },
    ]);
  } finally {
    await shards.start('west');
  }
});
