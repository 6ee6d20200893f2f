import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealTask } from '../../../src/audit/integrity/seal.js';
import { createServers } from '../../../src/database/connections/servers.js';
import type { Database, Shard } from '../../../src/database/database.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { migrateAll } from '../../../src/database/sharding/open.js';
import { relayEvents } from '../../../src/webhooks/relay.js';
import { eventually } from '../../support/eventually.js';
import { moveUsers, remainsOfMoves } from '../../support/moves.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { runCommand } from '../command.js';

let shards: TestShards;
let database: Database;
beforeAll(async () => {
  shards = await createTestShards(3);
  const [main, ...others] = [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) }));
  if (main === undefined) throw new Error('there is no directory');
  const quiet = { info: () => undefined, warn: () => undefined };
  await migrateAll({ target: main.target, shards: others, close: async () => undefined }, quiet);
  database = await shards.open();
});
afterAll(async () => {
  await database.close();
  await shards.drop();
});

const dayMs = 86_400_000;
const sealOn = (shard: Shard) => runMaintenanceOnce(shard, [sealTask(365 * dayMs, () => undefined, shard.name)]);

function newIdOn(shard: Shard): string {
  const id = randomUUID();
  return database.shardOf(id) === shard ? id : newIdOn(shard);
}

async function hasSealed({ everyone }: Shard): Promise<true | undefined> {
  return (await everyone.query(testSql('select from audit_days where hash is not null'))).length > 0 || undefined;
}

test('a user moves only after the former server has sealed the days that the new server has sealed, so no event counts as added', async () => {
  const [, east, west] = database.shards;
  if (east === undefined || west === undefined) throw new Error('there are not three servers');
  const userId = newIdOn(east);
  for (const { everyone } of [east, west]) {
    await everyone.query(
      testSql(
        `insert into events (user_id, id, type, actor, created_at)
         select $1, gen_random_uuid(), 'test.moved', 'user', date_trunc('day', db_now(), 'UTC') - interval '5 days'`,
        [everyone === east.everyone ? userId : randomUUID()],
      ),
    );
  }
  const sealOnce = async (shard: Shard) => {
    await sealOn(shard);
    return hasSealed(shard);
  };
  await eventually('the sealed day of the new server', () => sealOnce(west));
  const waiting: string[] = [];
  const moving = moveUsers(shards, [userId], 'west', { onWaiting: (server, day) => waiting.push(`${server} ${day}`) });
  await eventually('the wait', async () => waiting.length > 0 || undefined);
  expect(waiting).toEqual([expect.stringMatching(/^east \d{4}-\d\d-\d\d$/)]);
  await eventually('the sealed day of the former server', () => sealOnce(east));
  expect(await moving).toHaveLength(1);
  const moved = await west.everyone.query(testSql(`select from events where user_id = $1`, [userId]));
  expect(moved).toHaveLength(1);
  const { code, stdout } = await runCommand(['audit', 'verify'], { ...shards.env, SECRET_KEY: 's'.repeat(32) });
  expect(stdout).not.toMatch(/was (?:added|removed)/);
  expect(code).toBe(0);
});

test('each server seals its days and names itself in the webhook event, and audit verify uses its own anchors and accepts events that moved', async () => {
  for (const { everyone } of database.shards) {
    await everyone.query(
      testSql(`insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, secret,
                                              created_at, updated_at)
        select gen_random_uuid(), '', '', array['audit.sealed'], '', 'thin', false, '', db_now(), db_now()`),
    );
    await everyone.query(
      testSql(`insert into events (user_id, id, type, actor, created_at)
        select gen_random_uuid(), gen_random_uuid(), 'test', 'user', date_trunc('day', db_now(), 'UTC') - interval '2 days'`),
    );
  }
  const sealed = await Promise.all(
    database.shards.map((shard) =>
      eventually('a sealed event', async () => {
        await sealOn(shard);
        await relayEvents(shard);
        const [event] = await shard.everyone.query(
          testSql<{ data: { day: string; hash: string; server: string }; sequence: number }>(
            `select data, sequence from webhook_events where type = 'audit.sealed'`,
          ),
        );
        return event;
      }),
    ),
  );
  expect(sealed.map(({ data, sequence }) => [data.server, sequence])).toEqual([
    ['main', 1],
    ['east', 1],
    ['west', 1],
  ]);

  const verify = (...anchors: string[]) =>
    runCommand(['audit', 'verify', ...anchors.flatMap((anchor) => ['--anchor', anchor])], {
      ...shards.env,
      SECRET_KEY: 's'.repeat(32),
    });
  const anchors = sealed.map(({ data: { server, day, hash } }) => `${server}:${day}=${hash}`);
  const intact = await verify(...anchors);
  expect(intact).toMatchObject({ code: 0, stderr: '' });
  for (const anchor of anchors) expect(intact.stdout).toContain(`\n${anchor}\n`);
  const [main = '', east = ''] = anchors;
  // An anchor without a server belongs to the server `main`, because the anchor may be older than SHARDS.
  expect((await verify(main.replace('main:', ''))).code).toBe(0);
  expect(await verify(east.replace('east:', ''))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/The server main:\n\S+: the hash differs from the one that you have stored/),
  });
  expect(await verify(east.replace('east:', 'north:'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SHARDS does not name the server north of --anchor.'),
  });

  // A move copies the events of a user to another server, and deletes them on the former one.
  const [from, to] = database.shards.slice(1);
  if (from === undefined || to === undefined) throw new Error('there are not three servers');
  const [{ event } = { event: '' }] = await from.everyone.query(
    testSql<{ event: string }>(
      `with gone as (delete from events where type = 'test' returning *) select to_jsonb(gone)::text as event from gone`,
    ),
  );
  const { id } = JSON.parse(event) as { id: string };
  await to.everyone.query(testSql('insert into events select * from jsonb_populate_record(null::events, $1)', [event]));
  expect(await verify(...anchors)).toMatchObject({ code: 0, stderr: '' });
  await to.everyone.query(testSql(`update events set actor = 'system' where id = $1`, [id]));
  const changed = await verify(...anchors);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(new RegExp(`The server east:\\n\\S+: the event ${id} was removed\\n`));
  expect(changed.stdout).toMatch(new RegExp(`The server west:\\n\\S+: the event ${id} was added\\n`));
});

test('a move that is interrupted while it waits for hashes ends, and leaves nothing', async () => {
  const [, east, west] = database.shards;
  if (east === undefined || west === undefined) throw new Error('there are not three servers');
  const userId = newIdOn(east);
  await east.everyone.query(
    testSql(
      `insert into events (user_id, id, type, actor, created_at)
       values ($1, gen_random_uuid(), 'test.stays', 'user', date_trunc('day', db_now(), 'UTC') - interval '1 hour')`,
      [userId],
    ),
  );
  const begin = `insert into audit_days (day, closing)
                 values ((date_trunc('day', db_now(), 'UTC') - interval '1 hour')::date, pg_current_xact_id())`;
  await west.everyone.query(testSql(begin));
  const stopping = new AbortController();
  const moved = await moveUsers(shards, [userId], 'west', {
    signal: stopping.signal,
    onWaiting: () => setImmediate(() => stopping.abort()),
  });
  expect(moved).toEqual([]);
  expect(await remainsOfMoves(database)).toEqual([]);
});
