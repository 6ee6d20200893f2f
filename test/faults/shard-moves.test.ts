import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { bucketOf } from '../../src/database/sharding/bucket.js';
import { userTables } from '../../src/database/sharding/moving/tables.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, newEmail, signIn } from '../support/users.js';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let shards: TestShards;
let app: TestApp;
let people: { readonly user: User; readonly signedIn: Awaited<ReturnType<typeof signIn>> }[];
beforeAll(async () => {
  await buildService();
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
  people = [];
  for (let count = 0; count < 12; count += 1) {
    const user = await createUser(app, { email: newEmail() });
    people.push({ user, signedIn: await signIn(app, user) });
  }
}, BUILD_TIMEOUT);
afterAll(() => app.close());

/** Runs the mover in a process of its own. @returns its exit code, and the milliseconds of each stop */
async function move(to: string, fault: Readonly<Record<string, string>> = {}) {
  const servers = [...shards.databases].map(([name, { url }]) => [name, url]);
  const buckets = people.map(({ user }) => bucketOf(user.id));
  const child = spawn(process.execPath, [pathOf('test/support/fault-injection/mover.mjs')], {
    env: {
      ...{ DIST: pathOf('dist'), SERVERS: JSON.stringify(servers), TO: to, BUCKETS: JSON.stringify(buckets) },
      ...fault,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: string[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stops: output.join('').trim().split('\n').map(Number) };
}

/** The servers with rows of each user, and how many rows of each table there are in all. */
async function contents() {
  const places = new Map<string, Set<string>>();
  const counts: Record<string, number> = {};
  for (const { name: server, everyone } of app.database.shards) {
    for (const { name, column } of userTables) {
      const rows = await everyone.query(
        testSql<{ id: string }>(`select ${column}::text as id from ${name} where ${column} = any ($1::uuid[])`, [
          people.map(({ user }) => user.id),
        ]),
      );
      counts[name] = (counts[name] ?? 0) + rows.length;
      for (const { id } of rows) places.set(id, (places.get(id) ?? new Set()).add(server));
    }
  }
  return { places: people.map(({ user }) => [...(places.get(user.id) ?? [])]), counts };
}

/** The notifications of a person that were acknowledged, and those that were answered with 503: they may exist or not. */
interface Published {
  readonly acknowledged: number;
  readonly refused: number;
}

/** Publishes to every person again and again. @returns a function that stops it, with what each person should have */
function startWriters(): () => Promise<Published[]> {
  let isOver = false;
  const writers = people.map(async ({ user }) => {
    let [acknowledged, refused] = [0, 0];
    while (!isOver) {
      const body = { user_id: user.id, notification_type: 'payment', description: `Number ${acknowledged}` };
      const { status } = await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
      if (status === 201) acknowledged += 1;
      else if (status === 503) refused += 1;
      else throw new Error(`published with ${status}`);
    }
    return { acknowledged, refused };
  });
  return () => {
    isOver = true;
    return Promise.all(writers);
  };
}

/** Checks that nothing acknowledged is missing, and nothing is there twice. */
async function expectNotifications(before: readonly number[], published: readonly Published[]): Promise<void> {
  const after = await Promise.all(people.map(({ user }) => notificationsOf(user.id)));
  for (const [place, { acknowledged, refused }] of published.entries()) {
    const least = (before[place] ?? 0) + acknowledged;
    expect(after[place]).toBeGreaterThanOrEqual(least);
    expect(after[place]).toBeLessThanOrEqual(least + refused);
  }
}

async function notificationsOf(userId: string): Promise<number> {
  const rows = await app.database
    .shardOf(userId)
    .everyone.query(testSql('select from notifications where user_id = $1', [userId]));
  return rows.length;
}

test('users move while they are written to: no row is lost or doubled, and sessions stay as they are', async () => {
  const [first] = people;
  const revoked = first?.signedIn.session.token ?? '';
  const path = `/v1/tokens/${first?.signedIn.authentication.id}`;
  expect((await app.api('DELETE', path, { bearer: revoked })).status).toBe(200);
  const stop = startWriters();
  const { code, stops } = await move('east');
  const published = await stop();
  expect(code).toBe(0);
  console.log(`The writes of a bucket were stopped for at most ${Math.max(...stops).toFixed(0)} ms`);
  const { places } = await contents();
  expect(places).toEqual(people.map(() => ['east']));
  await expectNotifications([], published);
  expect((await app.api('POST', '/v1/sessions/verify', { bearer: revoked })).status).toBe(401);
  for (const { signedIn } of people.slice(1)) {
    expect((await app.api('POST', '/v1/sessions/verify', { bearer: signedIn.session.token })).status).toBe(200);
  }
});

for (const [step, killBefore, killAt, to] of [
  ['while it copies', 'insert into sessions', '1', 'west'],
  ['when it has stopped a bucket', 'update shard_moving set is_stopped', '2', 'east'],
  ['before the new server has the rows', 'insert into shard_luggage', '1', 'west'],
  ['before the map changes', 'with moved as', '2', 'east'],
  ['after the map has changed', 'update shard_map set version = greatest', '2', 'west'],
  ['before the new server opens a bucket', 'delete from shard_moving where bucket', '1', 'east'],
  ['while it deletes the former rows', 'delete from sessions', '40', 'west'],
] as const) {
  test(`a move that is killed ${step} is completed by the same command`, async () => {
    const before = await Promise.all(people.map(({ user }) => notificationsOf(user.id)));
    const stop = startWriters();
    expect((await move(to, { KILL_BEFORE: killBefore, KILL_AT: killAt })).code).toBe(null);
    expect((await move(to)).code).toBe(0);
    const published = await stop();
    const { places } = await contents();
    expect(places).toEqual(people.map(() => [to]));
    await expectNotifications(before, published);
  });
}
