import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createServers } from '../../../src/database/connections/servers.js';
import type { Database } from '../../../src/database/database.js';
import { bucketOf } from '../../../src/database/sharding/bucket.js';
import { openShardMap, type ShardMap } from '../../../src/database/sharding/map.js';
import { migrateAll } from '../../../src/database/sharding/open.js';
import { createShardedDatabase } from '../../../src/database/sharding/sharded-database.js';
import { divisible, sql, userStatement } from '../../../src/database/sql.js';
import { moveUsers } from '../../support/moves.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';

const log = { info: () => undefined, warn: () => undefined };

let shards: TestShards;
let current: Database;
/** The database of a process that does not look for a newer map until a server refuses it. */
let outdated: Database;
let map: ShardMap;
beforeAll(async () => {
  shards = await createTestShards(2);
  const targets = [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) }));
  const [main, ...others] = targets;
  if (main === undefined) throw new Error('there is no server');
  await migrateAll({ target: main.target, shards: others, close: async () => undefined }, log);
  current = await shards.open();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    map = await openShardMap(main.target, log);
  } finally {
    vi.useRealTimers();
  }
  const pools = { size: 4, onConnectionError: () => undefined };
  outdated = createShardedDatabase({ ...pools, targets, map, away: new Map(), log }).database;
});
afterAll(async () => {
  await Promise.all([outdated.close(), map.close(), current.close()]);
  await shards.drop();
});

const onServer = (name: string, text: string, values: unknown[] = []) => {
  const shard = current.shards.find((each) => each.name === name);
  if (shard === undefined) throw new Error(`there is no server ${name}`);
  return shard.everyone.query(testSql<{ id: string }>(text, values));
};

/** A user whose only row is a mute on a server. */
async function newUserOn(name: string): Promise<string> {
  const userId = randomUUID();
  if (map.shardOf(userId) !== name) return newUserOn(name);
  await outdated.user(userId).query(insertMute({ userId, id: randomUUID() }));
  return userId;
}

const findMutes = userStatement<{ userId: string }, { id: string }>(
  'test_mutes_find',
  (p) => sql`select id from mutes where user_id = ${p.userId}`,
);

const findMutesOfAll = divisible(
  userStatement<{ userIds: readonly string[] }, { id: string }>(
    'test_mutes_of_all',
    (p) => sql`select id from mutes where user_id = any (${p.userIds}::uuid[])`,
  ),
);

const insertMute = userStatement<{ userId: string; id: string }>(
  'test_mute_insert',
  (p) => sql`insert into mutes (user_id, id, filter, created_at) values (${p.userId}, ${p.id}, '', now())`,
);

const find = (userId: string) => findMutes({ userId });

test.each([
  ['a statement about one user', (userId: string) => outdated.user(userId).query(find(userId))],
  ['a statement about users', (userId: string) => outdated.users.query(find(userId))],
  ['a transaction', (userId: string) => outdated.user(userId).transaction((tx) => tx.query(find(userId)))],
])('%s with an old map is refused by the server, and is answered with the newest map', async (_what, read) => {
  const userId = await newUserOn('main');
  const before = await read(userId);
  expect(before).toHaveLength(1);
  await moveUsers(shards, [userId], 'east');
  expect(map.shardOf(userId)).toBe('main');
  expect(await read(userId)).toEqual(before);
  expect(map.shardOf(userId)).toBe('east');
});

test('an answer about several users is complete although one of them has moved to another server', async () => {
  const userIds = [await newUserOn('main'), await newUserOn('main')];
  const read = async () => (await outdated.users.query(findMutesOfAll({ userIds }))).map(({ id }) => id).sort();
  const before = await read();
  expect(before).toHaveLength(2);
  await moveUsers(shards, userIds.slice(1), 'east');
  expect(await read()).toEqual(before);
});

/** Moves a user from `east`. A process with the old map then learns of the move only by the trigger of the stop. */
async function moveBehindTrigger(userId: string): Promise<void> {
  const version = map.version();
  await moveUsers(shards, [userId], 'main');
  // The server accepts the old map, as before the end of the move.
  await onServer('east', 'update shard_map set version = $1', [version]);
  await onServer('east', 'insert into shard_moving (bucket, is_stopped) values ($1, true)', [bucketOf(userId)]);
  await onServer('east', 'create sequence if not exists attempts');
  await onServer('east', 'alter sequence attempts restart');
  await onServer(
    'east',
    `create or replace function count_attempt() returns trigger language plpgsql as
     $$ begin perform nextval('attempts'); return null; end $$`,
  );
  await onServer(
    'east',
    'create or replace trigger count_attempt after insert on mutes for each row execute function count_attempt()',
  );
  await onServer(
    'east',
    `create or replace trigger guard_moving_user after insert on mutes
     for each row execute function guard_moving_user('user_id')`,
  );
}

const mutesOn = (name: string, ids: readonly string[]) =>
  onServer(name, 'select id from mutes where id = any ($1) order by id', [ids]);
/** How often a write has reached the trigger. */
const attempts = async () => (await onServer('east', 'select last_value::int, is_called from attempts'))[0];

test('a write that is refused because its bucket is stopped is done on the server that has the bucket now', async () => {
  const userId = await newUserOn('east');
  await moveBehindTrigger(userId);
  const id = randomUUID();
  await outdated.user(userId).query(insertMute({ userId, id }));
  expect(await attempts()).toEqual({ last_value: 1, is_called: true });
  expect(await mutesOn('main', [id])).toEqual([{ id }]);
  expect(await mutesOn('east', [id])).toEqual([]);
});

test('a transaction on several users is repeated, and commits once, if the bucket of one of them is stopped', async () => {
  const [moving, other] = [await newUserOn('east'), await newUserOn('main')];
  await moveBehindTrigger(moving);
  const ids = [randomUUID(), randomUUID()].sort();
  const [first = '', second = ''] = ids;
  const commits: string[] = [];
  let runs = 0;
  await outdated.spanning.transaction(async (tx) => {
    runs += 1;
    tx.onCommit(() => commits.push('committed'));
    await tx.query(insertMute({ userId: other, id: first }));
    await tx.query(insertMute({ userId: moving, id: second }));
  });
  expect([runs, commits]).toEqual([2, ['committed']]);
  expect(await attempts()).toEqual({ last_value: 1, is_called: true });
  expect(await mutesOn('main', ids)).toEqual(ids.map((id) => ({ id })));
  expect(await mutesOn('east', ids)).toEqual([]);
});
