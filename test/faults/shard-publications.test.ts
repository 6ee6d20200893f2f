import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { createServers } from '../../src/database/connections/servers.js';
import { createServer, type Server } from '../../src/database/server.js';
import { recover } from '../../src/database/sharding/recovery.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { type EventStream, openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { startWebPushService, type WebPushFake } from '../support/push-fakes/web-push.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, signIn } from '../support/users.js';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let shards: TestShards;
let push: WebPushFake;
let app: TestApp;
/** The servers as another instance uses them for recovery. */
let servers: ReadonlyMap<string, Server>;
/** One user of each server, with a stream and a browser. */
const users = new Map<string, { readonly user: User; readonly stream: EventStream; readonly pushPath: string }>();

beforeAll(async () => {
  await buildService();
  [shards, push] = await Promise.all([createTestShards(3), startWebPushService()]);
  app = await startShardedApp(shards, { ...push.env, LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none' });
  while (users.size < 3) {
    const user = await createUser(app);
    const { name } = app.database.shardOf(user.id);
    if (users.has(name)) continue;
    const { session } = await signIn(app, user);
    const { subscription, path } = push.subscribe();
    await app.api('POST', '/v1/devices/tokens', { bearer: session.token, body: { type: 'web', token: subscription } });
    users.set(name, { user, stream: await openStream(app.url, { bearer: session.token }), pushPath: path });
  }
  // The first start of a new installation leads to this version.
  const map = { version: () => 2, onRefused: () => undefined };
  servers = new Map(
    [...shards.databases].map(([name, { url }]) => [
      name,
      createServer({ target: createServers(url), size: 2, onConnectionError: () => undefined }, map),
    ]),
  );
}, BUILD_TIMEOUT);
afterAll(async () => {
  for (const { stream } of users.values()) stream.destroy();
  for (const server of servers.values()) await server.close();
  await app.close();
  await push.close();
});

/** Publishes to all users in a process of its own. Gives the signal that ended it, when its connections have ended. */
async function publish(text: string, killBefore: string, killAt: number): Promise<string | null> {
  const child = spawn(process.execPath, [pathOf('test/support/fault-injection/distributed-publisher.mjs')], {
    env: {
      ...{ DIST: pathOf('dist'), MAIN: shards.env.DATABASE_URL, SHARDS: shards.env.SHARDS, TEXT: text },
      ...{
        USERS: [...users.values()].map(({ user }) => user.id).join(),
        KILL_BEFORE: killBefore,
        KILL_AT: `${killAt}`,
      },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: Buffer[] = [];
  child.stdout?.on('data', (data: Buffer) => output.push(data));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  // PostgreSQL may still execute what it was sent.
  const pids = Buffer.concat(output).toString().trim().split('\n');
  const selectRunning = testSql('select from pg_stat_activity where pid = any ($1::int[])', [pids]);
  await expect.poll(() => app.database.everyone.query(selectRunning)).toEqual([]);
  return signal;
}

/** The servers whose user has the notification, and how many prepared transactions are left. */
async function stateOf(text: string): Promise<{ holders: string[]; prepared: number }> {
  const holders: string[] = [];
  let prepared = 0;
  for (const { name, everyone } of app.database.shards) {
    const rows = await everyone.query(testSql('select from notifications where description = $1', [text]));
    holders.push(...rows.map(() => name));
    const left = await everyone.query(testSql('select from pg_prepared_xacts where database = current_database()'));
    prepared += left.length;
  }
  return { holders, prepared };
}

const nobody = { holders: [], prepared: 0 };
const all = { holders: ['main', 'east', 'west'], prepared: 0 };

test('a publication whose process is killed at any step reaches all users or none, and all servers continue', async () => {
  const steps = [
    ['before the first part is prepared', 'prepare transaction', 1, nobody],
    ['before the last part is prepared', 'prepare transaction', 2, nobody],
    ['after all parts are prepared, before the decision', 'insert into transaction_outcomes', 1, nobody],
    ['after the decision', 'commit prepared', 1, all],
    ['before the last part is committed', 'commit prepared', 2, all],
  ] as const;
  for (const [text, killBefore, killAt, result] of steps) {
    expect(await publish(text, killBefore, killAt)).toBe('SIGKILL');
    await recover(servers, 0);
    expect([text, await stateOf(text)]).toEqual([text, result]);
  }
  const last = 'not killed';
  expect(await publish(last, 'nothing', 1)).toBeNull();
  expect(await stateOf(last)).toEqual(all);
  const expected = [...steps.flatMap(([text, , , result]) => (result === all ? [text] : [])), last];
  for (const [server, { stream, pushPath }] of users) {
    for (const text of expected) {
      await eventually(`the stream of ${server}: ${text}`, async () => stream.text.includes(text) || undefined);
      await eventually(
        `the push of ${server}: ${text}`,
        async () =>
          push.received.some(({ to, content }) => to === pushPath && JSON.stringify(content).includes(text)) ||
          undefined,
      );
    }
    for (const [text, , , result] of steps) if (result === nobody) expect(stream.text).not.toContain(text);
  }
  expect(push.received).toHaveLength(expected.length * users.size);
});
