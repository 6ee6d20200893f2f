import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { findByCancelCode } from '../../../src/credentials/pins/pending-pin.js';
import { createServers } from '../../../src/database/connections/servers.js';
import type { Shard } from '../../../src/database/database.js';
import { createServer } from '../../../src/database/server.js';
import type { ShardMap } from '../../../src/database/sharding/map.js';
import { allRows, firstFound, inDistributedTransaction } from '../../../src/database/sharding/transaction.js';
import { directoryStatement, onServerOf, spanningStatement, sql, userStatement } from '../../../src/database/sql.js';
import { identityDigest } from '../../../src/identities/identity.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser, newPhone } from '../../support/users.js';

let shards: TestShards;
let app: TestApp;
/** One user of each server. */
const users = new Map<string, User>();
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
  while (users.size < 3) {
    const user = await createUser(app);
    users.set(app.database.shardOf(user.id).name, user);
  }
});
afterAll(() => app.close());

test('the first server that finds a row answers, and one that fails matters only if no server finds a row', async () => {
  const never = new Promise<object[]>(() => undefined);
  const row = { id: 1 };
  expect(await firstFound([never, Promise.resolve([]), Promise.resolve([row])])).toEqual([row]);
  const failed = () => Promise.reject(new Error('down'));
  expect(await firstFound([failed(), Promise.resolve([row])])).toEqual([row]);
  await expect(firstFound([failed(), Promise.resolve([])])).rejects.toThrow('down');
  expect(await firstFound([Promise.resolve([]), Promise.resolve([])])).toEqual([]);
  await expect(allRows([failed(), Promise.resolve([row])])).rejects.toThrow('down');
});

test('a code that cancels a new PIN finds its user on each server', async () => {
  for (const [server, { id, username }] of users) {
    const digest = randomBytes(32);
    await app.database.shardOf(id).everyone.query(
      testSql(
        `update users set next_pin_cancel = $2, next_pin_hash = '', next_pin_since = now(), next_pin_at = now()
           where id = $1`,
        [id, digest],
      ),
    );
    const identity = identityDigest({ type: 'username', canonical: username ?? '' });
    const find = (digests: Buffer[]) =>
      app.database.spanning.transaction((tx) => findByCancelCode(app.database, tx, identity, digests));
    expect([server, await find([digest])]).toEqual([server, id]);
    expect(await find([randomBytes(32)])).toBeUndefined();
  }
});

const namesOf = spanningStatement<object, { name: string }>('test_names', () => sql`select name from shard_map`);

test('a statement about a user and the directory runs on these servers only, also while another one is down', async () => {
  await shards.stop('west');
  try {
    for (const server of ['main', 'east']) {
      const { id } = users.get(server) as User;
      const run = (handle: Pick<typeof app.database.spanning, 'query'>) => handle.query(onServerOf(id, namesOf({})));
      const expected = server === 'main' ? ['main'] : ['main', server];
      expect((await run(app.database.spanningFor(id))).map(({ name }) => name)).toEqual(expected);
      const rows = await app.database.spanningFor(id).transaction(run);
      expect(rows.map(({ name }) => name)).toEqual(expected);
    }
    const { id } = users.get('west') as User;
    await expect(app.database.spanningFor(id).query(onServerOf(id, namesOf({})))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  } finally {
    await shards.start('west');
  }
});

const transactionOf = userStatement<{ userId: string }, { server: string; id: string }>(
  'test_transaction_id',
  (p) =>
    sql`select name as server, pg_current_xact_id()::text as id from shard_map where ${p.userId}::uuid is not null`,
);

test('a transaction that begins with an old map runs in one part, on the new server of its user', async () => {
  let [version, server] = [1, 'west'];
  const map: ShardMap = {
    version: () => version,
    shardOf: () => server,
    onRefused: () => undefined,
    async reload() {
      [version, server] = [2, 'east'];
    },
    close: async () => undefined,
  };
  const servers = new Map(
    [...shards.databases].map(([name, { url }]) => [
      name,
      createServer({ target: createServers(url), size: 2, onConnectionError: () => undefined }, map),
    ]),
  );
  const west = app.database.shards.find(({ name }) => name === 'west');
  await west?.everyone.query(testSql('update shard_map set version = 2'));
  try {
    const { id: userId } = users.get('west') as User;
    const found = await inDistributedTransaction({ map, servers }, userId, async (tx) => [
      ...(await tx.query(transactionOf({ userId }))),
      ...(await tx.query(transactionOf({ userId }))),
    ]);
    expect(found.map((row) => row.server)).toEqual(['east', 'east']);
    expect(found[1]).toEqual(found[0]);
  } finally {
    await west?.everyone.query(testSql('update shard_map set version = 1'));
    for (const each of servers.values()) await each.close();
  }
});

const findName = spanningStatement<{ id: string }, { name: string }>(
  'test_find_name',
  (p) => sql`select coalesce(name, '') as name from users where id = ${p.id}`,
);

test.each([
  ['runs again if no server finds a row because its user moves', 1, 1],
  ['ends if no server finds a row and nobody moves', 0, 0],
])('a transaction that knows only an id %s', async (_, changes, count) => {
  const before = app.database.mapVersion();
  let version = before;
  const map: ShardMap = {
    version: () => version,
    shardOf: () => 'east',
    onRefused: () => undefined,
    reload: async () => undefined,
    close: async () => undefined,
  };
  let attempts = 0;
  const servers = new Map(
    [...shards.databases].map(([name, { url }]) => {
      const server = createServer({ target: createServers(url), size: 2, onConnectionError: () => undefined }, map);
      const begin: typeof server.begin = async (...given) => {
        const transaction = await server.begin(...given);
        // In the first attempt, the row has left one server before it is read there, and has not arrived on the other yet.
        const query: typeof transaction.query = async (statement) => {
          const rows = await transaction.query(statement);
          if (statement.name !== 'test_find_name' || attempts > 1) return rows;
          version = before + changes;
          return [];
        };
        return { ...transaction, query };
      };
      return [name, { ...server, begin }];
    }),
  );
  try {
    const { id } = users.get('east') as User;
    const found = await inDistributedTransaction({ map, servers }, undefined, (tx) => {
      attempts += 1;
      return tx.query(findName({ id }));
    });
    expect(found).toHaveLength(count);
    expect(attempts).toBe(1 + count);
  } finally {
    for (const each of servers.values()) await each.close();
  }
});

const nameUser = userStatement<{ id: string }>(
  'test_name_user',
  (p) => sql`update users set name = 'refused' where id = ${p.id}`,
  'id',
);
/** The tag of this statement is that of a select, so PostgreSQL does not report that it writes. */
const addIdentity = directoryStatement<{ userId: string }>(
  'test_add_identity',
  (p) => sql`
    with added as (
      insert into identities (digest, user_id, type, canonical) values ('\\x01', ${p.userId}, 'email', 'refused')
      returning 1)
    select from added`,
);

test('a transaction that the deciding server refuses at its commit is rolled back on all servers at once', async () => {
  const { id } = users.get('east') as User;
  const east = app.database.shardOf(id).everyone;
  await east.query(
    testSql(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`),
  );
  await east.query(
    testSql(`
      create constraint trigger refuse after update on users deferrable initially deferred for each row
      when (new.name = 'refused') execute function refuse()`),
  );
  const changed = app.database.spanningFor(id).transaction(async (tx) => {
    await tx.query(nameUser({ id }));
    await tx.query(addIdentity({ userId: id }));
  });
  await expect(changed).rejects.toThrow();
  const left = await app.database.directory.query(
    directoryStatement<object, { parts: number; identities: number }>(
      'test_left',
      () => sql`
        select (select count(*)::int from pg_prepared_xacts where database = current_database()) as parts,
               (select count(*)::int from identities where canonical = 'refused') as identities`,
    )({}),
  );
  expect(left).toEqual([{ parts: 0, identities: 0 }]);
  expect(await east.query(testSql(`select from users where name = 'refused'`))).toEqual([]);
});

/** Delays each `commit prepared` until the returned function is called. */
function delayCommits(): () => void {
  const { query: send } = pg.Client.prototype;
  let end: () => void = () => undefined;
  const delay = new Promise<void>((resolve) => {
    end = resolve;
  });
  Object.assign(pg.Client.prototype, {
    query(this: pg.Client, ...args: unknown[]) {
      const [query] = args as [{ readonly text?: string }];
      if (query.text?.startsWith('commit prepared') !== true) return Reflect.apply(send, this, args);
      return void delay.then(() => Reflect.apply(send, this, args));
    },
  });
  onTestFinished(() => {
    Object.assign(pg.Client.prototype, { query: send });
    end();
  });
  return end;
}

const later = newPhone();
test.each([
  ['change', 'PATCH', { phone: later }, [later]],
  ['deletion', 'DELETE', undefined, []],
] as const)(
  'a later %s of a user removes an identity that the directory commits last',
  async (_, method, body, left) => {
    let user = await createUser(app);
    while (app.database.shardOf(user.id).name !== 'east') user = await createUser(app);
    const [main, east] = app.database.shards as [Shard, Shard];
    const send = (sent: string, change?: object) =>
      app.api(sent, `/admin/v1/users/${user.id}`, { bearer: app.adminKey, ...(change && { body: change }) });

    const commit = delayCommits();
    const first = newPhone();
    const earlierChange = send('PATCH', { phone: first });
    const decided = testSql('select from users where id = $1 and phone = $2', [user.id, first]);
    await expect.poll(() => east.everyone.query(decided)).toHaveLength(1);
    const laterChange = send(method, body);
    const reached = testSql(`
    select from pg_locks l where not granted and l.database = (select oid from pg_database where datname = current_database())
    union all select from pg_prepared_xacts where database = current_database() offset 1`);
    await expect.poll(() => main.everyone.query(reached)).toHaveLength(1);
    commit();
    expect([(await earlierChange).status, (await laterChange).status]).toEqual([200, method === 'PATCH' ? 200 : 204]);
    const phones = testSql(`select canonical from identities where user_id = $1 and type = 'phone'`, [user.id]);
    expect(await main.everyone.query(phones)).toEqual(left.map((canonical) => ({ canonical })));
  },
);

const deleteIdentity = directoryStatement<{ userId: string }>(
  'test_delete_identity',
  (p) => sql`delete from identities where user_id = ${p.userId}`,
);

test('a transaction over two servers ends with three round trips if the answers to its statements report writes', async () => {
  const { id } = users.get('west') as User;
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await app.database.spanningFor(id).transaction(async (tx) => {
      await tx.query(nameUser({ id }));
      await tx.query(deleteIdentity({ userId: id }));
    });
    const texts = sent.mock.calls.map(([query]) => {
      const { text = String(query) } = query as unknown as { text?: string };
      return text;
    });
    const ends = [
      'select pg_current_xact_id',
      'prepare transaction',
      'insert into transaction_outcomes',
      'commit prepared',
    ];
    const found = texts.flatMap((text) => ends.filter((each) => text.includes(each)));
    expect(found).toEqual(['prepare transaction', 'insert into transaction_outcomes', 'commit prepared']);
  } finally {
    sent.mockRestore();
  }
});
