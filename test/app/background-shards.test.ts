import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import { readMetricsOfAll, readQueueStateOfAll } from '../../src/database/sharding/state.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone, signIn, smsLogin } from '../support/users.js';

let shards: TestShards;
let app: TestApp;
/** One user of each server. */
const users = new Map<string, User>();

beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'sms' });
  while (users.size < 3) {
    const user = await createUser(app, { phone: newPhone() });
    users.set(app.database.shardOf(user.id).name, user);
  }
});
afterAll(() => app.close());

const userOn = (server: string): User => {
  const user = users.get(server);
  if (user === undefined) throw new Error(`no user is on the server ${server}`);
  return user;
};

/** Creates another user on this server. The creation of a user on a server that is down fails, and is repeated. */
async function newUserOn(server: string): Promise<User> {
  for (;;) {
    const user = await createUser(app, { phone: newPhone() }).catch(() => undefined);
    if (user !== undefined && app.database.shardOf(user.id).name === server) return user;
  }
}
const rowsOf = (user: User, text: string) =>
  app.database.shardOf(user.id).everyone.query<{ state: string }>(testSql(text, [user.id]));

/** Begins a login by SMS, and waits until the code was sent. */
async function requestCode(user: User): Promise<void> {
  const { status, body } = await app.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  expect(status).toBe(201);
  await eventually(`the code of ${user.id}`, async () =>
    (await rowsOf(user, `select state from outbox where user_id = $1 and kind = 'sms.code' and state = 'sent'`)).at(0),
  );
  expect(body.id).toBeDefined();
}

const publish = (user: User) =>
  app.api<{ id: string }>('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description: 'You were paid' },
  });

test('codes and notices are sent to the users of each server', async () => {
  for (const user of users.values()) {
    await requestCode(user);
    await app.api('PATCH', `/admin/v1/users/${user.id}`, {
      bearer: app.adminKey,
      body: { password: 'another battery of horses' },
    });
    await eventually(`the notice of ${user.id}`, async () =>
      (
        await rowsOf(
          user,
          `select state from outbox where user_id = $1 and kind = 'sms.password_changed' and state = 'sent'`,
        )
      ).at(0),
    );
    await app.api('PATCH', `/admin/v1/users/${user.id}`, {
      bearer: app.adminKey,
      body: { password: 'a battery of horses' },
    });
  }
});

test('streams get the notifications of users on each server, also while another server is down', async () => {
  const streams = new Map<string, Awaited<ReturnType<typeof openStream>>>();
  for (const [server, user] of users) {
    const { session } = await signIn(app, user);
    streams.set(server, await openStream(app.url, { bearer: session.token }));
  }
  const untilReceived = (server: string, id: string) =>
    eventually(`the notification ${id}`, async () => streams.get(server)?.text.includes(id) || undefined);
  for (const [server, user] of users) await untilReceived(server, (await publish(user)).body.id);
  await shards.stop('east');
  try {
    for (const server of ['main', 'west']) {
      await untilReceived(server, (await publish(userOn(server))).body.id);
      await requestCode(await newUserOn(server));
    }
    expect((await publish(userOn('east'))).status).toBe(503);
  } finally {
    await shards.start('east');
  }
  const { body } = await eventually('a publication on the server that is back', async () => {
    const answer = await publish(userOn('east'));
    return answer.status === 201 ? answer : undefined;
  });
  await untilReceived('east', body.id);
  await requestCode(await newUserOn('east'));
  for (const stream of streams.values()) stream.destroy();
});

test('jobs are counted on all servers that answer', async () => {
  const add = `select graphile_worker.add_job('test.unknown', run_at => now() + $2 * interval '1 hour') from generate_series(1, $1)`;
  for (const { everyone } of app.database.shards) {
    await everyone.query(testSql(add, [2, 1]));
    await everyone.query(testSql(add, [1, -1]));
  }
  const countsOf = async () => {
    const { jobs, oldest_job: oldest } = await readMetricsOfAll(app.database);
    const own = jobs.filter(({ task }) => task === 'test.unknown').map(({ state, count }) => `${state} ${count}`);
    return [own.sort(), oldest >= 3600];
  };
  expect(await countsOf()).toEqual([['due 3', 'waiting 6'], true]);
  const { due } = await readQueueStateOfAll(app.database);
  expect(due).toBeGreaterThanOrEqual(3);
  await shards.stop('east');
  try {
    expect(await countsOf()).toEqual([['due 2', 'waiting 4'], true]);
  } finally {
    await shards.start('east');
  }
});
