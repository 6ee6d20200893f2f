import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServers } from '../../src/database/connections/servers.js';
import type { Database } from '../../src/database/database.js';
import { createServer, type Server } from '../../src/database/server.js';
import { migrateAll } from '../../src/database/sharding/open.js';
import { recover, startRecovery } from '../../src/database/sharding/recovery.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';

const quiet = { info: () => undefined, warn: () => undefined };
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let shards: TestShards;
let database: Database;
/** The servers as another instance uses them for recovery. */
let servers: ReadonlyMap<string, Server>;
beforeAll(async () => {
  await buildService();
  shards = await createTestShards(2);
  const targets = [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) }));
  const [main, ...others] = targets;
  if (main === undefined) throw new Error('there is no directory');
  await migrateAll({ target: main.target, shards: others, close: async () => undefined }, quiet);
  database = await shards.open();
  // The first start of a new installation leads to this version.
  const map = { version: () => 2, onRefused: () => undefined };
  servers = new Map(
    targets.map(({ name, target }) => [
      name,
      createServer({ target, size: 2, onConnectionError: () => undefined }, map),
    ]),
  );
}, BUILD_TIMEOUT);
afterAll(async () => {
  for (const server of servers.values()) await server.close();
  await database.close();
  await shards.drop();
});

/** A user on the server `east`, whose transactions with the directory are over two servers. */
async function createEastUser(): Promise<string> {
  for (;;) {
    const userId = randomUUID();
    if (database.shardOf(userId).name !== 'east') continue;
    const insert = `insert into users (id, username, created_at, updated_at) values ($1, $2, now(), now())`;
    await database.shardOf(userId).everyone.query(testSql(insert, [userId, userId]));
    return userId;
  }
}

function startWriter(userId: string, fault: Readonly<Record<string, string>>): ChildProcess {
  const [main, east] = [...shards.databases.values()];
  return spawn(process.execPath, [pathOf('test/support/fault-injection/distributed-writer.mjs')], {
    env: {
      ...{ DIST: pathOf('dist'), MAIN: main?.url, EAST: east?.url, USER_ID: userId, IDENTITY: userId },
      ...fault,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Whether each part of the transaction is committed. */
async function partsOf(userId: string): Promise<{ identity: boolean; user: boolean; prepared: number }> {
  const [main, east] = database.shards;
  const identities = await main?.everyone.query(testSql('select from identities where user_id = $1', [userId]));
  const users = await east?.everyone.query(testSql(`select from users where id = $1 and name = 'changed'`, [userId]));
  const prepared = await main?.everyone.query(
    testSql('select from pg_prepared_xacts where database = current_database()'),
  );
  return { identity: identities?.length === 1, user: users?.length === 1, prepared: prepared?.length ?? -1 };
}

const neither = { identity: false, user: false, prepared: 0 };
const both = { identity: true, user: true, prepared: 0 };

for (const [step, killBefore, result] of [
  ['before it prepares', 'prepare transaction', neither],
  ['after it prepared', 'insert into transaction_outcomes', neither],
  ['after the decision', 'commit prepared', both],
] as const) {
  test(`a process that is killed ${step} leaves all parts of its transaction or none`, async () => {
    const userId = await createEastUser();
    const writer = startWriter(userId, { KILL_BEFORE: killBefore });
    const [, signal] = (await once(writer, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    // PostgreSQL notices the end of a connection a moment later. Until then, an outcome waits for its transaction.
    await expect.poll(() => recover(servers, 0).then(() => partsOf(userId))).toEqual(result);
  });
}

test('a slow process cannot commit a transaction that another one has rolled back', async () => {
  const userId = await createEastUser();
  const writer = startWriter(userId, { PAUSE_BEFORE: 'insert into transaction_outcomes' });
  const output: string[] = [];
  writer.stdout?.on('data', (data: Buffer) => output.push(data.toString()));
  await expect.poll(() => output.join('')).toBe('paused\n');
  expect(await partsOf(userId)).toEqual({ ...neither, prepared: 1 });
  await recover(servers, 60_000);
  expect(await partsOf(userId)).toEqual({ ...neither, prepared: 1 });
  await Promise.all([recover(servers, 0), recover(servers, 0)]);
  expect(await partsOf(userId)).toEqual(neither);
  const ended = once(writer, 'exit');
  writer.kill('SIGCONT');
  await ended;
  expect(output.join('')).toBe('paused\nfailed storage_unavailable\n');
  expect(await partsOf(userId)).toEqual(neither);
});

test('recovery in the background completes the transaction of a process that has died', async () => {
  const userId = await createEastUser();
  await once(startWriter(userId, { KILL_BEFORE: 'commit prepared' }), 'exit');
  expect(await partsOf(userId)).toEqual({ identity: false, user: true, prepared: 1 });
  const stop = startRecovery(servers, quiet);
  await expect.poll(() => partsOf(userId)).toEqual(both);
  await stop();
});

test('a process that is not killed commits both parts', async () => {
  const userId = await createEastUser();
  await once(startWriter(userId, {}), 'exit');
  expect(await partsOf(userId)).toEqual(both);
});
