import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { moveUsers, remainsOfMoves, rowsOfUsers, startMover } from '../support/moves.js';
import { BUILD_TIMEOUT, buildService, startProcess } from '../support/process.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { createUser, newEmail, signIn } from '../support/users.js';

const secret = randomBytes(32).toString('hex');

let shards: TestShards;
let app: TestApp;
let people: { readonly user: User; readonly signedIn: Awaited<ReturnType<typeof signIn>> }[];
beforeAll(async () => {
  await buildService();
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { SECRET_KEY: secret });
  people = [];
  for (let count = 0; count < 4; count += 1) {
    const user = await createUser(app, { email: newEmail() });
    people.push({ user, signedIn: await signIn(app, user) });
  }
}, BUILD_TIMEOUT);
afterAll(() => app.close());

const idsOfPeople = () => people.map(({ user }) => user.id);
const startMove = (to: string, fault: Readonly<Record<string, string>> = {}) =>
  startMover(shards, idsOfPeople(), to, fault);

/** Moves all people in this process. */
const move = (to: string) => moveUsers(shards, idsOfPeople(), to);

/** Checks that each row of the people is on one server. */
async function expectAllOn(server: string): Promise<void> {
  const rows = await rowsOfUsers(app.database, idsOfPeople());
  expect(rows.users).toHaveLength(people.length);
  const others = Object.entries(rows).flatMap(([table, texts]) =>
    texts.filter((text) => !text.startsWith(`${server} `)).map((text) => `${table}: ${text}`),
  );
  expect(others).toEqual([]);
  expect(await remainsOfMoves(app.database)).toEqual([]);
}

const publish = (userId: string, url = app.url) =>
  fetch(`${url}/admin/v1/notifications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: userId, notification_type: 'payment', description: 'You were paid' }),
  });

const verify = async (token: string, url = app.url) =>
  (await fetch(`${url}/v1/sessions/verify`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status;

/** The notifications of a person that were acknowledged, and those that were answered with 503: they may exist or not. */
interface Published {
  readonly acknowledged: number;
  readonly refused: number;
}

/** Publishes to every person again and again. @returns a function that stops it, and gives what each person should have */
function startWriters(): () => Promise<Published[]> {
  let isOver = false;
  const writers = people.map(async ({ user }) => {
    let [acknowledged, refused] = [0, 0];
    while (!isOver) {
      const { status } = await publish(user.id);
      if (status === 201) acknowledged += 1;
      else if (status === 503) refused += 1;
      else throw new Error(`published with ${status}`);
      // The mover shares the processor.
      await wait(50);
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
  const after = await countNotifications();
  for (const [place, { acknowledged, refused }] of published.entries()) {
    const least = (before[place] ?? 0) + acknowledged;
    expect(after[place]).toBeGreaterThanOrEqual(least);
    expect(after[place]).toBeLessThanOrEqual(least + refused);
  }
}

async function countNotifications(): Promise<number[]> {
  const { notifications = [] } = await rowsOfUsers(app.database, idsOfPeople());
  return idsOfPeople().map((id) => notifications.filter((row) => row.includes(id)).length);
}

test('users move while their rows change: no row is lost or doubled, and sessions stay as they are', async () => {
  const [first, ...others] = people;
  const revoked = first?.signedIn.session.token ?? '';
  const path = `/v1/tokens/${first?.signedIn.authentication.id}`;
  expect((await app.api('DELETE', path, { bearer: revoked })).status).toBe(200);
  const stop = startWriters();
  const { code, stops } = await startMove('east', { TIMES: '{}' }).ended();
  const published = await stop();
  expect(code).toBe(0);
  console.log(`The writes of a bucket were stopped for at most ${Math.max(...stops).toFixed(0)} ms`);
  await expectAllOn('east');
  await expectNotifications(
    people.map(() => 0),
    published,
  );
  expect(await verify(revoked)).toBe(401);
  for (const { signedIn } of others) expect(await verify(signedIn.session.token)).toBe(200);
});

for (const [step, killBefore, killAt] of [
  ['while it copies', 'insert into sessions', '1'],
  ['when it has stopped a bucket', 'update shard_moving set is_stopped', '2'],
  ['before the new server has the rows', 'insert into shard_luggage', '1'],
  ['before the map changes', 'with moved as', '2'],
  ['after the map has changed', 'update shard_map set version = greatest', '2'],
  ['before the new server opens a bucket', 'delete from shard_moving where bucket', '1'],
  ['while it deletes the former rows', 'delete from sessions', '6'],
] as const) {
  test(`a move that is killed ${step} is completed by the same command`, async () => {
    const before = await countNotifications();
    const { users = [] } = await rowsOfUsers(app.database, idsOfPeople());
    const to = users[0]?.startsWith('east ') ? 'west' : 'east';
    const stop = startWriters();
    try {
      expect((await startMove(to, { KILL_BEFORE: killBefore, KILL_AT: killAt }).ended()).code).toBe(null);
      await move(to);
    } finally {
      await stop();
    }
    await expectAllOn(to);
    await expectNotifications(before, await stop());
  });
}

for (const [server, step, pauseBefore] of [
  ['west', 'that users leave', 'insert into sessions'],
  ['east', 'that gets users', 'insert into sessions'],
  ['main', 'with the directory', 'with moved as'],
] as const) {
  test(`a move fails while the server ${step} is away, and the same command completes it`, async () => {
    await move('west');
    const mover = startMove('east', { PAUSE_BEFORE: pauseBefore });
    await mover.paused();
    await shards.stop(server);
    mover.resume();
    expect((await mover.ended()).code).toBe(1);
    await shards.start(server);
    await move('east');
    await expectAllOn('east');
    for (const { user } of people) {
      await eventually('an answer after the move', async () =>
        (await publish(user.id)).status === 201 ? true : undefined,
      );
    }
  });
}

test('an instance that hangs during a move, and one that starts then, use the new map', async () => {
  await move('east');
  const [valid, ended] = people.slice(1).map(({ signedIn }) => signedIn);
  if (valid === undefined || ended === undefined) throw new Error('there are too few people');
  const cwd = await mkdtemp(join(tmpdir(), 'postern-moves-'));
  const env = { ...shards.env, PORT: '0', LOG_LEVEL: 'fatal', SECRET_KEY: secret, ADMIN_API_KEY: app.adminKey };
  const hanging = await startProcess({ cwd, env });
  try {
    for (const { session } of [valid, ended]) expect(await verify(session.token, hanging.url)).toBe(200);
    for (const { user } of people) expect((await publish(user.id, hanging.url)).status).toBe(201);
    process.kill(hanging.pid, 'SIGSTOP');
    const before = await countNotifications();
    const mover = startMove('west', { PAUSE_BEFORE: 'update shard_map set version = greatest' });
    await mover.paused();
    const starting = await app.another();
    mover.resume();
    for (const { user } of people) {
      await eventually('an answer of the new instance', async () =>
        (await publish(user.id, starting.url)).status === 201 ? true : undefined,
      );
    }
    expect((await mover.ended()).code).toBe(0);
    await starting.close();
    expect(
      (await app.api('DELETE', `/v1/tokens/${ended.authentication.id}`, { bearer: ended.session.token })).status,
    ).toBe(200);
    // These are the first requests that the instance reads when it continues.
    const statuses = [verify(ended.session.token, hanging.url), verify(valid.session.token, hanging.url)];
    const writes = people.map(async ({ user }) => (await publish(user.id, hanging.url)).status);
    process.kill(hanging.pid, 'SIGCONT');
    expect([401, 503]).toContain(await statuses[0]);
    expect([200, 503]).toContain(await statuses[1]);
    const published = await Promise.all(writes);
    for (const status of published) expect([201, 503]).toContain(status);
    await expectAllOn('west');
    await expectNotifications(
      before,
      published.map((status) => ({ acknowledged: status === 201 ? 2 : 1, refused: status === 201 ? 0 : 1 })),
    );
    await eventually('that the instance uses the new map', async () =>
      (await verify(valid.session.token, hanging.url)) === 200 ? true : undefined,
    );
    expect(await verify(ended.session.token, hanging.url)).toBe(401);
  } finally {
    await hanging.stop('SIGKILL');
    await rm(cwd, { recursive: true });
  }
});
