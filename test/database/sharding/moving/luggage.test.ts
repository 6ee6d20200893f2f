import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../../src/contract/user.js';
import { createSecretKeys } from '../../../../src/lib/crypto/secret-keys.js';
import { dispatchMessages } from '../../../../src/messages/dispatch.js';
import { enqueueCode } from '../../../../src/messages/enqueue.js';
import { startShardedApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { moveUsers, remainsOfMoves } from '../../../support/moves.js';
import { createTestShards, type TestShards } from '../../../support/shards.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newPhone } from '../../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.js';

const secret = randomBytes(32).toString('hex');
const env = { LOGIN_LIMIT_PER_ADDRESS: '0', ALLOW_PRIVATE_NETWORK_TARGETS: 'true', SECRET_KEY: secret };

let shards: TestShards;
let receiver: WebhookReceiver;
let app: TestApp | undefined;
beforeAll(async () => {
  shards = await createTestShards(2);
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await app?.close();
  await shards.drop();
  await receiver.close();
});

/** Starts a service. Closing it keeps the databases. */
const start = () => startShardedApp({ ...shards, drop: async () => undefined }, env);

test('waiting jobs, messages and webhooks of moved users are sent once, from the new server', async () => {
  const first = await start();
  receiver.answer = () => 500;
  const body = { url: `${receiver.url}/hook`, events: ['user.*'] };
  expect((await first.api('POST', '/admin/v1/webhooks', { bearer: first.adminKey, body })).status).toBe(201);
  const endpoints = () =>
    Promise.all(first.database.shards.map(({ everyone }) => everyone.query(testSql('select from webhook_endpoints'))));
  await eventually('the endpoint on each server', async () =>
    (await endpoints()).every((rows) => rows.length === 1) ? true : undefined,
  );
  const users = new Map<string, User>();
  while (users.size < 2) {
    const user = await createUser(first, { phone: newPhone() });
    users.set(first.database.shardOf(user.id).name, user);
  }
  for (const { id } of users.values()) {
    await receiver.wait('/hook', `the failed delivery of ${id}`, ({ data }) => data.user_id === id);
    const path = `/admin/v1/users/${id}`;
    await first.api('PATCH', path, { bearer: first.adminKey, body: { name: 'A new name' } });
  }
  await eventually('that no sender has a queue', async () => {
    const leased = await Promise.all(
      first.database.shards.map(({ everyone }) =>
        everyone.query(
          testSql(`select from webhook_queues where lease is not null union all select from webhook_outbox`),
        ),
      ),
    );
    return leased.flat().length === 0 || undefined;
  });
  await first.close();

  // No instance runs: one message of each user is a job, and one is not dispatched.
  const database = await shards.open();
  const keys = createSecretKeys([secret]);
  const enqueue = ({ id, phone }: User, code: string) =>
    enqueueCode(database.user(id), keys, {
      ...{ userId: id, channel: 'sms', kind: 'code', recipient: phone ?? undefined, code, lifetime: 300 },
    });
  for (const user of users.values()) await enqueue(user, '111111');
  for (const { everyone } of database.shards) await dispatchMessages(everyone);
  for (const user of users.values()) await enqueue(user, '222222');
  for (const [server, { id }] of users) await moveUsers(shards, [id], server === 'main' ? 'east' : 'main');
  expect(await remainsOfMoves(database)).toEqual([]);
  for (const { name, everyone } of database.shards) {
    const [user] = [...users].flatMap(([former, each]) => (former === name ? [] : [each]));
    for (const [table, column] of [
      ['graphile_worker._private_jobs', `payload->>'user_id'`],
      ['undispatched_messages', 'user_id::text'],
      ['webhook_queues', 'user_id::text'],
    ]) {
      const text = `select ${column} as id from ${table} where ${column} = any ($1)`;
      const rows = await everyone.query(testSql(text, [[...users.values()].map(({ id }) => id)]));
      expect(rows).toEqual([{ id: user?.id }]);
    }
  }
  await database.close();

  receiver.answer = () => 204;
  const failed = receiver.received.length;
  const second = await start();
  app = second;
  for (const { id, phone } of users.values()) {
    const printed = () => second.printed.filter((line) => line.includes(phone ?? ''));
    await eventually(`both codes of ${id}`, async () => (printed().length >= 2 ? true : undefined));
    const received = () => receiver.received.slice(failed).filter(({ data }) => data.user_id === id);
    await eventually(`both webhooks of ${id}`, async () => (received().length >= 2 ? true : undefined));
    expect(received().map(({ type, data }) => [type, data.sequence])).toEqual([
      ['user.created', 1],
      ['user.updated', 2],
    ]);
    // Workers send messages in parallel, so they arrive in any order.
    expect(
      printed()
        .map((line) => /\b[12]{6}\b/.exec(line)?.[0])
        .sort(),
    ).toEqual(['111111', '222222']);
  }
});
