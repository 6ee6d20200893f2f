import { afterAll, beforeAll, expect, test } from 'vitest';
import { startShardedApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createTestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, login } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  app = await startShardedApp(await createTestShards(3), {
    LOGIN_LIMIT_PER_ADDRESS: '0',
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  });
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

test('the events of users on each server reach an endpoint, in the order of each user', async () => {
  const { status, body } = await app.api<{ id: string }>('POST', '/admin/v1/webhooks', {
    bearer: app.adminKey,
    body: { url: `${receiver.url}/hook`, events: ['user.*', 'login.*'] },
  });
  expect(status).toBe(201);
  await eventually('a copy of the endpoint on each server', async () => {
    const found = await Promise.all(
      app.database.shards.map(({ everyone }) =>
        everyone.query(testSql('select from webhook_endpoints where id = $1', [body.id])),
      ),
    );
    return found.every((rows) => rows.length === 1) || undefined;
  });
  const servers = new Set<string>();
  while (servers.size < 3) {
    const user = await createUser(app);
    servers.add(app.database.shardOf(user.id).name);
    await login(app, user);
    await receiver.wait(
      '/hook',
      `the login of ${user.id}`,
      ({ type, data }) => type === 'login.approved' && data.user_id === user.id,
    );
    const events = receiver.received.filter(({ data }) => data.user_id === user.id);
    expect(events.map(({ type, data }) => [type, data.sequence])).toEqual([
      ['user.created', 1],
      ['login.approved', 2],
    ]);
  }
  expect((await app.api('DELETE', `/admin/v1/webhooks/${body.id}`, { bearer: app.adminKey })).status).toBe(204);
  await eventually('no copy of the deleted endpoint', async () => {
    const found = await Promise.all(
      app.database.shards.map(({ everyone }) => everyone.query(testSql('select from webhook_endpoints'))),
    );
    return found.every((rows) => rows.length === 0) || undefined;
  });
});
