import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServers } from '../../../src/database/connections/servers.js';
import type { Database, Shard } from '../../../src/database/database.js';
import { migrateAll, openDatabase } from '../../../src/database/sharding/open.js';
import { partOn } from '../../../src/database/sharding/routing.js';
import { directoryStatement, spanningStatement, sql } from '../../../src/database/sql.js';
import { eventually } from '../../support/eventually.js';
import { type HangingProxy, startHangingProxy } from '../../support/hanging-proxy.js';
import { createTestShards, type TestShards } from '../../support/shards.js';

let shards: TestShards;
let database: Database;
let proxy: HangingProxy;
beforeAll(async () => {
  shards = await createTestShards(2);
  const [main, east] = [...shards.databases.values()];
  if (main === undefined || east === undefined) throw new Error('there are no servers');
  proxy = await startHangingProxy(east.target);
  const log = { info: () => undefined, warn: () => undefined };
  const servers = [{ name: 'east', target: proxy.target }];
  const open = { target: createServers(main.url), shards: servers, close: async () => undefined };
  await migrateAll(open, log);
  const options = { size: 4, onConnectionError: () => undefined, completesTransactions: false };
  database = await openDatabase(open, { ...options, log });
});
afterAll(async () => {
  await database.close();
  proxy.stop();
  await shards.drop();
});

const onMain = spanningStatement<object, { name: string }>(
  'test_only_main',
  () => sql`select name from shard_map where name = 'main'`,
);
const onBoth = spanningStatement<object, { name: string }>('test_on_both', () => sql`select name from shard_map`);
const now = directoryStatement<object, { now: string }>('test_now', () => sql`select db_now() as now`);

function eastShard(): Shard {
  const east = database.shards.find(({ name }) => name === 'east');
  if (east === undefined) throw new Error('there is no server east');
  return east;
}

test('transactions that find a row on another server do not wait for a server that hangs', async () => {
  const find = () => database.spanning.transaction((tx) => tx.query(onMain({})));
  expect(await find()).toEqual([{ name: 'main' }]);
  proxy.hang();
  const ofHangingServer = eastShard()
    .everyone.query(now({}))
    .catch((error: unknown) => error);
  // As many as the pool has connections.
  const found = Promise.all([1, 2, 3, 4].map(find));
  expect(await database.directory.query(now({}))).toHaveLength(1);
  expect(await Promise.race([found, ofHangingServer])).toEqual([1, 2, 3, 4].map(() => [{ name: 'main' }]));
  expect(await ofHangingServer).toMatchObject({ code: 'storage_unavailable' });
  proxy.answer();
  // Its connections are free again.
  expect(await eastShard().everyone.query(now({}))).toHaveLength(1);
  // A server that is only slow may be left out too.
  await eventually('the rows of both servers', async () => {
    const rows = await database.spanning.transaction((tx) => tx.query(onBoth({})));
    return rows.length === 2 || undefined;
  });
});

test('transactions that wait for a server that hangs do not use up the connections of another server', async () => {
  const useBoth = () =>
    database.spanning.transaction(async (tx) => {
      await tx.query(now({}));
      return partOn(tx, eastShard()).query(now({}));
    });
  expect(await useBoth()).toHaveLength(1);
  proxy.hang();
  const ends: string[] = [];
  const refuse = async () => {
    await useBoth().catch(() => undefined);
    ends.push('refused');
    if (ends.length !== 2) return;
    await database.directory.query(now({}));
    ends.push('main answers');
  };
  // As many as the pool has connections. Two of them wait for the server, until they time out.
  await Promise.all([1, 2, 3, 4].map(refuse));
  expect(ends).toEqual(['refused', 'refused', 'main answers', 'refused', 'refused']);
  const later = await Promise.allSettled(Array.from({ length: 8 }, useBoth));
  expect(new Set(later.map(({ status }) => status))).toEqual(new Set(['rejected']));
  // Those of the hanging server time out too, so that it can be used again.
  proxy.answer();
  expect(await eventually('an answer of the server', () => useBoth().catch(() => undefined))).toHaveLength(1);
});
